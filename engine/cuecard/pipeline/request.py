"""What a call and a step are prepared from: the arguments of the two hooks, on their way through the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from cuecard.agent import Agent
from cuecard.model import Call, FileText, History, Tokenizer, Turn


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One user message.

    Attributes:
        agent: the compiled agent.
        turn: what the host knows of the call.
        history: tool results of the conversation so far, oldest first.
        previous: the conversation's call before this one.
        kept: after a compaction, how many messages of the user stand before the new one; None without a compaction.
        now: the time, with its zone.
        count: how tokens are counted.
        before: the agent that prepared `previous`, if the host knows it; it may be another state of the same files.
    """

    agent: Agent
    turn: Turn
    history: History
    previous: Call | None
    kept: int | None
    now: datetime
    count: Tokenizer
    before: Agent | None = None

    @property
    def earlier(self) -> Agent:
        """The agent that prepared `previous`, as far as it is known."""
        return self.before or self.agent

    def with_files(self, files: Mapping[str, FileText]) -> CallRequest:
        """The same request with cleaned files, where the turn brings any."""
        return replace(self, turn=replace(self.turn, files=files)) if self.turn.files else self


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One model request of a call.

    Attributes:
        agent: the compiled agent.
        call: the call.
        history: tool results so far, oldest first.
        count: how tokens are counted.
        salt: what makes fingerprints useless for guessing; empty for none.
    """

    agent: Agent
    call: Call
    history: History
    count: Tokenizer
    salt: str = ""
