"""The nouns of the catalogue: cards, what a search finds, skills, and tools that are withheld."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import TypeAlias

from cuecard.model.boundary import FilledText, JsonObject
from cuecard.model.prompt import Diagnostic
from cuecard.model.storage import LATER
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


DEFINITIONS = "budget.definitions: "
"""The beginning of the reason why there is no room for a definition."""

Categories: TypeAlias = Mapping[str, tuple[str, ...]] | tuple[str, ...]
"""The tools of each category; or the names of categories alone."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of the search tool: hits, best first, a message for the model, and a confidence (0 to 1).

    `diagnostics` are only for the host: problems with a custom ranker. `withheld` are tools that fit the query and have
    no room in the running call. The conversation remembers them, so that a later call may have room. `categories` are
    what there is to find, where a search found nothing; no tool is discovered by being named there.
    """

    hits: tuple[Hit, ...]
    message: str
    confidence: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    withheld: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] | tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools, best first."""
        return tuple(hit.tool for hit in self.hits)

    def to_json(self) -> dict[str, Json]:
        """`{"tools": [...], "message": "..."}`, the form the model sees.

        With `withheld` where some have no room, and with `categories` where nothing was found.
        """
        more: dict[str, Json] = {"withheld": list(self.withheld)} if self.withheld else {}
        if isinstance(self.categories, tuple):
            more |= {"categories": list(self.categories)} if self.categories else {}
        else:
            more["categories"] = {name: list(tools) for name, tools in self.categories.items()}
        return {"tools": list(self.tools), **more, "message": self.message}


@dataclass(frozen=True, slots=True)
class WithheldTool:
    """A tool that was found but is not active, because its instructions or its definition have no room.

    Attributes:
        tool: its name.
        after_call_id: the first search result that named it; None if it has no id, or is no longer known.
        reason: why, such as `budget.protocols: 2000 tokens`.
        tokens: the tokens of what has no room.
        told: whether the prompt mentions it; if the whole budget is used up, there is no room even for that.
    """

    tool: str
    after_call_id: str | None
    reason: str
    tokens: int = 0
    told: bool = True

    @property
    def lacks_definition(self) -> bool:
        """Whether it is the definition that has no room."""
        return self.reason.startswith(DEFINITIONS)


@dataclass(frozen=True)
class Refusals:
    """The answers to calls of inactive tools, and of tools that a limit of the run refuses.

    Attributes:
        tools: every tool of the agent's catalogue; the engine does not judge the host's other tools.
        inactive: the answer for a tool that a search may find; `{tool}` stands for its name.
        search: the name of the search tool, which `{search}` stands for.
        withheld: the answer by tool, for tools that were found but do not fit.
        limited: the answer by tool, for tools that have failed too often.
        others: the answer for every other tool, if a limit refuses all; empty if none does.
        first: the tool that has to be called before others; calls beside it, in the same answer of the model, are not
            too early. Empty if there is none, or it has been called.
        always: tools that no limit refuses.
    """

    tools: tuple[str, ...] = ()
    inactive: str = ""
    search: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict)
    limited: Mapping[str, str] = field(default_factory=dict, metadata=LATER)
    others: str = field(default="", metadata=LATER)
    first: str = field(default="", metadata=LATER)
    always: tuple[str, ...] = field(default=(), metadata=LATER)

    def over_limit(self, tool: str, beside: Collection[str] = ()) -> str | None:
        """The answer for a tool that a limit of the run refuses; None if none does.

        Args:
            tool: the tool.
            beside: the tools that the model calls in the same answer.
        """
        if tool in self.always:
            return None
        if tool in self.limited:
            return self.limited[tool]
        if not self.others or self.first in {tool, *beside} or tool not in {*self.tools, self.search}:
            return None
        return self.others.replace("{tool}", tool)

    def text(self, tool: str) -> str | None:
        """The answer for a tool that is not active; None for one that the catalogue does not know."""
        if tool in self.withheld:
            return self.withheld[tool]
        told = self.inactive.replace("{tool}", tool).replace("{search}", self.search)
        return told if tool in self.tools else None


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder with a `SKILL.md`, as the Agent Skills specification has it: instructions that a model reads on demand.

    Attributes:
        slug: the folder's name; what tools call the skill by.
        name: the display name, on one line.
        description: what it does and when to use it, without white space around it.
        path: the location of its `SKILL.md`, relative to the agent file.
        body: the instructions: the file without its front matter.
        auto_load: whether the body belongs into the list from the start.
        requires_env: names of environment variables without which it is not shown.
        requires_tools: names of tools without which it is not shown.
        auth_profiles: names of the profiles that its calls sign in with, sorted, each once.
        paths: glob patterns of the files that it is for.
        enabled: whether it may be used at all.
        source: the root it was found in, as the agent file writes it.
        shadowed_by: the `SKILL.md` of an earlier root that has the same slug and so stands for this one.
    """

    slug: str
    name: str
    description: str
    path: str = ""
    body: str = ""
    auto_load: bool = False
    requires_env: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    auth_profiles: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    enabled: bool = True
    source: str = ""
    shadowed_by: str = ""


@dataclass(frozen=True, slots=True)
class SkillText:
    """The answer to reading a skill: a text within its limit, or a message that says why there is none.

    Attributes:
        slug: the skill, by its true name if it was found.
        file: the requested file in its folder; empty for the instructions themselves.
        text: what was read.
        message: a note for the model; empty if everything is fine.
        found: whether there is such a text.
        truncated: whether the limit cut it.
    """

    slug: str
    file: str = ""
    text: str = ""
    message: str = ""
    found: bool = False
    truncated: bool = False

    def to_json(self) -> dict[str, Json]:
        """`{"skill": ..., "file": ..., "text": ..., "message": ...}` without what is empty: the form the model sees."""
        fields = {"skill": self.slug, "file": self.file, "text": self.text, "message": self.message}
        return {key: value for key, value in fields.items() if value}
