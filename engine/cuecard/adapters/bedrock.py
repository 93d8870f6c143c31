"""The arguments of `converse` and `converse_stream` of Amazon Bedrock, as plain dicts in the names of boto3."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from cuecard.adapters.bodies import (
    Body,
    Message,
    ToolBody,
    body_rules,
    order_tools,
    profile_of,
    reminder,
    system_pieces,
    tool_choice,
)
from cuecard.adapters.content_places import NO_ANSWER, NO_RESULT, Blocks, Ends, filled, is_empty, place
from cuecard.adapters.lifetimes import check_lifetimes
from cuecard.config.model_profile import ModelProfile, bare_name
from cuecard.errors import InputError, Problem
from cuecard.model import Step
from cuecard.model.boundary import FilledText, checked

Lifetime: TypeAlias = Literal["5m", "1h"]

ENDPOINT = "https://bedrock-runtime.us-east-1.amazonaws.com"
"""The service, in any region: what is known of it does not depend on that."""

_APART = re.compile(r"(?:^|[./])(?:meta|mistral|cohere)\.")
"""Ids of models that refuse a text in the message that holds the results of tools."""


@checked(also=body_rules("bedrock"))
def request(
    step: Step,
    messages: Iterable[Message],
    *,
    model: FilledText | ModelProfile,
    tools: Iterable[ToolBody] = (),
    base_url: str = ENDPOINT,
    lifetime: Lifetime = "5m",
    system_lifetime: Lifetime | None = None,
) -> Body:
    """The arguments of one request, the messages last; add `inferenceConfig` and anything else you need.

    Appended blocks are `<system-reminder>` texts in the user's turn, after the tool results they belong to, since no
    operator role mid-conversation is known here. Consecutive messages of one role are merged, because Converse wants
    roles to alternate and all results of parallel calls in one message. The function sets all cache points and removes
    the host's: after the static part of the system prompt and after all of it (if the model's minimum is reached),
    after the last message, and where the previous request ended. Models that are not known to accept cache points get
    none. Tools need no point of their own, because a point also caches everything before it.

    Args:
        step: the step from `prepare_step`.
        messages: the conversation so far, without the system prompt; blocks placed earlier are recognised.
        model: the id of the model or of an inference profile, with or without `bedrock:`; or a profile. The id of an
            application inference profile says nothing about its model: name that in a `ModelProfile`.
        tools: every tool of the conversation, not only the active ones; otherwise the first discovery breaks the
            prompt cache.
        base_url: where the request goes, if not to the service itself.
        lifetime: how long a cache point lives; `1h` is for models that offer it.
        system_lifetime: the lifetime of the cache points in the system prompt, if it is longer.

    Raises:
        InputError: with everything that is wrong in an argument; when a block has no user message to go with, or stands
            beside results where the model refuses that; when the system prompt would live shorter than the messages.
        RunLimitError: when a limit of the run allows no further request.
    """
    model = profile_of(model, base_url)
    ordered = order_tools([tool for tool in tools if "cachePoint" not in tool], step)
    turns = place(_merged(_bare(messages)), step, model, _BLOCKS)
    _check_apart(turns, step, model)
    points = 0 if model.provider == "openai" else model.breakpoints  # OpenAI's own breakpoints are none of Bedrock's
    ends = Ends.of(turns, step, _BLOCKS).places
    pieces = system_pieces(step, model, ordered, points - max(1, len(ends) - 1))
    system = [
        block
        for text, marked in pieces
        for block in (_text(text), *([_point(system_lifetime or lifetime)] if marked else []))
    ]
    choice = tool_choice(step, "bedrock", ordered, model)
    body: Body = {
        "modelId": bare_name(model.name),
        **({"toolConfig": {"tools": ordered, **choice}} if ordered else {}),
        **({"system": system} if system else {}),
        "messages": _marked(turns, ends[: max(0, points - sum(marked for _, marked in pieces))], lifetime),
    }
    check_lifetimes(body)
    return body


def _text(text: str) -> Body:
    return {"text": text}


def _point(lifetime: Lifetime) -> Body:
    return {"cachePoint": {"type": "default", **({} if lifetime == "5m" else {"ttl": lifetime})}}


def _call(block: Message) -> str | None:
    result = block.get("toolResult")
    return None if result is None else result["toolUseId"]


_BLOCKS = Blocks(_text, _call, lambda block: "reasoningContent" in block)


def _bare(messages: Iterable[Message]) -> list[Body]:
    """The messages without cache points and empty texts; the service refuses messages without content."""
    bare: list[Body] = []
    for message in messages:
        content = [_told(block) for block in message["content"] if "cachePoint" not in block and not is_empty(block)]
        if content or message["role"] == "assistant":
            bare.append({**message, "content": content or [_text(NO_ANSWER)]})
    return bare


def _told(block: Body) -> Body:
    """A block; a tool result without anything to read says so."""
    result = block.get("toolResult")
    if result is None:
        return block
    return {**block, "toolResult": {**result, "content": filled(result.get("content") or (), _text(NO_RESULT))}}


def _merged(turns: Iterable[Body]) -> list[Body]:
    """The messages with neighbours of one role joined, since the service wants the roles to alternate."""
    merged: list[Body] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            merged[-1] = {**merged[-1], "content": [*merged[-1]["content"], *turn["content"]]}
        else:
            merged.append(turn)
    return merged


def _check_apart(turns: Sequence[Body], step: Step, model: ModelProfile) -> None:
    """Refuse blocks beside results for a model that would.

    Raises:
        InputError: naming each message that has both.
    """
    ours = [_text(reminder(block.text, step.reminder)) for block in step.appended]
    if not ours or not _APART.search(model.name):
        return
    hint = 'set `delivery: rewrite`, or `Turn(host="system-only")`: instructions then go into the system prompt'
    problems = [
        Problem("text-beside-results", f"`{model.name}` accepts no text in a message with tool results", hint, place_)
        for place_, turn in ((f"messages[{at}]", turn) for at, turn in enumerate(turns))
        if _BLOCKS.result_ids(turn) and any(block in ours for block in turn["content"])
    ]
    if problems:
        raise InputError(problems)


def _marked(turns: Sequence[Body], ends: Sequence[tuple[int, int]], lifetime: Lifetime) -> list[Body]:
    """The messages with a cache point at each of these places, or at the last one before it that is not the model's.

    The service looks back some twenty blocks from a cache point. A step with many parallel calls is longer; a point at
    the place of the last one finds the entry however much came since.
    """
    asked = [place_ for place_, turn in enumerate(turns) if turn["role"] != "assistant" and turn["content"]]
    points = [
        end if end[0] == places[-1] else (places[-1], len(turns[places[-1]]["content"]))
        for end in ends
        if (places := [place_ for place_ in asked if place_ <= end[0]])
    ]
    placed = list(turns)
    for place_, before in sorted(dict.fromkeys(points), reverse=True):
        content = placed[place_]["content"]
        placed[place_] = {**placed[place_], "content": [*content[:before], _point(lifetime), *content[before:]]}
    return placed
