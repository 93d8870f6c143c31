"""The gate that reads an assembled section.

Templates have marked the data in it (`marks.py`). The gate looks at the whole section as a reader will see it, so that
neither a value alone, nor two adjacent values, nor a value and an author's text can form what only authors may write:
an element of the prompt, a heading, a separator, the boundary. The author's text is never changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from cuecard.records import dataclass
from cuecard.template.guards.escaping import ANGLE, TagNames, has_look_alike, in_name
from cuecard.template.guards.fences import fence_edits
from cuecard.template.guards.layout import BREAK, LayoutGuard, underlines
from cuecard.template.guards.marks import CLOSE, DataSpans, TextEdit, data_within, edited, has_marks, marked, read_marks

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

_LESS = re.compile("<")


def are_quiet(plain: str, spans: DataSpans) -> bool:
    """Whether there is nothing to do: no angle bracket in data, and no open one of an author's before data."""
    if has_look_alike(plain):
        return False
    at = plain.find("<")
    while at >= 0:
        place = spans.behind(at)
        if place == len(spans):
            break
        closed = plain.find(">", at, spans.starts[place])  # nowhere if the bracket is in data itself
        if closed < 0:
            return False
        at = plain.find("<", closed)
    return True


def tag_edits(
    plain: str, spans: DataSpans, names: Collection[str], mode: Literal["text", "names"]
) -> Iterator[TextEdit]:
    """An edit for each angle bracket that data must not write.

    In mode `text`, that is every `<` of data; a look-alike, and in mode `names` every angle bracket, only if it would
    open or close an element of the prompt, or begin a comment that it does not end. An author's angle bracket counts if
    the name after it is data.
    """
    angles = [*(ANGLE if has_look_alike(plain) else _LESS).finditer(plain)]
    own, ends, place = TagNames.of(names), _Ends(plain), 0
    for number, angle in enumerate(angles):
        at = angle.start()
        place = bisect_right(spans.ends, at, place)
        if place == len(spans):
            return
        start, end = spans.starts[place], spans.ends[place]
        if start <= at and mode == "text" and angle[0] == "<":
            yield TextEdit(at, 1, "&lt;", "angle_brackets_escaped")
            continue
        beyond = angles[number + 1].start() if number + 1 < len(angles) else len(plain)
        if start <= at:
            cut_off = beyond == len(plain) == spans[-1].end
            is_hostile = ends.swallow(at, end) or own.open(plain[at + 1 : beyond], cut_off=cut_off)
        else:
            is_hostile = start < beyond and _completed(plain, at + 1, start, beyond, own)
        if is_hostile:
            yield TextEdit(at, 1, "&lt;", "angle_brackets_escaped" if angle[0] == "<" else "look_alikes_escaped")


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


_ROLE_MARKER = re.compile(
    r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|^\s{0,4}(?:Human|Assistant|System|User|Developer):", re.MULTILINE
)
"""What some models read as a change of speaker. It is left in place (a text may quote it) and counted."""

_ROLE_SIGNS = ("<|", "INST]", "SYS>>", "Human:", "Assistant:", "System:", "User:", "Developer:")
"""Signs that every role marker contains: searching for them takes a fraction of the time."""

_NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class PromptGate:
    """What data in a prompt must not form.

    Attributes:
        names: every element in the prompt, including those of its tools and of the engine's own words.
        words: only those of the engine's own words, such as the element around changes mid-conversation.
        escaping: whether every `<` of data is escaped, or only one that would open or close one of these elements.
        layout: the headings, separators and the boundary of a list of sections; None for an XML core.
        fences: whether code fences matter, as in Markdown.
    """

    names: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    escaping: Literal["text", "names"] = "text"
    layout: LayoutGuard | None = None
    fences: bool = False

    def admit(self, text: str, own: LayoutGuard | None = None, *, raw: bool = False) -> tuple[str, Mapping[str, int]]:
        """The text without marks, and how often each kind of hostile text was neutralised. Takes linear time.

        Args:
            text: a rendered section, with data between marks.
            own: marks of this section only, such as the beginning of each entry of its list.
            raw: whether the author allows the markup of data; layout marks and the engine's own words are neutralised
                all the same.
        """
        if not has_marks(text):
            return text, _NOTHING
        plain, spans = read_marks(text)
        if not spans:
            return plain, _NOTHING
        edits: list[TextEdit] = []
        if not are_quiet(plain, spans):
            edits += tag_edits(plain, spans, *((self.words, "names") if raw else (self.names, self.escaping)))
        if self.layout:
            edits += _layout_edits(plain, spans, self.layout)
        if own:
            edits += _layout_edits(plain, spans, own)
        if self.fences:
            edits += fence_edits(plain, spans, html=not raw and self.escaping == "names")
        return edited(plain, edits), _counts(plain, spans, edits)

    def quoted(self, text: str) -> str:
        """Data in a message of the engine itself: it cannot pass for a part of the prompt, and code stays readable."""
        return replace(self, escaping="names").admit(marked(text))[0]


