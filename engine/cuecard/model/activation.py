"""Tools that were found and are not active, and what a call of one is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Withheld:
    """A tool that was found but is not active, because its instructions are not completely in the prompt.

    Attributes:
        tool: its name.
        after_call_id: the first search result that named it; None if it has no id, or is no longer known.
        reason: why, such as `budget.protocols: 2000 tokens`.
        tokens: the tokens of its instructions.
        told: whether the prompt mentions it; if the whole budget is used up, there is no room even for that.
    """

    tool: str
    after_call_id: str | None
    reason: str
    tokens: int = 0
    told: bool = True


@dataclass(frozen=True, slots=True)
class Refusals:
    """The answers to calls of inactive tools.

    Attributes:
        tools: every tool of the agent's catalogue; the engine does not judge the host's other tools.
        inactive: the answer for a tool that a search may find; `{tool}` stands for its name.
        search: the name of the search tool, which `{search}` stands for.
        withheld: the answer by tool, for tools that were found but do not fit.
    """

    tools: tuple[str, ...] = ()
    inactive: str = ""
    search: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict)

    def text(self, tool: str) -> str | None:
        """The answer for a tool that is not active; None for one that the catalogue does not know."""
        if tool in self.withheld:
            return self.withheld[tool]
        told = self.inactive.replace("{tool}", tool).replace("{search}", self.search)
        return told if tool in self.tools else None
