"""The lock of a source of tools: what it declared at the last import, and what authors decided on it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, Self

from pydantic import Field, ValidationError, model_validator

from cuecard.config.documents.document import Document, json_places
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.transcript_file import read_json
from cuecard.config.values import ToolName
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard

LOCK_VERSION: Final = 2
"""The version of the format; the first one had neither operations nor decisions of authors."""

_PARAMETER = re.compile(r"\{[^{}/]*\}")


class Place(FileModel):
    """Where an argument goes in a request: `name` is its name there, by default the argument's, and empty for a whole
    body.
    """

    place: str = Field(alias="in", description="path, query, header, formData or body")
    name: str | None = None


class Operation(FileModel):
    """What a request of an API is made of.

    Attributes:
        id: its `operationId`; empty if it has none.
        tags: the first one is its category.
        arguments: by argument, where it goes.
    """

    method: str = Field(description="its method, such as GET")
    path: str = Field(description="its path, with parameters in braces")
    id: str = ""
    tags: list[str] = Field(default_factory=list)
    arguments: dict[str, Place] = Field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Method and path, whatever the path's parameters are called."""
        return self.method.upper(), _PARAMETER.sub("{}", self.path)

    def to_json(self) -> dict[str, Json]:
        """The operation as plain JSON."""
        return self.model_dump(by_alias=True, exclude_defaults=True)


class LockedTool(FileModel):
    """A tool as the source declared it.

    Attributes:
        meta: what a server says beyond the definition.
        operation: the request that it stands for.
        left_out: whether its authors have no entry for it, on purpose.
    """

    name: ToolName = Field(description="its name")
    description: str = ""
    input_schema: dict[str, Json] = Field(default_factory=dict, alias="inputSchema")
    meta: dict[str, Json] = Field(default_factory=dict, alias="_meta")
    operation: Operation | None = None
    left_out: bool = False

    @property
    def card(self) -> ToolCard:
        """The tool as a card."""
        return ToolCard(self.name, self.description, self.input_schema)


class RemovedTool(FileModel):
    """A tool that the source no longer has, and the agent's files still do; `kept` on purpose or not."""

    name: str = Field(min_length=1, description="its name")
    kept: bool = False


class Lock(FileModel):
    """The file that stores what a source declared at the last import, and what authors decided on it.

    Attributes:
        version: the version of this format.
        source: the name of the source here, which no new title changes.
        prefix: what the names of its tools begin with here.
        instructions: its instructions for the source as a whole.
        gone: tools that it no longer has.
    """

    version: int = Field(1, ge=1)
    source: str = ""
    prefix: str = ""
    instructions: str = ""
    tools: list[LockedTool] = Field(description="its tools, in its order")
    gone: list[RemovedTool] = Field(default_factory=list)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for what, names in (("tools", self.tools), ("gone", self.gone)):
            times = Counter(each.name for each in names)
            if twice := [name for name, count in times.items() if count > 1]:
                raise ValueError(f"names a tool twice under `{what}`: {', '.join(twice[:5])}")
        return self


def read_lock(text: str, name: str) -> Lock:
    """The lock that a text contains.

    Raises:
        SpecError: when it is none, or of a later version.
    """
    value = read_json(text, name)
    restore = "restore it from version control; without it, what authors left out on purpose would come back"
    if not isinstance(value, dict) or "tools" not in value:
        raise SpecError(Problem("wrong-value", "this is not a file of `cuecard tools import`", restore, name))
    version = value.get("version", 1)
    if isinstance(version, int) and version > LOCK_VERSION:
        message = f"written by a later version of cuecard (format {version}; this one knows up to {LOCK_VERSION})"
        raise SpecError(Problem("wrong-value", message, "upgrade cuecard; nothing was changed", name))
    try:
        return Lock.model_validate(value)
    except ValidationError:  # only a wrong file is read again, to find the places of its values
        return validate(Document(name, text, value, *json_places(text)), Lock)