def report(gate: PromptGate, counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The counts of several texts combined, with a zero for everything that was looked for but not found."""
    kinds = ["angle_brackets_escaped", "look_alikes_escaped", "role_markers"]
    kinds += ["layout_marks"] if gate.layout else []
    kinds += ["code_fences"] if gate.fences else []
    total = dict.fromkeys(kinds, 0)
    for each in counts:
        for kind, number in each.items():
            total[kind] = total.get(kind, 0) + number
    return total


def _counts(plain: str, spans: DataSpans, edits: Sequence[TextEdit]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for edit in set(edits) if edits else ():
        counts[edit.kind] = counts.get(edit.kind, 0) + 1
    if "&lt;" in plain and (printed := _printed(plain, spans)):
        counts["angle_brackets_escaped"] = counts.get("angle_brackets_escaped", 0) + printed
    if any(sign in plain for sign in _ROLE_SIGNS) and (markers := _role_markers(plain, spans)):
        counts["role_markers"] = markers
    return counts


def _printed(plain: str, spans: DataSpans) -> int:
    """The number of angle brackets that `{{x}}` has escaped in data."""
    each = zip(spans.starts, spans.ends, spans.html, strict=True)
    return CLOSE.join([plain[start:end] for start, end, html in each if html]).count("&lt;")


def _role_markers(plain: str, spans: DataSpans) -> int:
    """The number of role markers in data; a value that is printed twice counts once."""
    found: dict[int, int] = {}
    for marker in _ROLE_MARKER.finditer(plain):
        place = spans.behind(marker.start())
        if place < len(spans) and spans[place].start < marker.end():
            found[place] = found.get(place, 0) + 1
    values = {plain[spans[place].start : spans[place].end]: number for place, number in found.items()}
    return sum(values.values())


def _layout_edits(plain: str, spans: DataSpans, guard: LayoutGuard) -> Iterator[TextEdit]:
    """A backslash before each line, or within each marker, that consists of data at least in part."""
    if guard.lines and guard.may_begin(plain):
        for line in guard.lines.finditer(plain):
            if data_within(spans, _line_break(plain, line), _line_end(line)):
                yield TextEdit(line.start(2), 0, "\\", "layout_marks")
    yield from _underline_edits(plain, spans, guard)
    if guard.markers:
        for marker in guard.markers.finditer(plain):
            if data_within(spans, marker.start(), marker.end("mark")):
                yield TextEdit(marker.end(), 0, "\\", "layout_marks")
    if guard.cut_off and spans[-1].end == len(plain) and guard.cut_off.search(plain[-guard.longest :]):
        yield TextEdit(len(plain), 0, "\\", "layout_marks")


def _underline_edits(plain: str, spans: DataSpans, guard: LayoutGuard) -> Iterator[TextEdit]:
    """A backslash that keeps a line from turning the one above into a heading."""
    for begin, place, close, end in underlines(plain, guard):
        if data_within(spans, begin, close):
            yield TextEdit(place, 0, "\\", "layout_marks")
        elif behind := data_within(spans, close, end):
            # The signs are the author's, such as the bullet of an entry, and the data after them is empty.
            yield TextEdit(max(close, behind.start), 0, "\\", "layout_marks")


def _line_break(plain: str, line: re.Match[str]) -> int:
    """The place of the line break before a line; the beginning of the text if there is none."""
    before = plain[max(line.start(1) - 1, 0) : line.start(2)]
    breaks = [found.start() for found in BREAK.finditer(before)]
    return line.start(2) - len(before) + (breaks[-1] if breaks else 0)


def _line_end(line: re.Match[str]) -> int:
    """The end of what makes it a mark: the mark itself, or the space or line break after it."""
    return max(line.end(2), *(line.end(name) for name in line.re.groupindex), 0)
