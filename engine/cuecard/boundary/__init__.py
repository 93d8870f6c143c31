"""Validates the arguments of public functions once: wrong values raise one `InputError` with all problems.

Each function is called first thing at an entry point (`Engine`, a watcher, an adapter), and returns its arguments, with
lists converted into tuples. Nothing behind the entry points checks again.
"""
