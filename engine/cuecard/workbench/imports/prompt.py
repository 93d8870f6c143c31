"""What an imported file gives: messages, inputs, and notes on what could not be converted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, TypeAlias

from cuecard.config.documents.document import Document
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.values import InputType
from cuecard.errors import Problem, Severity, Span, SpecError, TemplateSyntaxError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.helpers.standard import NAMES
from cuecard.template.inputs import InputUse, inputs_of
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource

Role: TypeAlias = Literal["system", "user", "assistant"]

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
}
"""The roles of other tools, and their names here."""

EMPTY: Mapping[InputType, Json] = {"list": [], "object": {}, "string": ""}
"""An input that a template reads but no schema declares; other tools print nothing for missing values."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A text with its role: a Handlebars template.

    Attributes:
        role: its role.
        text: the template.
        late: whether it comes after the conversation.
    """

    role: Role
    text: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """An input for the agent file. `default` contains one value, or none if the host must supply it; `optional` are the
    keys of an object that a value may lack.
    """

    type: InputType
    default: tuple[Json, ...] = ()
    values: tuple[Json, ...] = ()
    description: str = ""
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedPrompt:
    """One imported file.

    Attributes:
        name: what the agent is called.
        source: the file's path as people would type it.
        messages: its texts, in order.
        inputs: by name.
        partials: texts for `{{> name}}`, by name.
        sample: values for a first turn.
        description: the file's own description.
        trim: whether white space around a message is dropped, as in the other tool.
        problems: what could not be converted.
        text: the file itself, for the places of what the agent would be refused for.
        numbers: inputs, and parts of them, that are compared with a number.
    """

    name: str
    source: str
    messages: tuple[PromptMessage, ...]
    inputs: Mapping[str, Input]
    partials: Mapping[str, str]
    sample: Mapping[str, Json]
    description: str
    trim: bool
    problems: tuple[Problem, ...]
    text: str = ""
    numbers: frozenset[tuple[str, ...]] = frozenset()

    def with_examples(self, *, asked: bool = False) -> ImportedPrompt:
        """The same for a file that is refused because its texts print a part of what is empty, or compare it with a
        number: objects and lists without a sample get an example with that part, and no default; objects that may be
        left out lack the part, and print nothing.

        Args:
            asked: whether also what the texts ask for as a whole gets an example, as in `{{#if user}}`.
        """
        uses = list(self._uses())
        wholes = {use.name for use in uses if not use.path}
        parts = [(name, tuple(path)) for name, *path in sorted(self.numbers) if path]
        parts += [(use.name, use.path) for use in uses if use.is_printed and use.path and use.path != ("length",)]
        made: dict[str, Json] = {}
        inputs = dict(self.inputs)
        for name, path in parts:
            each = inputs.get(name)
            if each is None or each.type not in {"list", "object"} or (each.default and _has(each.default[0], path)):
                continue
            if each.type == "object" and each.default and (each.default[0] is None or each.optional):
                if name not in wholes:  # an empty object is not null, whatever asks for it
                    optional = tuple(dict.fromkeys([*each.optional, ".".join(path)]))
                    inputs[name] = replace(each, default=(_around(each.default[0], path),), optional=optional)
            elif self.sample.get(name) is None and (asked or name not in wholes) and each.default in _NOTHING:
                made[name] = _example(made.get(name), path, 1 if (name, *path) in self.numbers else None)
        required = {name: replace(inputs[name], default=()) for name in made}
        return replace(self, inputs={**inputs, **required}, sample={**self.sample, **made})

    def _uses(self) -> Iterator[InputUse]:
        for text in (*(message.text for message in self.messages), *self.partials.values()):
            source = TemplateSource(self.source, text)
            with suppress(TemplateSyntaxError):  # it is told at its place when the agent is checked
                yield from inputs_of(parse(source).body, source, NAMES, {})


_NOTHING: tuple[tuple[Json, ...], ...] = ((), ({},), ([],))


def _has(value: Json, path: Sequence[str]) -> bool:
    return not path or (isinstance(value, dict) and path[0] in value and _has(value[path[0]], path[1:]))


def _around(value: Json, path: Sequence[str]) -> Json:
    """A value with the objects in which a path ends."""
    known = value if isinstance(value, dict) else {}
    return {**known, path[0]: _around(known.get(path[0]), path[1:])} if len(path) > 1 else known


_MOST_ITEMS = 20
"""Items that an example is given; a prompt that reads a later one wants a sample."""


def _example(value: Json, path: Sequence[str], end: Json = None) -> Json:
    """A value with something at a path, and all that it has."""
    if not path:
        return value if end is None else end
    key, *rest = path
    if key == "length" and not rest:
        return value if isinstance(value, list) else ["example"]
    if not key.isdigit():
        known = value if isinstance(value, dict) else {}
        return {**known, key: _example(known.get(key, f"example of {key}"), rest, end)}
    items = [*value] if isinstance(value, list) else []
    items += [f"example {number}" for number in range(len(items), min(int(key) + 1, _MOST_ITEMS))]
    return [_example(item, rest, end) if number == int(key) else item for number, item in enumerate(items)]


class Notes:
    """What could not be converted in one file, with the places.

    Args:
        name: the file's name in errors.
        text: its content.

    Attributes:
        problems: what could not be converted.
        histories: names that hold the conversation, and are no inputs here.
        untold: names that a template asks for whether they are defined.
        numbers: names, and parts of what they name, that a template compares with a number.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name: str = name
        self.text: str = text
        self.lines: list[str] = text.split("\n")
        self.problems: list[Problem] = []
        self.histories: set[str] = set()
        self.untold: set[str] = set()
        self.numbers: set[tuple[str, ...]] = set()

    def add(self, line: int, message: str, hint: str, severity: Severity = "error") -> None:
        """Add a problem: the line of the file, the problem, the reason, and what to do instead."""
        source = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        written = source.strip()
        column = len(source) - len(source.lstrip()) + 1
        span = Span(line, column, max(1, len(written)))
        if severity == "error":
            self.problems.append(Problem("not-imported", message, hint, self.name, span, source))
        else:
            self.problems.append(Problem("not-imported", message, hint, self.name, span, source, severity="warning"))

    def in_order(self) -> tuple[Problem, ...]:
        """Every problem from top to bottom, followed by those of other files."""
        return tuple(
            sorted(self.problems, key=lambda each: (each.name != self.name, each.span.line if each.span else 0))
        )

    def mark(self, line: int) -> str:
        """The mark in a text before something that was not converted; `cuecard check` warns about it."""
        return f"{{% todo {self.name.rpartition('/')[2]}:{line} %}}"


