"""How much a value holds that could be taken for more than a value: the numbers of the manifest's `trust` report."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from cuecard.template.guards.guard import Escaping, escape_text

if TYPE_CHECKING:
    from cuecard.model import Json

_ROLE_MARKER = re.compile(
    r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|^\s{0,4}(?:Human|Assistant|System|User|Developer):", re.MULTILINE
)
"""What some models read as a change of speaker. It is printed (a text may quote it), and counted."""


def trust_report(values: Json, names: Collection[str], mode: Escaping = "text") -> dict[str, int]:
    """Counts over all texts of these data values.

    Args:
        values: the values that templates may print, cleaned of invisible characters.
        names: the element names of this prompt.
        mode: how templates print them.

    Returns:
        `angle_brackets_escaped`: every `<`, in mode `names` those before a name of this prompt; `look_alikes_escaped`:
        characters that look like one before such a name; `role_markers`: texts such as `<|im_end|>` or a line that
        begins with `Human:`.
    """
    report = {"angle_brackets_escaped": 0, "look_alikes_escaped": 0, "role_markers": 0}
    for text in _texts(values):
        escaped = escape_text(text, names, mode=mode)
        angles = text.count("<") - escaped.count("<")
        report["angle_brackets_escaped"] += angles
        report["look_alikes_escaped"] += escaped.count("&lt;") - text.count("&lt;") - angles
        report["role_markers"] += sum(1 for _ in _ROLE_MARKER.finditer(text))
    return report


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
