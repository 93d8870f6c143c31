"""The nouns of the catalogue: a tool, its instructions, and what a search finds."""

from __future__ import annotations

from dataclasses import field

from cuecard.model.boundary import FilledText, JsonObject
from cuecard.model.prompt import Diagnostic
from cuecard.model.values import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class ToolInstructions:
    """What to do BEFORE and AFTER a tool, what comes NEXT, and its GOTCHA: texts, lines separated by newlines.

    An empty text is absent: the prompt has no line for it.
    """

    before: str = ""
    after: str = ""
    next: str = ""
    gotcha: str = ""


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One tool of the catalogue. `source` is `file:line` of its instructions, or the server it came from."""

    name: FilledText
    description: str = ""
    input_schema: JsonObject = field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    category: str = ""
    instructions: ToolInstructions | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that a search found, and its score from 0 to 1."""

    tool: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of the search tool: hits, best first, a message for the model, and a confidence (0 to 1).

    `diagnostics` are only for the host: problems with a custom ranker. `withheld` are tools that fit the query and have
    no room in the running call. The conversation remembers them, so that a later call may have room.
    """

    hits: tuple[Hit, ...]
    message: str
    confidence: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    withheld: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, best first."""
        return tuple(hit.tool for hit in self.hits)

    def to_json(self) -> dict[str, Json]:
        """`{"tools": [...], "message": "..."}`, the form the model sees; with `withheld` where some have no room."""
        more: dict[str, Json] = {"withheld": list(self.withheld)} if self.withheld else {}
        return {"tools": list(self.tools), **more, "message": self.message}
