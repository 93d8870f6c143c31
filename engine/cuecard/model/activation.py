"""Tools that were found and are not active, and what a call of one is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Withheld:
    """A tool that was found and is not active, because its instructions are not in the prompt as a whole.

    Attributes:
        tool: its name.
        after_call_id: the search result that named it first; None where that has no id, or is known no more.
        reason: why, such as `budget.protocols: 2000 tokens`.
        tokens: what its instructions take.
        told: whether the prompt says so; where the whole budget is spent, there is no room even for that.
    """

    tool: str
    after_call_id: str | None
    reason: str
    tokens: int = 0
    told: bool = True


@dataclass(frozen=True, slots=True)
class Refusals:
    """What calls of tools are answered that are not active.

    Attributes:
        tools: every tool of the agent's catalogue; a host's other tools are none of the engine's business.
        inactive: what to do instead, of a tool that a search may find: `{tool}` stands for its name.
        search: the name of the search tool, for which `{search}` stands.
        withheld: what to do instead, by tool, of those that were found and have no room.
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
