"""Promise 5 on the wire: request n starts with request n-1, in the form that each provider receives."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings

from cuecard import Entity
from cuecard.adapters import anthropic, bedrock, gemini, openai
from unit.providers import talk
from unit.providers.talk import CALLS, PROFILES, Event, Json, Moment

Calls = list[tuple[list[Entity], list[talk.Batch], int]]


@dataclass(frozen=True)
class Shape:
    """How a conversation is written for a provider, and the request made of it."""

    name: str
    form: Callable[[Sequence[Event]], list[Json]]
    request: Callable[..., Json]

    def send(self, moment: Moment) -> Json:
        return self.request(moment.step, self.form(moment.events))


def claude(name: str, *, defer: bool = False) -> Shape:
    make = partial(anthropic.request, model=PROFILES.find(name), tools=talk.schemas(), defer=defer)
    return Shape(f"{name}{'-deferred' if defer else ''}", talk.anthropic_messages, make)


def responses(name: str) -> Shape:
    make = partial(openai.responses_request, model=PROFILES.find(name), tools=talk.functions())
    return Shape(f"responses-{name}", talk.response_items, make)


def chat(name: str) -> Shape:
    make = partial(openai.chat_request, model=PROFILES.find(name), tools=talk.chat_tools())
    return Shape(f"chat-{name}", talk.chat_messages, make)


def converse(name: str) -> Shape:
    make = partial(bedrock.request, model=name, tools=talk.tool_specs())
    return Shape(f"converse-{name}", talk.converse_messages, make)


FEWER = settings(max_examples=settings().max_examples // 2)
"""Each of the shapes draws conversations of its own."""
SHAPES = pytest.mark.parametrize(
    "shape",
    [
        claude("claude-opus-4-8"),
        claude("claude-opus-4-8", defer=True),
        claude("claude-sonnet-5"),
        responses("gpt-5"),
        responses("gpt-5.6"),
        chat("gpt-5"),
        chat("gpt-5.6"),
        chat("a-model-of-my-own"),
        converse("us.anthropic.claude-opus-4-8-v1:0"),
        converse("amazon.nova-pro-v1:0"),
        Shape("gemini", talk.gemini_contents, partial(gemini.request, tools=talk.schemas())),
    ],
    ids=lambda shape: shape.name,
)


def content(value: object) -> object:
    """Without breakpoints: they say where an entry is written, and are no part of what the model reads."""
    if isinstance(value, dict):
        return {key: content(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [content(item) for item in value if not (isinstance(item, dict) and "cachePoint" in item)]
    return value


@SHAPES
@FEWER
@given(calls=CALLS)
def test_promise_5_request_n_starts_with_request_n_minus_1(shape: Shape, calls: Calls) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1: messages are last."""
    sent = [json.dumps(content(shape.send(moment))) for moment in talk.play(calls)]

    for before, after in pairwise(sent):
        assert before.endswith("]}")
        assert after.startswith(before.removesuffix("]}"))


@SHAPES
@FEWER
@given(calls=CALLS)
def test_every_block_is_sent_exactly_once(shape: Shape, calls: Calls) -> None:
    moment = talk.play(calls)[-1]
    sent = json.dumps(shape.send(moment))

    assert [sent.count(json.dumps(block.text)[1:-1]) for block in moment.step.appended] == [1] * len(
        moment.step.appended
    )


@SHAPES
@FEWER
@given(calls=CALLS)
def test_messages_that_hold_the_blocks_already_give_the_same_request(shape: Shape, calls: Calls) -> None:
    moment = talk.play(calls)[-1]
    body = shape.send(moment)
    messages = body[next(reversed(body))]

    assert shape.request(moment.step, messages) == body


@SHAPES
@FEWER
@given(calls=CALLS)
def test_the_messages_of_the_host_stay_unchanged(shape: Shape, calls: Calls) -> None:
    moment = talk.play(calls)[-1]
    messages = shape.form(moment.events)
    shape.request(moment.step, messages)

    assert messages == shape.form(moment.events)
