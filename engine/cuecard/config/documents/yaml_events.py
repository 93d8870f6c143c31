"""YAML text to events, and scalars to values; the only module that knows ruamel.yaml.

There are two readers: the pure one, which is authoritative, and libyaml in C, which is many times faster, if it is
installed. An event has a class named after its kind, marks for its start and end and, if it is a scalar, a value and a
style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import Any

Event = Any

_READ_OTHERWISE = (
    re.compile("[\\t\\x85\\u2028\\u2029\\ufeff]"),  # different definitions of a blank, a line break and a column
    re.compile(r"\r(?!\n)"),
    re.compile(r"[|>][-+0-9]* *(?:#|\r?\n(?:\r?\n)* +\r?\n)"),  # a block that begins with a comment or with spaces
    re.compile(r"[\"'] *:[^ \r\n]"),  # `["a":b]`
    re.compile(r"\n\.\.\."),
)
"""What the two readers read differently. The pattern takes linear time: each attempt begins where the last one failed.
"""


def reads_alike(text: str) -> bool:
    """Whether both readers read a text alike."""
    return not any(pattern.search(text) for pattern in _READ_OTHERWISE)


def pure_events(text: str) -> Iterator[Event]:
    """The events of ruamel.yaml; whatever it raises is passed on."""
    events: Iterator[Event] = _yaml().parse(text)
    return events


def quick_events(text: str, *, exactly: bool = True) -> Iterator[Event]:
    """The events of libyaml; fails if it is not installed or, if wanted, where it might read the text differently."""
    from _ruamel_yaml import CParser  # noqa: PLC0415 - not everywhere

    if exactly and not reads_alike(text):
        raise ValueError
    parser, last_line = CParser(text), text.count("\n")
    end = SimpleNamespace(line=last_line, column=len(text) - 1 - text.rfind("\n"))
    while parser.check_event():
        event = parser.get_event()
        if event.end_mark.line > last_line:
            event.end_mark = end  # libyaml adds a missing newline at the end
        yield event


class Scalars:
    """The values of unquoted words in YAML 1.2."""

    def __init__(self) -> None:
        """The resolver is only created for a word that may be more than a text."""
        from ruamel.yaml.resolver import Resolver  # noqa: PLC0415 - the same

        self._rules = Resolver.yaml_implicit_resolvers
        self._known: dict[str, Any] = {}

    def value(self, event: Event) -> Any:
        """The value of a scalar; dates stay texts. Whatever int() and float() raise is passed on."""
        text: str = event.value
        if not event.implicit[0]:
            return text
        if text not in self._known:  # the same few words come again and again
            tag = self._tag(text)
            self._known[text] = text if tag is None or tag.endswith(":timestamp") else self._made(tag, text)
        return self._known[text]

    def _tag(self, text: str) -> str | None:
        for tag, pattern in self._rules.get(text[:1], ()):
            if pattern.match(text):
                return str(tag)
        return None

    def _made(self, tag: str, text: str) -> Any:
        from ruamel.yaml.nodes import ScalarNode  # noqa: PLC0415 - the same

        return self._constructor.construct_object(ScalarNode(tag, text), deep=True)

    @cached_property
    def _constructor(self) -> Any:
        return _yaml().constructor


def _yaml() -> Any:
    from ruamel.yaml import YAML  # noqa: PLC0415 - the same

    return YAML(typ="safe", pure=True)
