"""Text helpers, and what all helpers share."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cuecard.model import Json
from cuecard.model.json_values import texts_in
from cuecard.template.guards.escaping import TrustedText
from cuecard.template.guards.marks import CLOSE, HTML, OPEN, AuthorData, stripped, unmarked
from cuecard.template.guards.marks import sliced as cut
from cuecard.template.runtime.values import WrongValueError, text_of

MOST = 10_000_000
"""The maximum length of a helper's result in characters."""


def text(value: Json) -> str:
    """A value as text. A missing value is an empty text; a trusted text stays trusted.

    Raises:
        WrongValueError: for a list or a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        raise WrongValueError("takes a text, not a list", "convert it: `(join value)` or `(json value)`")
    if isinstance(value, Mapping):
        raise WrongValueError("takes a text, not an object", "convert it: `(json value)`")
    return text_of(value)


def whole(value: Json, name: str, most: int = MOST) -> int:
    """A count, from 0 up.

    Raises:
        WrongValueError: for everything else.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise WrongValueError(f"takes a whole number from 0 to {most:,} for {name}", "write a number without quotes")


def written(value: Json) -> str:
    r"""A separator, with `\n` and `\t` for a line break and a tab."""
    return text(value).replace("\\n", "\n").replace("\\t", "\t")


def within(length: int) -> None:
    """Check the length before a long text is created.

    Raises:
        WrongValueError: when it would be too long.
    """
    if length > MOST:
        raise WrongValueError(f"would produce more than {MOST:,} characters", "pass less text")


def as_of(result: str, *values: Json) -> str:
    """A text made from values: trusted if all texts in them are, otherwise data."""
    kinds = {type(each) for value in values for each in texts_in(value)}
    if not kinds or not kinds <= {TrustedText, AuthorData}:
        return result
    return AuthorData(result) if AuthorData in kinds else TrustedText(result)


_WIDEST = 80
_ELLIPSIS = TrustedText("…")
_SHORTEST = 10
"""How far back abbreviations are searched for."""

_BREAKS = re.compile(r"\s+")
_LINES = re.compile(rf"^(?=(?:[^\S\n]|[{OPEN}{CLOSE}{HTML}])*[^\s{OPEN}{CLOSE}{HTML}])", re.MULTILINE)
_SENTENCE = re.compile(r"(?:[.!?…][\"'”’)\]]*(?=\s|\Z)|[。！？]|\n\s*\n)")
_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|[A-Z][a-z]?|Mrs|Prof|St|No|Nr|bzw|ca|z\.B|d\.h)\.)\Z")


def trim(value: Json) -> str:
    """The text without surrounding white space."""
    return as_of(stripped(text(value)), value)


def on_one_line(value: Json) -> str:
    """The text on one line: each run of white space is one space."""
    return as_of(stripped(_BREAKS.sub(" ", text(value))), value)


def indent(value: Json, width: Json = 2, first: Json = True) -> str:  # noqa: FBT002 - what templates write
    """Each line indented by `width` spaces, or by a text; `first=false` leaves the first one as it is."""
    pad = _pad(width)
    whole_text = text(value)
    within(len(whole_text) + len(pad) * (whole_text.count("\n") + 1))
    head, separator, rest = ("", "", whole_text) if first else whole_text.partition("\n")
    return as_of(head + separator + _LINES.sub(lambda _: pad, rest), value, width)


def _pad(width: Json) -> str:
    """The indentation of a line."""
    if isinstance(width, str):
        return written(width)
    return " " * whole(width, "the width", _WIDEST)


def replace(value: Json, old: Json, new: Json) -> str:
    """The text with every `old` replaced by `new`."""
    whole_text, before, behind = text(value), written(old), written(new)
    if not before:
        raise WrongValueError("has nothing to look for", "write a text that is not empty: `replace value old new`")
    within(len(whole_text) + whole_text.count(before) * max(len(behind) - len(before), 0))
    return as_of(whole_text.replace(before, behind), value, new)


def truncate(value: Json, most: Json, marker: Json = _ELLIPSIS) -> str:
    """The beginning of the text: at most `most` characters, including the marker."""
    whole_text, mark, length = text(value), text(marker), whole(most, "the length")
    size = len(unmarked(whole_text))
    if size <= length:
        return whole_text
    return as_of(cut(whole_text, 0, max(length - len(mark), 0)) + mark[:length], value, marker)


def middle(value: Json, most: Json) -> str:
    """The beginning and the end of the text, `most` characters in total, and between them how much was left out."""
    whole_text, length = text(value), whole(most, "the length")
    size = len(unmarked(whole_text))
    if size <= length:
        return whole_text
    front = (length + 1) // 2
    said = f"\n[... {size - length:,} characters left out ...]\n"
    return as_of(cut(whole_text, 0, front) + said + cut(whole_text, size - (length - front), size), value)


def first_sentence(value: Json) -> str:
    """The text up to the end of its first sentence, on one line."""
    line = stripped(text(value))
    plain = unmarked(line)
    ends = map(_end, _SENTENCE.finditer(plain))
    end = next((at for at in ends if not _SHORT.search(plain[max(at - _SHORTEST, 0) : at])), len(plain))
    return on_one_line(as_of(cut(line, 0, end), value))


def _end(found: re.Match[str]) -> int:
    return found.start() if found.group().startswith("\n") else found.end()


def lower(value: Json) -> str:
    """The text in lower case."""
    return as_of(text(value).lower(), value)


def upper(value: Json) -> str:
    """The text in upper case."""
    return as_of(text(value).upper(), value)
