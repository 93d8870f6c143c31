"""The call: everything that the steps of one run need, as plain data that travels with the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cuecard.errors import InputError, Problem
from cuecard.model.prompt import Appended, Cut, Discovery, Segment, TokenSource
from cuecard.model.values import Delivery, Json, ReloadPolicy

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class Call:
    """One run of the agent for one user message, prepared.

    Attributes:
        agent: the agent's name.
        spec_sha256: the configuration this call was made from.
        delivery: where step-tier text goes during this call.
        segments: the system prompt with nothing discovered in this run; what `append` delivery sends at every step.
        values: cleaned values that the step-tier sections read again.
        tools: names of the tools that exist for this call, in catalogue order.
        initial: tools whose protocols stand in `segments`: the core tools, then those of `Turn.discovered`.
        discovered: what the history before this call had discovered, in order of first discovery.
        cuts: what was left out so far, with reasons.
        trust: how often each kind of hostile or invisible text was neutralised.
        tokens: which table counted.
        shown: the text of each section as the model saw it last.
        turn: the number of this call in its conversation, from 0.
        sent: blocks that earlier calls of the conversation appended, and what this one has to say first.
        sent_tools: the discovered tools whose protocols are in `sent`.
        reload: the policy by which the engine was chosen, if its files are watched.
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
        hint="pass on what Call.to_json() gave, unchanged",
        name="Call.from_json",
    )
