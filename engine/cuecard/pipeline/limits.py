"""Cuts a section at whole lines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import accumulate

from cuecard.agent import Section
from cuecard.model import CountTokens, Cut
from cuecard.model.prompt import most_tokens
from cuecard.pipeline.fit import is_within, lines_within
from cuecard.template.markup.tags import skipped, tags


def within_budget(
    section: Section, body: str, names: Collection[str], count: CountTokens
) -> tuple[str, tuple[Cut, ...]]:
    """As many whole lines of a section's body as its `budget` allows, and what was cut.

    Elements with these names that are open at the cut are closed, so that they do not swallow what follows.
    """
    budget = section.spec.budget
    if budget is None or is_within(budget, most_tokens(body)) or is_within(budget, count(body)):
        return body, ()
    tokens = count(body)
    ends, end = _ends(body), "\n" if body.endswith("\n") else ""

    def cut(number: int) -> str:
        text = body[: ends[number]].rstrip()
        closing = _closing(text, names)
        return f"{text}\n{closing}{end}" if closing else text

    kept = cut(lines_within(budget, len(ends) - 1, lambda number: count(cut(number))))
    return kept, (Cut(section.id, f"budget: {budget} tokens", tokens - count(kept)),)


def tokens_around(text: str, mark: str, names: Collection[str], count: CountTokens) -> int:
    """The tokens that a section needs beside what replaces a mark in it, if it is cut directly after that."""
    start = text.partition(mark)[0]
    closing = _closing(start, names)
    return count(f"{start}{closing}\n" if closing and text.endswith("\n") else start + closing)


def _ends(body: str) -> list[int]:
    """Where the body may be cut: at line ends, but not within a tag, comment or CDATA."""
    inside = sorted([*skipped(body), *((tag.start, tag.end) for tag in tags(body))])
    ends = accumulate(map(len, body.splitlines(keepends=True)), initial=0)
    return [end for end in ends if not _within(end, inside)]


def _within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (offset, 0)) - 1
    return index >= 0 and spans[index][1] > offset


def balanced(text: str, names: Collection[str]) -> str:
    """The text with closing tags for elements with these names that are open at its end."""
    return text + _closing(text, names)


def _closing(text: str, names: Collection[str]) -> str:
    is_open: list[str] = []
    for tag in tags(text):
        if tag.name in names and tag.kind == "open":
            is_open.append(tag.name)
        elif tag.kind == "close" and tag.name in is_open:
            del is_open[len(is_open) - 1 - is_open[::-1].index(tag.name) :]
    return "\n".join(f"</{name}>" for name in reversed(is_open))
