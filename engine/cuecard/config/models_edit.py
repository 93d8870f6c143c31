"""Writes a finding about a model at an endpoint into a models file, leaving every other line unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_text import Document, Path, read_yaml
from cuecard.config.model_profile import MidConversation
from cuecard.config.models_file import ModelsFile
from cuecard.errors import SpecError
from cuecard.records import dataclass

HEAD = "# What is known of models, over what cuecard ships; see docs/providers.md.\n"
SOURCE = "cuecard probe"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a model at an endpoint, and when."""

    endpoint: str
    model: str
    in_place: bool
    role: MidConversation
    note: str
    day: date


def with_finding(text: str, finding: Finding, name: str) -> str:
    """The text of a models file with a finding added: the model's role and, for a new endpoint, whether messages stay
    in place.

    Raises:
        SpecError: when the file is not a models file, or uses braces at that place, so that there is no line to add.
    """
    if not text.strip():
        return HEAD + "endpoints:\n" + "".join(_endpoint(finding, 2))
    if all(line.lstrip().startswith("#") or not line.strip() for line in text.splitlines()):
        return text.rstrip("\n") + "\nendpoints:\n" + "".join(_endpoint(finding, 2))
    document = read_yaml(text, name)
    validate(document, ModelsFile)
    written = "".join(_Lines(document).with_finding(finding))
    validate(read_yaml(written, name), ModelsFile)
    return written


@dataclass(frozen=True, slots=True)
class _Lines:
    """A models file, line by line."""

    document: Document

    def with_finding(self, finding: Finding) -> list[str]:
        """The lines with a finding added, reusing the endpoint and the model if the file has them already."""
        place: Path = ("endpoints",)
        steps: tuple[tuple[str, Callable[[int], list[str]]], ...] = (
            (finding.endpoint, lambda indent: _endpoint(finding, indent)),
            ("models", lambda indent: [f"{' ' * indent}models:\n", *_model(finding, indent + 2)]),
            (finding.model, lambda indent: _model(finding, indent)),
            ("mid_conversation", lambda indent: _role(finding, indent)),
        )
        if not self.document.value.get("endpoints"):
            return [*self.without(place), "endpoints:\n", *_endpoint(finding, 2)]
        for key, made in steps:
            if (*place, key) not in self.document.keys:
                return self.under(place, made)
            place = (*place, key)
        return self.under(place[:-1], steps[-1][1], instead=place)

    def under(self, place: Path, made: Callable[[int], list[str]], instead: Path | None = None) -> list[str]:
        """The lines with new ones added first under a key, replacing those of the key `instead`."""
        keys = self.document.keys
        children = [span for path, span in keys.items() if len(path) == len(place) + 1 and path[: len(place)] == place]
        line = keys[place].line
        if any(span.line == line for span in children) or not children:
            hint = "write it with indented lines instead of braces"
            message = "cannot add to a mapping that is written on one line"
            raise SpecError(self.document.problem(place, "yaml-syntax", message, hint, key=True))
        kept = self.without(instead) if instead else self.lines
        return [*kept[:line], *made(children[0].column - 1), *kept[line:]]

    def without(self, place: Path) -> list[str]:
        """The lines without a key and everything under it."""
        span = self.document.keys.get(place)
        if span is None:
            return self.lines
        lines, end = self.lines, span.line
        for at in range(span.line, len(lines)):  # an empty line does not end the block
            if lines[at].strip() and _indent(lines[at]) < span.column:
                break
            end = at + 1 if lines[at].strip() else end
        return [*lines[: span.line - 1], *lines[end:]]

    @property
    def lines(self) -> list[str]:
        """The lines, each with its line ending."""
        lines = self.document.text.splitlines(keepends=True)
        return [*lines[:-1], lines[-1].rstrip("\r\n") + "\n"]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _endpoint(finding: Finding, indent: int) -> list[str]:
    keeps = {"value": finding.in_place, **_source(finding)}
    space = " " * indent
    return [
        f"{space}{_quoted(finding.endpoint)}:\n",
        f"{space}  in_place: {_flow(keeps)}\n",
        f"{space}  models:\n",
        *_model(finding, indent + 4),
    ]


def _model(finding: Finding, indent: int) -> list[str]:
    return [f"{' ' * indent}{_quoted(finding.model)}:\n", *_role(finding, indent + 2)]


def _role(finding: Finding, indent: int) -> list[str]:
    return [f"{' ' * indent}mid_conversation: {_flow({'value': finding.role, **_source(finding)})}\n"]


def _source(finding: Finding) -> dict[str, str]:
    return {"source": SOURCE, "as_of": finding.day.isoformat(), "note": finding.note}


def _flow(values: Mapping[str, object]) -> str:
    """A mapping on one line; the day and the role need no quotes."""
    bare = {"as_of", "value"}
    shown = (f"{key}: {_plain(value) if key in bare else _quoted(str(value))}" for key, value in values.items())
    return "{" + ", ".join(shown) + "}"


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    """A text in double quotes, as YAML reads it; with unprintable characters escaped."""
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in said)
