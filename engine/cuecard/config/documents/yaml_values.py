"""Events to plain values, with the place of every key and value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from cuecard.config.documents.document import Document, Path, problem_at
from cuecard.config.documents.yaml_events import Event, Scalars
from cuecard.errors import Problem, Span, SpecError
from cuecard.model import Json

MAX_BITS = 1024
"""The size limit of whole numbers in bits: about the largest floating-point number."""


def build(events: Iterable[Event], text: str, name: str) -> Document:
    """Build the document from checked events, beginning with the first event of its mapping.

    Raises:
        SpecError: with every key that is not a text or occurs twice, and every value that cannot be read.
    """
    builder = _Builder(events, text, name)
    value = builder.build(next(builder.events), ())
    errors = [p for p in builder.problems if p.severity == "error"]
    if errors:
        raise SpecError(errors)
    return Document(name, text, value, builder.keys, builder.values, tuple(builder.problems))


def span_of(first: Event, last: Event) -> Span:
    """The place of what begins and ends with these events; a single character if it spans several lines."""
    start, end = first.start_mark, last.end_mark
    line, column = start.line, start.column
    length = end.column - column if end.line == line else 1
    return Span(line + 1, column + 1, max(length, 1))


def _is_left_out(event: Event) -> bool:
    return type(event).__name__ == "ScalarEvent" and not event.value and not event.style


class _Builder:
    """Turns events into plain values and records the place of each."""

    def __init__(self, events: Iterable[Event], text: str, name: str) -> None:
        self.events = iter(events)
        self.text, self.name = text, name
        self.lines = text.splitlines() if " #" in text else []
        self.end: Event = None
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.problems: list[Problem] = []
        self.scalars = Scalars()

    def build(self, event: Event, path: Path) -> Json:
        """The value that begins with this event."""
        span = self.values[path] = span_of(event, event)
        kind = type(event).__name__
        if kind == "ScalarEvent":
            return self.scalar(event, span)
        value: Json = self.mapping(path) if kind == "MappingStartEvent" else self.sequence(path)
        self.values[path] = span_of(event, self.end)
        return value

    def mapping(self, path: Path) -> dict[str, Json]:
        value: dict[str, Json] = {}
        for event in self.inner():
            key = self.key(event, path)
            child = next(self.events)
            if key is None:
                self.skip(child)
            elif _is_left_out(child):
                # The two readers place it differently, for example at the next key.
                colon = event.end_mark
                self.values[*path, key] = Span(colon.line + 1, colon.column + 1)
                value[key] = None
            else:
                value[key] = self.build(child, (*path, key))
        return value

    def sequence(self, path: Path) -> list[Json]:
        return [self.build(event, (*path, index)) for index, event in enumerate(self.inner())]

    def inner(self) -> Iterator[Event]:
        """The events that begin the items of a collection; the event after them ends it."""
        for event in self.events:
            if type(event).__name__.endswith("EndEvent"):
                self.end = event
                return
            yield event

    def skip(self, event: Event) -> Event:
        """Skip what begins with this event, and return the event that ends it."""
        if type(event).__name__ == "ScalarEvent":
            return event
        for inner in self.inner():
            self.skip(inner)
        return self.end

    def key(self, event: Event, path: Path) -> str | None:
        """A key of the mapping at a path; None if it is not a valid key."""
        end = self.skip(event)
        span = span_of(event, end)
        if end is not event:
            self.problem(span, "yaml-key", "a key that is not a text", "quote a text with `{{ }}`")
            return None
        key = str(event.value)
        if first := self.keys.get((*path, key)):
            hint = f"first at {self.name}:{first.line}:{first.column}; keep one"
            self.problem(span, "duplicate-key", f"duplicate key `{key}`", hint)
            return None
        self.keys[*path, key] = span
        return key

    def scalar(self, event: Event, span: Span) -> Json:
        if not event.style:
            self.warn_of_comment(event)
        try:
            value = self.scalars.value(event)
        except Exception:  # noqa: BLE001 - ruamel raises whatever int() and float() raise
            self.problem(span, "yaml-value", "this value cannot be read", "quote it if it is a text")
            return None
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            # Python itself refuses to print an integer of more than 4,300 digits.
            message = "this whole number is too large"
            self.problem(span, "yaml-value", message, "quote it if it is a text")
            return None
        if isinstance(value, float) and not isfinite(value):
            message = "a number that JSON does not have"
            self.problem(span, "yaml-value", message, "put it in quotes if it is a text, or write `null`")
            return None
        return value

    def warn_of_comment(self, event: Event) -> None:
        end = event.end_mark
        rest = self.lines[end.line][end.column :] if end.line < len(self.lines) else ""
        if rest.startswith(" #") and rest[2:3].strip():
            span = Span(end.line + 1, end.column + 1, len(rest.rstrip()))
            hint = "quote the whole text, or write `# ` if a comment is intended"
            self.problem(
                span, "yaml-comment", "text after ` #` is a comment, so it is dropped", hint, severity="warning"
            )

    def problem(self, span: Span, code: str, message: str, hint: str, **more: Any) -> None:
        self.problems.append(problem_at(self.name, self.text, span, code, message, hint, **more))
