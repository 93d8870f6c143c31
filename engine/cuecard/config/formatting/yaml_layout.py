"""YAML as it is laid out: two spaces a level, dashes within their key, no blanks at line ends. Nothing else changes.

Only white space is edited, line by line, by what the reader says of the text. Comments, quotes, the order of keys, and
where long texts break stay as people wrote them; a printer that writes the values anew would wrap or join those.
"""

from __future__ import annotations

import json
import re

from cuecard.config.documents.yaml_events import pure_events
from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.formatting.yaml_lines import Lines
from cuecard.config.formatting.yaml_spacing import spacing
from cuecard.errors import Problem, SpecError
from cuecard.model import Json

_ODD_BREAKS = re.compile("[\\x85\\u2028\\u2029]")
_WHITE = re.compile("[ \\t\\n]+")
_ROUNDS = 4


class KeptError(Exception):
    """The text stays as it is; the message says why."""


def formatted_yaml(text: str, name: str) -> str:
    """The text as it should be laid out; the same text where it is.

    Args:
        text: what `read_text` reads: newlines end its lines, and no byte order mark begins it.
        name: how errors call it.

    Raises:
        SpecError: when it cannot be read as YAML.
        KeptError: when it cannot be laid out without a change of what it says.
    """
    read_yaml(text, name)
    if _ODD_BREAKS.search(text):
        raise KeptError("it contains line or paragraph separators (U+0085, U+2028, U+2029), where YAML may break lines")
    for _ in range(_ROUNDS):
        laid_out = _once(text)
        _check(text, laid_out, name)
        if laid_out == text:
            return text
        text = laid_out
    raise KeptError("formatting does not converge")


def _once(text: str) -> str:
    events = [*pure_events(text)]
    rows = text.split("\n")
    edits = spacing(events, rows)
    lines = Lines(rows, events)
    if lines.explicit:
        raise KeptError("it has keys written with `?`")
    return lines.laid_out(edits)


def _check(before: str, after: str, name: str) -> None:
    """What is edited is white space, and the values are the same.

    Raises:
        KeptError: when they are not.
    """
    try:
        same = _said(read_yaml(before, name).value) == _said(read_yaml(after, name).value)
    except SpecError as error:
        raise KeptError(f"formatted, it could not be read: {error.problems[0].message}") from None
    if not same or _WHITE.sub("", before) != _WHITE.sub("", after):
        raise KeptError("formatting would change its meaning")


def _said(value: Json) -> str:
    """A value with the order of its keys and the types of its numbers."""
    return json.dumps(value, ensure_ascii=True, default=repr)


def not_formatted(name: str, why: str) -> Problem:
    """The warning for a file that stays as it is."""
    hint = "rewrite it by hand, or leave it: nothing is wrong with it"
    return Problem("not-formatted", f"left as it is: {why}", hint, name, severity="warning")
