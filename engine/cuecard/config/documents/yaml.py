"""YAML to values with places, within limits.

YAML 1.2 without features that configuration never needs but attackers use: anchors, aliases, tags, directives, several
documents. Every file is read once, as events, and the limits are checked before anything is built, so that deeply
nested brackets never reach recursive code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn

from cuecard.config.documents.document import Document, Path, problem_at
from cuecard.config.documents.yaml_events import Event, Scalars, pure_events, quick_events
from cuecard.config.documents.yaml_values import MAX_BITS, build, span_of
from cuecard.errors import InputError, Problem, Span, SpecError
from cuecard.model import Json

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_PLAIN_DEPTH = 100
MAX_PLAIN_NODES = 500_000
"""The limits of what programs write and people do not read, such as an OpenAPI description."""

_STEPS = {"MappingStartEvent": 1, "SequenceStartEvent": 1, "MappingEndEvent": -1, "SequenceEndEvent": -1}
"""By how much an event changes the depth."""

_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep", "flatten the file"
_TOO_MANY = f"more than {MAX_NODES:,} values", "split the file"


class ExceededError(SpecError):
    """Too deep or too many values, and nothing else is wrong before that: both readers find it at the same place."""


def checked(events: Iterable[Event], text: str, name: str) -> list[Event]:
    """The events, read no further than the limits allow: millions of brackets may follow.

    Raises:
        SpecError: with every anchor, alias, tag, directive and further document, or the first limit that is exceeded.
    """
    found: list[Event] = []
    problems = list(_problems(events, text, name, found))
    if [(problem.message, problem.hint) for problem in problems] in ([_TOO_DEEP], [_TOO_MANY]):
        raise ExceededError(problems)
    if problems:
        raise SpecError(problems)
    return found


def _problems(events: Iterable[Event], text: str, name: str, found: list[Event]) -> Iterator[Problem]:
    depth = nodes = documents = 0
    for event in events:
        found.append(event)
        kind = type(event).__name__
        step = _STEPS.get(kind, 0)
        depth += step
        nodes += step > 0 or kind == "ScalarEvent"
        documents += kind == "DocumentStartEvent"
        over = _over(depth, nodes)
        refused = over or _refusal(event, kind, documents)
        if refused:
            span = Span(event.start_mark.line + 1, event.start_mark.column + 1)
            yield problem_at(name, text, span, "yaml-refused", *refused)
        if over or documents > 1 or len(found) > MAX_NODES * 3:
            return


def _over(depth: int, nodes: int) -> tuple[str, str] | None:
    if depth > MAX_DEPTH:
        return _TOO_DEEP
    return _TOO_MANY if nodes > MAX_NODES else None


def _refusal(event: Event, kind: str, documents: int) -> tuple[str, str] | None:
    if kind == "AliasEvent":
        return f"an alias (`*{event.anchor}`)", "quote the text if it begins with `*`; otherwise write the value out"
    if kind == "DocumentStartEvent":
        return _refused_document(event, documents)
    if getattr(event, "anchor", None):
        return f"an anchor (`&{event.anchor}`)", "quote the text if it begins with `&`; otherwise write the value out"
    if (tag := getattr(event, "tag", None)) is not None:
        short = str(tag).replace("tag:yaml.org,2002:", "!!")
        return f"a tag (`{short}`)", "quote the text if it begins with `!`"
    return None


def _refused_document(event: Event, documents: int) -> tuple[str, str] | None:
    if event.version or event.tags:
        return "a `%` directive", "files are YAML 1.2"
    return ("a second document", "a file contains one document; remove the `---`") if documents > 1 else None


__all__ = [
    "MAX_BITS",
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "Path",
    "problem_at",
    "read_plain_yaml",
    "read_yaml",
]


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML mapping.

    Raises:
        SpecError: with every problem that could be distinguished, each at `name:line:column`.
        InputError: when the package that reads YAML is not installed.
    """
    if len(text) > MAX_CHARACTERS:
        raise SpecError(
            Problem("yaml-too-large", f"{len(text):,} characters; at most {MAX_CHARACTERS:,}", "split the file", name)
        )
    try:
        return _document(quick_events(text), text, name)
    except ExceededError:
        raise
    except Exception:  # noqa: BLE001, S110 - what the quick reader rejects, the pure one reads after all, or explains better
        pass
    try:
        return _document(pure_events(text), text, name)
    except SpecError:
        raise
    except ImportError as error:
        told, hint = (
            f"YAML cannot be read: {error}",
            "install cuecard together with its dependencies: `pip install cuecard`",
        )
        raise InputError(Problem("not-installed", told, hint, name)) from error
    except Exception as error:  # noqa: BLE001 - ruamel raises AssertionError and TypeError too, for a few malformed texts
        raise SpecError(_syntax_problem(error, text, name)) from None


def _document(events: Iterable[Event], text: str, name: str) -> Document:
    _, *found = checked(events, text, name)
    if len(found) == 1:
        raise SpecError(Problem("yaml-empty", "the file contains no YAML", "write a mapping: `key: value`", name))
    _, *written, _, _ = found
    kind = type(written[0]).__name__.removesuffix("Event").removesuffix("Start").lower()
    if kind != "mapping":
        span = span_of(written[0], written[-1])
        raise SpecError(
            problem_at(name, text, span, "yaml-root", f"the file contains a {kind}", "write a mapping: `key: value`")
        )
    return build(written, text, name)


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
        raise SpecError(_syntax_problem(error, text, name)) from None


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
            if found != "ScalarEvent" or inner.value in keyed:
                said = f"duplicate key `{inner.value[:80]}`" if found == "ScalarEvent" else "a key that is not a text"
                self.refuse(inner, "duplicate-key" if found == "ScalarEvent" else "yaml-key", said, "keep one")
            value = next(self.events)
            self.check(value, type(value).__name__, depth)
            keyed[inner.value] = self.build(value, type(value).__name__, depth + 1)
        return listed if kind == "SequenceStartEvent" else keyed

    def check(self, event: Event, kind: str, depth: int) -> None:
        """Refuse what is not read, and too much of anything."""
        self.nodes += 1
        if refused := _refusal(event, kind, self.documents):
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


def _syntax_problem(error: Exception, text: str, name: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = getattr(error, "problem", None) or "the YAML cannot be parsed"
    # ruamel gives no place when its own check fails, as for `%YAML 1.0`; a directive, if there is one, is the cause.
    lines = enumerate(text.split("\n"), 1)
    span = Span(next((number for number, line in lines if line.startswith("%")), 1), 1)
    span = Span(mark.line + 1, mark.column + 1) if mark else span
    return problem_at(name, text, span, "yaml-syntax", str(message), _syntax_hint(str(message), text, span))


def _syntax_hint(message: str, text: str, span: Span) -> str:
    lines = text.splitlines()
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    if "\t" in line[: span.column]:
        return "indent with spaces, not tabs"
    if "mapping values are not allowed" in message:
        return "quote a text that contains `: `"
    if "cannot start any token" in message:
        return "quote a text that begins with this character"
    return "check indentation, quotes and brackets"
