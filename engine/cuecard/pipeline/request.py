"""The requests for a call and a step: the arguments of the two hooks, as they pass through the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from cuecard.agent import Agent
from cuecard.model import Call, FileText, Tokenizer, Turn
from cuecard.pipeline.discovery import Found
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class CallRequest:
    """The request for one user message.

    Attributes:
        agent: the compiled agent.
        turn: what the host knows about the call.
        found: the discoveries so far: those of `previous` and later ones.
        previous: the conversation's previous call.
        kept: after a compaction, the number of user messages before the new one; None without a compaction.
        now: the time, with its zone.
        count: how tokens are counted.
        since: the call id of the last result before this message; None if unknown.
        lost: why `kept` is set although the host did not report a compaction.
        apart: whether texts that do not stay go into blocks of their own.
    """

    agent: Agent
    turn: Turn
    found: Found
    previous: Call | None
    kept: int | None
    now: datetime
    count: Tokenizer
    since: str | None = None
    lost: str = ""
    apart: bool = False

    def with_files(self, files: Mapping[str, FileText]) -> CallRequest:
        """The same request with cleaned files, if the turn has any."""
        return replace(self, turn=replace(self.turn, files=files)) if self.turn.files else self


@dataclass(frozen=True, slots=True)
class StepRequest:
    """The request for one step of a call.

    Attributes:
        agent: the compiled agent.
        call: the call.
        found: the discoveries so far: those at the beginning of the call and later ones.
        count: how tokens are counted.
        salt: the secret that makes fingerprints useless for guessing; empty for none.
    """

    agent: Agent
    call: Call
    found: Found
    count: Tokenizer
    salt: str = ""
