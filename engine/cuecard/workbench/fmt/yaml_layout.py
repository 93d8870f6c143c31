"""The layout of YAML, and of texts within it.

Only white space is edited, line by line, using the reader's events. Comments, quotes, the order of keys and the line
breaks of long texts stay as they were written; printing the values again would wrap or join them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_events import pure_events
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.workbench.fmt.yaml_lines import YamlLines, spacing

_ODD_BREAKS = re.compile("[\\x85\\u2028\\u2029]")
_WHITE = re.compile("[ \\t\\n]+")
_ROUNDS = 4


class KeptError(Exception):
    """The text cannot be formatted; the message says why."""


def formatted_yaml(text: str, name: str) -> str:
    """The formatted text; the same text if it is already formatted.

    Args:
        text: what `read_text` reads: lines ending in newlines, without a byte order mark.
        name: how errors call it.

    Raises:
        SpecError: when it cannot be read as YAML.
        KeptError: when it cannot be formatted without changing its values.
    """
    said = _said(read_yaml(text, name).value)
    if _ODD_BREAKS.search(text):
        raise KeptError("it contains line or paragraph separators (U+0085, U+2028, U+2029), where YAML may break lines")
    for _ in range(_ROUNDS):
        laid_out = _once(text)
        if laid_out == text:
            return text
        _check(text, laid_out, said, name)
        text = laid_out
    raise KeptError("formatting does not converge")


def _once(text: str) -> str:
    events = [*pure_events(text)]
    rows = text.split("\n")
    edits = spacing(events, rows)
    lines = YamlLines(rows, events)
    if lines.explicit:
        raise KeptError("it has keys written with `?`")
    return lines.laid_out(edits)


def _check(before: str, after: str, said: str, name: str) -> None:
    """Check that only white space was edited and the values are those that the text had at first.

    Raises:
        KeptError: when they are not.
    """
    try:
        same = _said(read_yaml(after, name).value) == said
    except SpecError as error:
        raise KeptError(f"formatted, it could not be read: {error.problems[0].message}") from None
    if not same or _WHITE.sub("", before) != _WHITE.sub("", after):
        raise KeptError("formatting would change its meaning")


def _said(value: Json) -> str:
    """A value with the order of its keys and the types of its numbers."""
    return json.dumps(value, ensure_ascii=True, default=repr)


def not_formatted(name: str, why: str) -> Problem:
    """The warning for a file that was not formatted."""
    hint = "rewrite it by hand, or leave it: nothing is wrong with it"
    return Problem("not-formatted", f"left as it is: {why}", hint, name, severity="warning")


_BLANKS_AT_LINE_END = re.compile(r"[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


def _end(text: str) -> str:
    body = text.rstrip(" \t\n")
    return f"{body}\n" if body else ""


def _line_ends(text: str) -> str:
    return _BLANKS_AT_LINE_END.sub("", text)


def _blank_lines(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", text.lstrip("\n"))


KINDS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "the end of the file": _end,
        "blanks at line ends": _line_ends,
        "several blank lines in a row": _blank_lines,
    }
)
"""The kinds of tidying; each is idempotent."""
