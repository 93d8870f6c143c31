"""Rankings that touch the world: packages with weights, models in folders, functions of the host's."""
