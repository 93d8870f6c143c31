"""What the provider payloads share: the reminder, how the system prompt is cut, the order of tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cuecard.config.model_profile import ModelProfile
from cuecard.config.values.placeholders import fill
from cuecard.model import Segment, Step
from cuecard.model.prompt import REMINDER
from cuecard.pipeline.segments import stable_part

Message: TypeAlias = Mapping[str, Any]
"""A message, item or tool in a provider's own form, as plain JSON."""

Body: TypeAlias = dict[str, Any]
"""A request body, or a part of one."""


def reminder(text: str, form: str = REMINDER) -> str:
    """A block for places where no role has more authority than the user: the documented fallback for Claude.

    Anything that writes into user turns can forge it, so a role with authority is always the first choice. `form` is
    the `reminder` of the step.
    """
    return fill(form, {"text": text})


def system_pieces(step: Step, profile: ModelProfile, tools: Sequence[Message], limit: int) -> list[tuple[str, bool]]:
    """The system prompt in at most two pieces, and whether a cache breakpoint belongs after each.

    The first is what seldom changes: up to the boundary of the layout, or else the static segments at the start. A
    breakpoint pays only where tools and text up to it reach the model's minimum; the first `limit` of those are marked.
    """
    stable = stable_part(step.segments)
    cuts = [step.segments[:stable], step.segments[stable:]]
    if not all(_joined(cut).strip() for cut in cuts):  # a block of spaces alone is refused
        cuts = [step.segments]
    pieces: list[tuple[str, bool]] = []
    before = _rough_tokens(tools)
    for cut in cuts:
        before += sum(segment.tokens for segment in cut) * profile.token_factor
        marked = before >= profile.min_cache_tokens and sum(mark for _, mark in pieces) < limit
        pieces.append((_joined(cut), marked))
    return [piece for piece in pieces if piece[0].strip()]


def _joined(segments: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def _rough_tokens(tools: Sequence[Message]) -> float:
    # JSON costs a token for every two or three characters. Too high a guess costs nothing: a breakpoint below the
    # minimum writes no entry.
    return sum(len(json.dumps(tool)) for tool in tools) / 2.5


def order_tools(tools: Iterable[Message], step: Step) -> list[Body]:
    """Tools in an order that neither discovery, nor a withdrawal, nor the host changes: by the baseline, then by name.

    Discovered tools keep the place they had before, and withdrawn ones stay, because tools stand before everything else
    in a cached prefix. The search tool is left out where the conversation has none.
    """
    first = {name: place for place, name in enumerate(step.base_tools or step.initial_tools)}

    def rank(tool: Message) -> tuple[int, str]:
        return first.get(tool_name(tool), len(first)), tool_name(tool)

    return [dict(tool) for tool in sorted(tools, key=rank) if is_offered(tool_name(tool), step)]


def is_offered(tool: str, step: Step) -> bool:
    """Whether requests of the conversation have a tool: all of the host's, and the search tool if it was decided so."""
    return step.offers_search or tool != step.refusals.search


def tool_name(tool: Message) -> str:
    """The name of a tool, in whichever form it is written."""
    inner = tool.get("function") or tool.get("toolSpec") or tool.get("systemTool") or {}
    return str(tool.get("name") or inner.get("name") or tool.get("type", ""))
