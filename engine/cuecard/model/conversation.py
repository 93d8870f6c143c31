"""A conversation so far, as plain data: what a host stores between two messages of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from cuecard.model.boundary import Count
from cuecard.model.call import Call
from cuecard.model.stored import from_json, to_json
from cuecard.model.values import Json, Memory
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """What is kept of a tool result: everything that later prompts depend on, but not its body.

    Attributes:
        tool: the tool's name.
        call_id: the id of the tool call that it answers; None if the host has none.
        found: the names in it, if the tool is the search tool, including names that no catalogue knows.
        is_error: whether the tool failed.
        pending: whether the tool is waiting for confirmation and has done nothing yet.
        batch: an id shared by the results of calls that the model made in one message; None if unknown.
        unread: the shape of a search result that could not be read; empty if everything was read.
    """

    tool: str
    call_id: str | None = None
    found: tuple[str, ...] = ()
    is_error: bool = False
    unread: str = ""
    pending: bool = False
    batch: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation so far.

    Attributes:
        call: the most recently prepared call; None before the first.
        results: every result, oldest first.
        calls: the tools of calls that have no result yet, by call id.
        memory: the working memory.
        kept: after a compaction that no call has followed yet, the number of user messages that the host has kept;
            otherwise None.
        there: the tools that exist now, if the host has told the model that some came or went within the run.
    """

    call: Call | None = None
    results: tuple[ResultRecord, ...] = ()
    calls: Mapping[str, str] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    kept: Count | None = None
    there: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Json]:
        """The state as plain JSON; `ConversationState.from_json` gives an equal one back."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Json, name: str = "ConversationState.from_json") -> ConversationState:
        """The state that `to_json` wrote; errors call it `name`.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data, name, code="bad-conversation")
