"""What the provider payloads share: where appended blocks go, how the system prompt is cut, the order of tools."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from cuecard.config.models_file import ModelProfile
from cuecard.config.values.placeholders import fill
from cuecard.errors import InputError, Problem
from cuecard.model import Appended, Segment, Step
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


def homes(
    messages: Sequence[Message],
    blocks: Iterable[Appended],
    *,
    results: Callable[[Message], tuple[str, ...]],
    is_user: Callable[[Message], bool],
) -> dict[int, list[Appended]]:
    """The position of the message that each block goes with, the blocks in their order.

    A block with `after_call_id` goes with the last result of its batch: results that follow each other. When the host
    has dropped that result, it goes with the first message, since all that it could follow is gone. A block with `turn`
    goes with that message of the user, tool results not counted; a block with neither, or of a turn that is not there,
    with the last message that is not the model's.

    Args:
        messages: the conversation, without blocks.
        blocks: what has to be placed.
        results: the call ids of the tool results in a message.
        is_user: whether a message is the user's.

    Raises:
        InputError: when there is no message that a block could go with.
    """
    ids = [results(message) for message in messages]
    users = [place for place, message in enumerate(messages) if is_user(message) and not ids[place]]
    anchors = [place for place in range(len(messages)) if ids[place] or place in users]
    found: dict[int, list[Appended]] = defaultdict(list)
    for block in blocks:
        if not anchors:
            raise InputError(
                Problem(
                    "no-user-message", "no message that a block could follow", "pass the user's message", "messages"
                )
            )
        found[_home(ids, users, anchors, block)].append(block)
    return found


def _home(ids: Sequence[tuple[str, ...]], users: Sequence[int], anchors: Sequence[int], block: Appended) -> int:
    if block.after_call_id is not None:
        place = next((place for place, held in enumerate(ids) if block.after_call_id in held), None)
        if place is None:
            return anchors[0]
        while place + 1 < len(ids) and ids[place + 1]:
            place += 1
        return place
    if block.turn is not None and block.turn < len(users):
        return users[block.turn]
    return anchors[-1]


def place_after(
    messages: Iterable[Message],
    blocks: Sequence[Appended],
    make: Callable[[str], Body],
    *,
    results: Callable[[Message], tuple[str, ...]],
    is_user: Callable[[Message], bool],
) -> list[Body]:
    """The messages with each block as a message of its own, exactly once, however often this is asked for.

    Arguments and errors are those of `homes`; `make` turns the text of a block into a message.
    """
    made = {block.text: make(block.text) for block in blocks}
    ours = list(made.values())
    bare = [dict(message) for message in messages if message not in ours]
    found = homes(bare, blocks, results=results, is_user=is_user)
    return [
        item
        for place, message in enumerate(bare)
        for item in (message, *(dict(made[block.text]) for block in found.get(place, ())))
    ]


def system_pieces(step: Step, profile: ModelProfile, tools: Sequence[Message], limit: int) -> list[tuple[str, bool]]:
    """The system prompt in at most two pieces, and whether a cache breakpoint belongs after each.

    The first is what seldom changes: up to the boundary of the layout, or else the static segments at the start. A
    breakpoint pays only where tools and text up to it reach the model's minimum; the first `limit` of those are marked.
    """
    stable = stable_part(step.segments)
    cuts = [step.segments[:stable], step.segments[stable:]]
    if not all(_text(cut).strip() for cut in cuts):  # a block of spaces alone is refused
        cuts = [step.segments]
    pieces: list[tuple[str, bool]] = []
    before = _rough_tokens(tools)
    for cut in cuts:
        before += sum(segment.tokens for segment in cut) * profile.token_factor
        marked = before >= profile.min_cache_tokens and sum(mark for _, mark in pieces) < limit
        pieces.append((_text(cut), marked))
    return [piece for piece in pieces if piece[0].strip()]


def _text(segments: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def _rough_tokens(tools: Sequence[Message]) -> float:
    # JSON costs a token for every two or three characters. Too high a guess costs nothing: a breakpoint below the
    # minimum writes no entry.
    return sum(len(json.dumps(tool)) for tool in tools) / 2.5


def order_tools(tools: Iterable[Message], step: Step) -> list[Body]:
    """Tools in an order that neither discovery nor the host changes: as active from the start, then by name.

    Discovered tools keep the place they had before, because tools stand before everything else in a cached prefix.
    """
    first = {name: place for place, name in enumerate(step.initial_tools)}

    def rank(tool: Message) -> tuple[int, str]:
        return first.get(tool_name(tool), len(first)), tool_name(tool)

    return [dict(tool) for tool in sorted(tools, key=rank)]


def tool_name(tool: Message) -> str:
    """The name of a tool, in whichever form it is written."""
    return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type", ""))
