"""Counts with their nouns: `1 section`, `2 sections`."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