_FENCE = re.compile(r"---[ \t]*")


_MAPPING = re.compile(r"[A-Za-z_][\w-]*:(?:\s|$)")


def _beginning(lines: Sequence[str]) -> int:
    """The line that may open the front matter: the first, or the one after a licence in comments."""
    begin = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    behind = next((line for line in lines[begin + 1 :] if line.strip()), "")
    # In a text without front matter, a rule of Markdown may follow a heading.
    return begin if begin and _FENCE.fullmatch(lines[begin]) and _MAPPING.match(behind) else 0


@dataclass(frozen=True, slots=True)
class FrontMatterFile:
    """The front matter as a document (None if there is none), and the text that begins at line `line`."""

    document: Document | None
    body: str
    line: int


def read_front(text: str, name: str) -> FrontMatterFile:
    """The two parts of a file; without a first line `---` the whole file is text.

    Raises:
        SpecError: when the front matter is never closed, or is not YAML.
    """
    lines = text.split("\n")
    begin = _beginning(lines)
    if not _FENCE.fullmatch(lines[begin]):
        return FrontMatterFile(None, text, 1)
    end = next((number for number, line in enumerate(lines[begin + 1 :], begin + 1) if _FENCE.fullmatch(line)), 0)
    if not end:
        hint = "end it with a line `---`"
        raise SpecError(Problem("front-matter", "the front matter is not closed", hint, name, Span(1, 1, 3), lines[0]))
    # Empty lines replace the fence and what is before it, so that places in the YAML are places in the file.
    yaml = "\n".join([*[""] * (begin + 1), *lines[begin + 1 : end]])
    empty = not any(line.strip() and not line.lstrip().startswith("#") for line in lines[begin + 1 : end])
    document = Document(name, yaml, {}) if empty else read_yaml(yaml, name)
    return FrontMatterFile(document, "\n".join(lines[end + 1 :]), end + 2)
