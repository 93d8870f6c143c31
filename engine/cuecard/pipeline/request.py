"""What calls and steps are made from, and whether an earlier call belongs to the agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from cuecard.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Call, FileText, RunLimits, Segment, Tokenizer, Turn
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.run import NO_LIMITS
from cuecard.records import dataclass, replace


@dataclass(frozen=True)
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
        limits: the limits of the run.
        leaves: discovered tools that leave the conversation with it.
    """

    agent: Agent
    turn: Turn
    found: Discoveries
    previous: Call | None
    kept: int | None
    now: datetime
    count: Tokenizer
    since: str | None = None
    lost: str = ""
    apart: bool = False
    limits: RunLimits = NO_LIMITS
    leaves: tuple[str, ...] = ()

    def with_files(self, files: Mapping[str, FileText]) -> CallRequest:
        """The same request with cleaned files, if the turn has any."""
        return replace(self, turn=replace(self.turn, files=files)) if self.turn.files else self


@dataclass(frozen=True)
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
    found: Discoveries
    count: Tokenizer
    salt: str = ""

    @property
    def there(self) -> Collection[str]:
        """The tools that exist for the call, to look names up in."""
        return self.agent.existing(self.call.tools)


def check_previous(previous: Call | None, agent: Agent) -> None:
    """Reject a previous call of another agent: its sections and tools mean nothing here.

    Raises:
        InputError: when it belongs to another agent. Changed files or tools are allowed, and announced as changes.
    """
    if previous is not None and previous.configuration.agent != agent.spec.agent:
        raise InputError(_foreign(previous, agent, "previous"))


def check_call(call: Call, agent: Agent) -> None:
    """Reject a call made from other files or tools: a prompt must not mix two states.

    Raises:
        InputError: naming what differs, and both fingerprints.
    """
    made = call.configuration
    if made.agent != agent.spec.agent:
        raise InputError(_foreign(call, agent, "call"))
    if made.sha256 != agent.sha256:
        raise InputError(_stale("files", made.sha256, agent.sha256))
    if made.catalogue != agent.catalogue.sha256:
        raise InputError(_stale("tools", made.catalogue, agent.catalogue.sha256))
    if is_mixed(call):
        told = "the `Call` goes on from a system prompt of other files, as under `reload: append`, which was removed"
        hint = "prepare the user message again, or the next one: both begin with a new system prompt"
        raise InputError(Problem("removed-setting", told, hint, "call.configuration.reload"))


def is_mixed(call: Call) -> bool:
    """Whether the system prompt of a call was made from other files than the call, as under `reload: append`."""
    return call.prompt.origin not in {"", call.configuration.sha256}


def check_texts(call: Call | None, name: str) -> None:
    """Reject a call whose texts do not match their fingerprints, because it was edited.

    Raises:
        InputError: naming every edited part.
    """
    wrong = list(_edited(call, name)) if call else []
    if wrong:
        raise InputError(wrong)


def _edited(call: Call, name: str) -> Iterator[Problem]:
    places: tuple[tuple[str, Sequence[Segment | Appended]], ...] = (
        ("segments", call.prompt.segments),
        ("sent", call.prompt.sent),
        ("passing", call.prompt.passing),
    )
    for place, pieces in places:
        for number, piece in enumerate(pieces):
            if sha256(piece.text) != piece.sha256:
                told = f"the text of `{piece.id}` does not match its fingerprint"
                where = f"{name}.prompt.{place}[{number}]"
                yield Problem("edited-call", told, "pass the `Call` unchanged", where)


def _foreign(call: Call, agent: Agent, name: str) -> Problem:
    told = f"the `Call` belongs to the agent `{call.configuration.agent}`, not to `{agent.spec.agent}`"
    return Problem("foreign-call", told, "use the engine that prepared it", name)


def _stale(what: str, made: str, here: str) -> Problem:
    told = f"the `Call` was prepared from other {what}: {made[:12] or 'none'}, while this engine has {here[:12]}"
    hint = "use one engine for all requests of a user message (as `Pins` does), or prepare the message again"
    return Problem("stale-call", told, hint, "call.configuration")
