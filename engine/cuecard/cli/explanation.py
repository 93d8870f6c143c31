"""The explanation of a search, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.catalogue.cut import GAP
from cuecard.catalogue.explanation import Explanation, Ranked, WordSeen
from cuecard.errors import visible
from cuecard.model import ToolCard

_INDENT = " " * 6


def explanation_lines(found: Explanation, tools: Mapping[str, ToolCard]) -> Iterator[str]:
    """The words of the query, the returned tools with the reasons for each, and the tools left out."""
    if found.words:
        yield "words: " + ", ".join(map(_word, found.words))
    returned = [each for each in found.ranked if each.returned]
    for each in returned:
        yield _head(each, tools)
        yield from _reasons(each)
    if rest := found.ranked[len(returned) :]:
        yield f"---- {_end(found)}"
        yield from (_head(each, tools) for each in rest)


def _word(seen: WordSeen) -> str:
    known = f"{seen.tools} {'tool' if seen.tools == 1 else 'tools'}" if seen.tools else "no tool"
    taken = f", read as {', '.join(seen.taken_for)}" if seen.taken_for else ""
    return f"{visible(seen.word)} ({known}{taken})"


def _head(each: Ranked, tools: Mapping[str, ToolCard]) -> str:
    return visible(f"{each.score:.2f}  {each.tool}  {' '.join(tools[each.tool].description.split())}".rstrip())


def _reasons(each: Ranked) -> Iterator[str]:
    if each.reasons.nearest:
        yield f'{_INDENT}nearest: "{visible(" ".join(each.reasons.nearest.split()))}" ({each.reasons.nearness:.2f})'
    for match in each.reasons.matches:
        yield f"{_INDENT}{match.part:4.0%} {visible(match.word)}: {', '.join(match.fields)}"


def _end(found: Explanation) -> str:
    match found.end:
        case "confidence":
            return f"nothing is returned: the confidence is {found.confidence:.2f}, but {found.needed:g} is required"
        case "cut":
            bar = found.cut * found.confidence
            return f"cut at {bar:.2f}, {found.cut:g} of the best score: the hits below are not returned"
        case "gap":
            return f"gap: sure answer, and the next hit scores less than {GAP:g} of the last: the rest is not returned"
        case _:
            return f"limit of {found.limit}: the hits below are not returned"
