"""YAML text to plain values with the place of every key and value: the entry point of this package.

YAML 1.2 without features that configuration never needs but attackers use: anchors, aliases, tags, directives, several
documents. Every file is read once, as events, and the limits are checked before anything is built, so that deeply
nested brackets never reach recursive code.
"""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.config.documents.document import Document, Path, problem_at
from cuecard.config.documents.yaml_events import Event, pure_events, quick_events
from cuecard.config.documents.yaml_limits import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, ExceededError, checked
from cuecard.config.documents.yaml_values import MAX_BITS, build, span_of
from cuecard.errors import InputError, Problem, Span, SpecError

__all__ = ["MAX_BITS", "MAX_CHARACTERS", "MAX_DEPTH", "MAX_NODES", "Document", "Path", "problem_at", "read_yaml"]


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
