"""The call: everything that the steps of one run need, as plain data that travels with the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from cuecard.errors import InputError, Problem
from cuecard.model.messages import Message
from cuecard.model.prompt import Appended, Cut, Diagnostic, Discovery, Segment, SourceRow, TokenSource
from cuecard.model.values import Authority, Delivery, Host, Json, ReloadPolicy

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Call:
    """One run of the agent for one user message, prepared.

    Attributes:
        agent: the agent's name.
        spec_sha256: the configuration this call was made from.
        delivery: where step-tier text goes during this call.
        delivery_reason: why it goes there.
        model: the name of the model, as the turn gave it.
        host: what the host can change in mid-conversation.
        authority: with whose words instructions reach the model that are not there from the start.
        segments: the system prompt with nothing discovered in this run; what `append` delivery sends at every step.
        values: cleaned values that the step-tier sections read again.
        tools: names of the tools that exist for this call, in catalogue order.
        initial: tools active from the start: the core tools, then those discovered earlier whose protocols stand in
            `segments` (before a compaction, or by `Turn.discovered`).
        earlier: those of them that are no core tools, whether they exist in this call or not.
        base: every tool whose protocol stands in `segments`, whether it exists in this call or not.
        discovered: what the history before this call had discovered, in order of first discovery.
        cuts: what was left out so far, with reasons.
        trust: how often each kind of hostile or invisible text was neutralised.
        tokens: which table counted.
        shown: the text of each section as the model saw it last.
        turn: the number of this call in its conversation, from 0.
        sent: blocks that earlier calls of the conversation appended, and what this one has to say first.
        sent_tools: the discovered tools whose protocols are in `sent`.
        reload: the policy by which the engine was chosen, if its files are watched.
        profile: which set of sections it has.
        variant: which changes on top of the profile.
        messages: the conversation as the model gets it, system prompt and current message with it; empty where the host
            keeps the conversation to itself.
        diagnostics: what was wrong with sources of sections without stopping the prompt.
        sources: the files and other sources that sections looked at.
        inputs: a fingerprint for each of `values`, for the manifest; never salted, as the values stand beside them.
    """

    agent: str
    spec_sha256: str
    delivery: Delivery
    segments: tuple[Segment, ...]
    values: Mapping[str, Json]
    tools: tuple[str, ...]
    initial: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    cuts: tuple[Cut, ...]
    trust: Mapping[str, int]
    tokens: TokenSource
    shown: Mapping[str, str]
    turn: int = 0
    sent: tuple[Appended, ...] = ()
    sent_tools: tuple[str, ...] = ()
    reload: ReloadPolicy | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    delivery_reason: str = ""
    model: str = ""
    host: Host = "messages"
    authority: Authority = "unknown"
    earlier: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    profile: str = ""
    variant: str = ""
    messages: tuple[Message, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The call as plain JSON; `Call.from_json` gives an equal call back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> Call:
        """The call that `to_json` wrote.

        Raises:
            InputError: naming every field that is missing, unknown or of the wrong type.
        """
        from pydantic import ValidationError  # noqa: PLC0415 - only hosts that store calls pay for it

        try:
            return _adapter().validate_python(data)
        except ValidationError as error:
            raise InputError(_problem(e) for e in error.errors(include_input=False, include_url=False)) from None


@cache
def _adapter() -> TypeAdapter[Call]:
    from pydantic import ConfigDict, TypeAdapter, with_config  # noqa: PLC0415 - only hosts that store calls pay for it

    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(Call))


def _problem(error: Any) -> Problem:
    place = ".".join(str(part) for part in error["loc"]) or "the call"
    return Problem(
        code="bad-call",
        message=f"`{place}`: {error['msg']}",
        advice="pass on what Call.to_json() gave, unchanged",
        name="Call.from_json",
    )
