"""Prompt files of other tools as agents: `reading.py` is the entry point; one file per format and template language."""
