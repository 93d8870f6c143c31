"""What a source says about its tools, and the file that stores it so that the next import can report changes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Self

from pydantic import Field, ValidationError, model_validator

from cuecard.config.documents.document import Document, json_places
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.tools_spec import CUES, META_KEY
from cuecard.config.transcript_file import read_json
from cuecard.config.values import is_tool_name
from cuecard.errors import InputError, Problem, SpecError, visible
from cuecard.model import Json, ToolCard, ToolInstructions
from cuecard.template import clean, without_controls

LOCK_VERSION: Final = 2
"""The version of the format of locks; the first one had neither operations nor decisions of authors."""

MAX_DESCRIPTION: Final = 8_192
"""The maximum length of a description in characters; the engine truncates it there, too."""

_PARAMETER = re.compile(r"\{[^{}/]*\}")
_NO: Mapping[str, bool] = MappingProxyType({})


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

    name: str = Field(min_length=1, description="its name")
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

    version: int = Field(1, description="the version of this format")
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


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source says about itself and its tools; it is always treated as data.

    Attributes:
        name: the name that the source gives itself.
        cards: its tools, in the order of the source.
        instructions: its instructions for the source as a whole.
        meta: by tool, what it says beyond the definition.
        dropped: unusable tools, each with the reason, and other warnings.
        operations: by tool, the request that it stands for, if the source is an API.
        lines: by tool, what an entry says of it, where that is not its whole description.
    """

    name: str
    cards: tuple[ToolCard, ...]
    instructions: str = ""
    meta: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    dropped: tuple[Problem, ...] = ()
    operations: Mapping[str, Operation] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, names: Mapping[str, str]) -> Listing:
        """The listing with other names for its tools."""
        return replace(
            self,
            cards=tuple(replace(card, name=names[card.name]) for card in self.cards),
            meta={names.get(name, name): said for name, said in self.meta.items()},
            operations={names.get(name, name): operation for name, operation in self.operations.items()},
            lines={names.get(name, name): line for name, line in self.lines.items()},
        )


def lock_text(
    listing: Listing, source: str, prefix: str = "", left_out: Collection[str] = (), gone: Mapping[str, bool] = _NO
) -> str:
    """The text of a lock; equal arguments give identical bytes.

    Args:
        listing: what the source declares.
        source: the name of the source here.
        prefix: what the names of its tools begin with.
        left_out: tools that authors left out on purpose.
        gone: tools that the source no longer has, and whether authors keep their entries.
    """
    value: dict[str, Json] = {"version": LOCK_VERSION, "source": source}
    value |= {"prefix": prefix} if prefix else {}
    value |= {"instructions": listing.instructions} if listing.instructions else {}
    value["tools"] = [_tool(card, listing, left_out) for card in listing.cards]
    if gone:
        value["gone"] = [{"name": name, **({"kept": True} if kept else {})} for name, kept in sorted(gone.items())]
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


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


def with_authors_words(listing: Listing) -> Listing:
    """The listing with the instructions that the server gives its tools, for servers whose authors are trusted."""
    return replace(listing, cards=tuple(_instructed(card, listing.meta.get(card.name, {})) for card in listing.cards))


def usable(name: str, cards: tuple[ToolCard, ...]) -> Listing:
    """The tools whose names files and providers accept, cleaned."""
    hint = "the tool is skipped: names are 1 to 128 ASCII letters, digits, `_`, `-`, `.`, `:` or `/`"
    odd = [
        Problem(
            "server-tool",
            f"`{visible(card.name)[:64]}` is not a valid tool name",
            hint,
            card.source,
            severity="warning",
        )
        for card in cards
        if not is_tool_name(card.name)
    ]
    kept, changed = cleaned([card for card in cards if is_tool_name(card.name)])
    return Listing(name, kept, dropped=(*odd, *changed))


def cleaned(cards: Sequence[ToolCard]) -> tuple[tuple[ToolCard, ...], tuple[Problem, ...]]:
    """The cards without characters that prompts must not contain, and what was changed or dropped."""
    kept: list[ToolCard] = []
    problems: list[Problem] = []
    for card in cards:
        told = without_controls(card.description)
        try:
            (text, schema), removed = clean([told, dict(card.input_schema)])
        except InputError as error:
            problems.append(_note(card, error.problems[0].message, "the tool is skipped"))
            continue
        if removed := removed + len(card.description) - len(told):
            hint = "people cannot see them, but models read them: review the rest of the text as well"
            problems.append(_note(card, f"{removed} invisible or control characters were removed", hint))
        if len(text.strip()) > MAX_DESCRIPTION:
            hint = f"it is truncated after {MAX_DESCRIPTION:,}"
            problems.append(_note(card, f"its description has {len(text):,} characters", hint))
        kept.append(replace(card, description=text.strip()[:MAX_DESCRIPTION].strip(), input_schema=schema))
    return tuple(kept), tuple(problems)


def _note(card: ToolCard, message: str, hint: str) -> Problem:
    return Problem("server-tool", f"`{card.name}`: {message}", hint, card.source, severity="warning")


def _instructed(card: ToolCard, meta: Mapping[str, Json]) -> ToolCard:
    """The card with those of its instructions that are texts, if any; anything else is left out."""
    said = meta.get(META_KEY)
    if not isinstance(said, dict):
        return card
    given = {key: said[key] for key in CUES if isinstance(said.get(key), str)}
    texts = {key: told for key, text in given.items() if (told := clean(without_controls(text))[0].strip())}
    if not texts:
        return card
    phrases = said.get("phrases")
    worded = [text for text in phrases if isinstance(text, str)] if isinstance(phrases, list) else []
    known = tuple(clean(without_controls(text))[0] for text in worded)
    return replace(card, instructions=ToolInstructions(**texts), phrases=card.phrases or known)


def _tool(card: ToolCard, listing: Listing, left_out: Collection[str]) -> dict[str, Json]:
    tool: dict[str, Json] = {"name": card.name, "description": card.description, "inputSchema": dict(card.input_schema)}
    meta, operation = listing.meta.get(card.name), listing.operations.get(card.name)
    tool |= {"_meta": dict(meta)} if meta else {}
    tool |= {"operation": operation.to_json()} if operation else {}
    return tool | ({"left_out": True} if card.name in left_out else {})
