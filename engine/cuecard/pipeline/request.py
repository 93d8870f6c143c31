"""What a call and a step are prepared from: the arguments of the two hooks, on their way through the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from cuecard.agent import Agent
from cuecard.model import Call, FileText, ResultRecord, Tokenizer, Turn
from cuecard.pipeline.discovery import Found
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: the agent that prepared it, and what had been discovered by then, of that agent's tools."""

    agent: Agent
    found: Found

    @classmethod
    def of(cls, call: Call, agent: Agent, results: Iterable[ResultRecord]) -> Ended:
        """The end of a call after all results of the conversation."""
        return cls(agent, Found.before(call).more(results, agent.catalogue, cues=bool(agent.pending)))


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One user message.

    Attributes:
        agent: the compiled agent.
        turn: what the host knows of the call.
        found: what was discovered so far, in what `previous` had discovered and then.
        previous: the conversation's call before this one.
        kept: after a compaction, how many messages of the user stand before the new one; None without a compaction.
        now: the time, with its zone.
        count: how tokens are counted.
        ended: what prepared `previous`, where that is known; it may be another state of the same files.
        since: the call id of the last result before this message; None where none is known.
        lost: why `kept` is set, where the host has not said that it compacted the history.
    """

    agent: Agent
    turn: Turn
    found: Found
    previous: Call | None
    kept: int | None
    now: datetime
    count: Tokenizer
    ended: Ended | None = None
    since: str | None = None
    lost: str = ""

    @property
    def earlier(self) -> Agent:
        """The agent that prepared `previous`, as far as it is known."""
        return self.ended.agent if self.ended else self.agent

    def with_files(self, files: Mapping[str, FileText]) -> CallRequest:
        """The same request with cleaned files, where the turn brings any."""
        return replace(self, turn=replace(self.turn, files=files)) if self.turn.files else self


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One model request of a call.

    Attributes:
        agent: the compiled agent.
        call: the call.
        found: what was discovered so far, in what the call had discovered and then.
        count: how tokens are counted.
        salt: what makes fingerprints useless for guessing; empty for none.
    """

    agent: Agent
    call: Call
    found: Found
    count: Tokenizer
    salt: str = ""
