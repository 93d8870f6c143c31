"""Values stay values in a Markdown layout: no value can look like a heading, a separator or the boundary marker.

The counterpart of `guard.py`, which keeps values from looking like elements of an XML core.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cuecard.errors import Problem, SpecError

_BREAKS = "\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
"""What some reader takes for the end of a line."""

_START = f"(?:(?<=[{_BREAKS}])|(?<![\\s\\S]))"
_INDENT = f"(?:(?![{_BREAKS}])\\s){{0,3}}"
"""Up to three blanks: Markdown takes a line with more of them for code."""

_END = f"(?=(?:(?![{_BREAKS}])\\s)*(?:[{_BREAKS}]|(?![\\s\\S])))"


@dataclass(frozen=True, slots=True)
class LayoutGuard:
    """The marks of a layout, ready to be looked for. Make it with `layout_guard`."""

    lines: re.Pattern[str] | None
    markers: re.Pattern[str] | None
    cores: tuple[str, ...]


def layout_guard(headings: Iterable[str] = (), lines: Iterable[str] = (), markers: Iterable[str] = ()) -> LayoutGuard:
    """What to keep out of values.

    Args:
        headings: what a heading's line begins with, such as `## `.
        lines: lines that stand alone, such as the `---` of a separator; of a sign that is repeated, more of it counts.
        markers: texts that stand anywhere, such as the marker of the boundary, of two characters at least. Line breaks
            and blanks around any of the three do not matter, and neither does an empty one.

    Raises:
        SpecError: for a mark with a backslash or a line break in it, or a marker of one character, which no backslash
            could break (`layout-mark`).
    """
    starts, alone, inside = (tuple(filter(None, map(str.strip, marks))) for marks in (headings, lines, markers))
    wrong = [mark for mark in (*starts, *alone, *inside) if "\\" in mark or re.search(f"[{_BREAKS}]", mark)]
    wrong += [mark for mark in inside if len(mark) == 1]
    if wrong:
        hint = "a marker has two characters or more; no mark has a backslash or a line break"
        raise SpecError(Problem("layout-mark", f"{mark!r} cannot be kept out of values", hint) for mark in wrong)
    line = [f"{re.escape(mark)}(?=\\s|(?![\\s\\S]))" for mark in starts]
    line += [f"{_repeated(mark)}{_END}" for mark in alone]
    return LayoutGuard(
        re.compile(f"{_START}({_INDENT})({'|'.join(line)})") if line else None,
        re.compile(f"(?={'|'.join(map(re.escape, inside))})(.)", re.IGNORECASE) if inside else None,
        tuple(mark.casefold() for mark in inside),
    )


def guard_layout(text: str, guard: LayoutGuard) -> tuple[str, int]:
    """The text with a backslash in every mark, and how many there were.

    A heading's or separator's line gets it in front, as Markdown has it; a marker behind its first character. A text
    that ends within a marker counts, so that two values cannot form one together. Nothing changes the second time.

    Headings and separators are looked for in this text alone: what shares a line with other text, an author's or
    another value, is not seen together with it.
    """
    count = ended = lined = 0
    if guard.markers:
        text, count = guard.markers.subn(r"\1\\", text)
        if _ends_within(text, guard.cores):
            text, ended = text + "\\", 1
    if guard.lines:
        text, lined = guard.lines.subn(r"\1\\\2", text)
    return text, count + ended + lined


def _repeated(mark: str) -> str:
    return f"{re.escape(mark)}{re.escape(mark[0])}*" if len(set(mark)) == 1 else re.escape(mark)


def _ends_within(text: str, cores: Iterable[str]) -> bool:
    return any(text[-length:].casefold() == core[:length] for core in cores for length in range(1, len(core)) if text)
