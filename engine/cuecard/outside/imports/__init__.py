"""Prompt files of other tools as agents: `reading.py` is the door; one file per format and per template language."""
