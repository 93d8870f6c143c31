"""Promise 5 on the wire: request n starts with request n-1, in the form that each provider receives."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from hypothesis import given, settings

from cuecard import Entity
from cuecard.adapters import anthropic, bedrock, gemini, openai
from unit.adapters.providers import talk
from unit.adapters.providers.talk import CALLS, PROFILES, Event, Json, Moment

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
SHAPES = (
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
)
"""A conversation is played once, and written in each of them."""


def content(value: object) -> object:
    """Without breakpoints: they say where an entry is written, and are no part of what the model reads."""
    if isinstance(value, dict):
        return {key: content(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [content(item) for item in value if not (isinstance(item, dict) and "cachePoint" in item)]
    return value


@FEWER
@given(calls=CALLS)
def test_promise_5_request_n_starts_with_request_n_minus_1(calls: Calls) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1: messages are last."""
    moments = talk.play(calls)

    for shape in SHAPES:
        sent = [json.dumps(content(shape.send(moment))) for moment in moments]
        for before, after in pairwise(sent):
            assert before.endswith("]}"), shape.name
            assert after.startswith(before.removesuffix("]}")), shape.name


@FEWER
@given(calls=CALLS)
def test_every_block_is_sent_exactly_once(calls: Calls) -> None:
    """The messages of the host stay unchanged, and those that hold the blocks already give the same request."""
    moment = talk.play(calls)[-1]
    blocks = [json.dumps(block.text)[1:-1] for block in moment.step.appended]

    for shape in SHAPES:
        messages = shape.form(moment.events)
        body = shape.request(moment.step, messages)
        sent = json.dumps(body)

        assert [sent.count(block) for block in blocks] == [1] * len(blocks), shape.name
        assert messages == shape.form(moment.events), shape.name
        assert shape.request(moment.step, body[next(reversed(body))]) == body, shape.name
