"""The edits that keep data from opening or closing an element of the prompt."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from cuecard.template.guards.edits import Edit
from cuecard.template.guards.guard import ANGLE, TagNames, in_name
from cuecard.template.guards.marks import Span

_NAME_BEFORE = re.compile(r"[\s/\\]*(?P<name>[\w.:-]*)")
"""An author's text after an angle bracket, as far as the name of an element may continue."""

_ENDS = [
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<!\[CDATA\["), re.compile("]]>")),
    (re.compile("<![a-z]", re.IGNORECASE), re.compile(">")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|\Z)", re.IGNORECASE),
        re.compile("</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
]
"""The beginnings and ends of parts that are not read as text: CommonMark's HTML blocks that no blank line ends."""

_FENCE = re.compile(r"[\r\n][ ]{0,3}(?:```|~~~)")

_MAY_BEGIN = frozenset("!?spt")


def are_quiet(plain: str, spans: Sequence[Span]) -> bool:
    """Whether there is nothing to do: no angle bracket in data, and no open one of an author's before data."""
    if not plain.isascii():
        return False
    before = 0
    for start, end, _ in spans:
        if plain.find("<", start, end) >= 0 or plain.rfind("<", before, start) > plain.rfind(">", before, start):
            return False
        before = start
    return True


def tag_edits(
    plain: str, spans: Sequence[Span], names: Collection[str], mode: Literal["text", "names"]
) -> Iterator[Edit]:
    """An edit for each angle bracket that data must not write.

    In mode `text`, that is every `<` of data; a look-alike, and in mode `names` every angle bracket, only if it would
    open or close an element of the prompt, or begin a comment that it does not end. An author's angle bracket counts if
    the name after it is data.
    """
    angles = list(ANGLE.finditer(plain)) if "<" in plain or not plain.isascii() else []
    own, ends, place = TagNames.of(names), _Ends(plain), 0
    for number, angle in enumerate(angles):
        at = angle.start()
        while place < len(spans) and spans[place].end <= at:
            place += 1
        if place == len(spans):
            return
        span = spans[place]
        beyond = angles[number + 1].start() if number + 1 < len(angles) else len(plain)
        if span.start <= at:
            cut_off = beyond == len(plain) == spans[-1].end
            is_tag = (mode == "text" and angle[0] == "<") or ends.swallow(at, span.end)
            is_hostile = is_tag or own.open(plain[at + 1 : beyond], cut_off=cut_off)
        else:
            is_hostile = span.start < beyond and _completed(plain, at + 1, span.start, beyond, own)
        if is_hostile:
            yield Edit(at, 1, "&lt;", "angle_brackets_escaped" if angle[0] == "<" else "look_alikes_escaped")


def _completed(plain: str, start: int, data: int, end: int, names: TagNames) -> bool:
    """Whether data completes the name after an author's angle bracket so that it is one of the prompt's elements."""
    before = _NAME_BEFORE.fullmatch(plain, start, data)
    if before is None or (before["name"] and not in_name(plain[data])):
        return False
    return names.open(plain[start:end])


class _Ends:
    """The ends of comments and the like, each searched for once."""

    def __init__(self, plain: str) -> None:
        self._plain, self._found = plain, [-1] * len(_ENDS)
        self._fences = [fence.start() for fence in _FENCE.finditer(plain)]

    def swallow(self, at: int, end: int) -> bool:
        """Whether something begins here that does not end before `end`, or that hides a code fence."""
        if self._plain[at + 1 : at + 2].lower() not in _MAY_BEGIN:
            return False
        for kind, (begins, ends) in enumerate(_ENDS):
            if begun := begins.match(self._plain, at):
                if self._found[kind] < begun.end():
                    found = ends.search(self._plain, begun.end())
                    self._found[kind] = found.end() if found else len(self._plain) + 1
                ends_at = self._found[kind]
                return ends_at > end or bisect_left(self._fences, at) < bisect_left(self._fences, ends_at)
        return False
