"""Large YAML that programs write, such as an OpenAPI description: values without their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from cuecard.config.documents.document import problem_at
from cuecard.config.documents.yaml import read_yaml, refusal, syntax_problem
from cuecard.config.documents.yaml_events import Event, Scalars, quick_events
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import Json

MAX_PLAIN_DEPTH = 100
MAX_PLAIN_NODES = 500_000


def read_plain_yaml(text: str, name: str) -> dict[str, Json]:
    """The values of a large YAML mapping, without their places.

    Raises:
        SpecError: with the first problem, at `name:line:column`.
    """
    try:
        return _Plain(quick_events(text, exactly=False), text, name).root()
    except ImportError:  # the C reader is not everywhere
        return read_yaml(text, name).value
    except SpecError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever ruamel raises for a few malformed texts
        raise SpecError(syntax_problem(error, text, name)) from None


class _Plain:
    """Builds values as the events come, so that no limit is passed before it is noticed."""

    def __init__(self, events: Iterator[Event], text: str, name: str) -> None:
        self.events, self.text, self.name = events, text, name
        self.scalars = Scalars()
        self.nodes = self.documents = 0

    def root(self) -> dict[str, Json]:
        """The mapping.

        Raises:
            SpecError: when there is none, or something else that is refused.
        """
        found: Json = None
        for event in self.events:
            kind = type(event).__name__
            self.documents += kind == "DocumentStartEvent"
            self.check(event, kind, 0)
            if kind in {"MappingStartEvent", "SequenceStartEvent", "ScalarEvent"}:
                found = self.build(event, kind, 1)
        if isinstance(found, dict):
            return found
        raise SpecError(
            Problem("yaml-root", "the file contains no mapping", "write a mapping: `key: value`", self.name)
        )

    def build(self, event: Event, kind: str, depth: int) -> Json:
        """The value that begins with this event."""
        if kind == "ScalarEvent":
            return self.scalars.value(event)
        keyed: dict[str, Json] = {}
        listed: list[Json] = []
        for inner in self.events:
            found = type(inner).__name__
            if found.endswith("EndEvent"):
                break
            self.check(inner, found, depth)
            if kind == "SequenceStartEvent":
                listed.append(self.build(inner, found, depth + 1))
                continue
            if found != "ScalarEvent":
                self.refuse(inner, "yaml-key", "a key that is not a text", "quote a text with `{{ }}`")
            if inner.value in keyed:
                self.refuse(inner, "duplicate-key", f"duplicate key `{inner.value[:80]}`", "keep one")
            value = next(self.events)
            self.check(value, type(value).__name__, depth)
            keyed[inner.value] = self.build(value, type(value).__name__, depth + 1)
        return listed if kind == "SequenceStartEvent" else keyed

    def check(self, event: Event, kind: str, depth: int) -> None:
        """Refuse what is not read, and too much of anything."""
        is_plain = kind in {"ScalarEvent", "MappingStartEvent", "SequenceStartEvent"}
        self.nodes += is_plain
        marked = not is_plain or event.anchor is not None or event.tag is not None
        if marked and (refused := refusal(event, kind, self.documents)):
            self.refuse(event, "yaml-refused", *refused)
        if depth > MAX_PLAIN_DEPTH:
            self.refuse(event, "yaml-refused", f"nested more than {MAX_PLAIN_DEPTH} levels deep", "flatten the file")
        if self.nodes > MAX_PLAIN_NODES:
            hint = "write it as JSON"
            self.refuse(event, "yaml-refused", f"more than {MAX_PLAIN_NODES:,} values", hint)

    def refuse(self, event: Event, code: str, message: str, hint: str) -> NoReturn:
        """Raise an error at an event."""
        span = Span(event.start_mark.line + 1, event.start_mark.column + 1)
        raise SpecError(problem_at(self.name, self.text, span, code, message, hint))
