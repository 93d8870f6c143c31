"""What a file of another tool becomes: messages, inputs, and the list of what could not be carried over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from cuecard.config.agent_file import InputType
from cuecard.errors import Problem, Severity, Span
from cuecard.model import Json
from cuecard.records import dataclass

Role: TypeAlias = Literal["system", "user", "assistant"]

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "model": "assistant",
}
"""Roles of others, and what they are called here."""

EMPTY: Mapping[InputType, Json] = {"list": [], "object": {}, "string": ""}
"""What an input is that a template reads and no schema names; missing values print nothing elsewhere."""


@dataclass(frozen=True, slots=True)
class Message:
    """A text with its role: a Handlebars template.

    Attributes:
        role: who says it.
        text: the template.
        late: whether the conversation comes before it.
    """

    role: Role
    text: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """An input, as the agent file will have it. `default` holds one value, or none where the host must supply it."""

    type: InputType
    default: tuple[Json, ...] = ()
    values: tuple[Json, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """One file, read.

    Attributes:
        name: what the agent is called.
        source: the file, as people would type it.
        messages: its texts, in order.
        inputs: by name.
        partials: texts for `{{> name}}`, by name.
        sample: values for a first turn.
        description: what the file says of itself.
        trim: whether white space around a message is dropped, as the other tool does.
        problems: what could not be carried over.
    """

    name: str
    source: str
    messages: tuple[Message, ...]
    inputs: Mapping[str, Input]
    partials: Mapping[str, str]
    sample: Mapping[str, Json]
    description: str
    trim: bool
    problems: tuple[Problem, ...]


class Notes:
    """What could not be carried over from one file, with its places.

    Args:
        name: how errors call the file.
        text: what it holds.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.lines = name, text, text.split("\n")
        self.problems: list[Problem] = []

    def add(self, line: int, message: str, hint: str, severity: Severity = "error") -> None:
        """A line of the file, what is wrong with it and why, and what to do instead."""
        source = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        written = source.strip()
        column = len(source) - len(source.lstrip()) + 1
        span = Span(line, column, max(1, len(written)))
        if severity == "error":
            self.problems.append(Problem("not-imported", message, hint, self.name, span, source))
        else:
            self.problems.append(Problem("not-imported", message, hint, self.name, span, source, severity="warning"))

    def in_order(self) -> tuple[Problem, ...]:
        """Every problem, from top to bottom; those of other files behind."""
        return tuple(
            sorted(self.problems, key=lambda each: (each.name != self.name, each.span.line if each.span else 0))
        )

    def mark(self, line: int) -> str:
        """What stands in a text before what was left as it is: `cuecard check` warns of it."""
        return f"{{% todo {self.name.rpartition('/')[2]}:{line} %}}"
