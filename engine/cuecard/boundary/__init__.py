"""What enters by a public function is checked here, once: wrong values leave as one `InputError` with all problems.

Each function is called first thing at a door (`Engine`, a watcher, an adapter), and gives back what it was given, lists
as the tuples that are meant. Behind the doors nobody checks again.
"""
