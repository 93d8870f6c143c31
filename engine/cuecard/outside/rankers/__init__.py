"""Rankers that need the outside world: packages with weights, models in folders, functions of the host."""
