"""A counter for each encoding that all engines of these tests share: what many of them say is counted once."""

from functools import cache

from cuecard.files.tokens import bundled_counter

counter = cache(bundled_counter)
