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
    """Where an argument goes in a request."""

    place: str = Field(alias="in", description="path, query, header, formData or body")
    name: str | None = Field(None, description="its name there; by default the argument's, and empty for a whole body")


class Operation(FileModel):
    """What a request of an API is made of."""

    method: str = Field(description="its method, such as GET")
    path: str = Field(description="its path, with parameters in braces")
    id: str = Field("", description="its `operationId`; empty if it has none")
    tags: list[str] = Field(default_factory=list, description="its tags; the first one is its category")
    arguments: dict[str, Place] = Field(default_factory=dict, description="by argument, where it goes")

    @property
    def key(self) -> tuple[str, str]:
        """Method and path, whatever the path's parameters are called."""
        return self.method.upper(), _PARAMETER.sub("{}", self.path)

    def to_json(self) -> dict[str, Json]:
        """The operation as plain JSON."""
        return self.model_dump(by_alias=True, exclude_defaults=True)


class LockedTool(FileModel):
    """A tool as the source declared it."""

    name: ToolName = Field(description="its name")
    description: str = Field("", description="its description")
    input_schema: dict[str, Json] = Field(default_factory=dict, alias="inputSchema", description="its arguments")
    meta: dict[str, Json] = Field(default_factory=dict, alias="_meta", description="what a server says beyond that")
    operation: Operation | None = Field(None, description="the request that it stands for")
    left_out: bool = Field(default=False, description="whether its authors have no entry for it, on purpose")

    @property
    def card(self) -> ToolCard:
        """The tool as a card."""
        return ToolCard(self.name, self.description, self.input_schema)


class RemovedTool(FileModel):
    """A tool that the source no longer has, and the agent's files still do."""

    name: str = Field(min_length=1, description="its name")
    kept: bool = Field(default=False, description="whether its authors keep the entry on purpose")


class Lock(FileModel):
    """The file that stores what a source declared at the last import, and what authors decided on it."""

    version: int = Field(1, ge=1, description="the version of this format")
    source: str = Field("", description="the name of the source here, which no new title changes")
    prefix: str = Field("", description="what the names of its tools begin with here")
    instructions: str = Field("", description="its instructions for the source as a whole")
    tools: list[LockedTool] = Field(description="its tools, in its order")
    gone: list[RemovedTool] = Field(default_factory=list, description="tools that it no longer has")

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
