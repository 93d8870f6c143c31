"""Checks that need more than one file, or the compiled template: values in, problems out."""
