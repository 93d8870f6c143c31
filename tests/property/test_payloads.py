"""Promise 5 on the wire: request n starts with request n-1, in the form that each provider receives."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import given, settings
from unit.providers import talk
from unit.providers.talk import CALLS, PROFILES, Json, Moment

from cuecard import Entity
from cuecard.adapters import anthropic, gemini, openai

Calls = list[tuple[list[Entity], list[talk.Batch], int]]
Send = Callable[[Moment], Json]
OPUS, SONNET = PROFILES.find("claude-opus-4-8"), PROFILES.find("claude-sonnet-4-5")
GPT, GPT_56 = PROFILES.find("gpt-5"), PROFILES.find("gpt-5.6")
UNKNOWN = PROFILES.find("a-model-of-my-own")


def claude(moment: Moment) -> Json:
    return anthropic.request(
        moment.step, talk.anthropic_messages(moment.events), model=OPUS, tools=talk.schemas(), defer=False
    )


def claude_reminders(moment: Moment) -> Json:
    return anthropic.request(moment.step, talk.anthropic_messages(moment.events), model=SONNET, tools=talk.schemas())


def claude_deferred(moment: Moment) -> Json:
    messages = talk.anthropic_messages(moment.events)
    return anthropic.request(moment.step, messages, model=OPUS, tools=talk.schemas(), defer=True)


def responses(moment: Moment) -> Json:
    items = talk.response_items(moment.events)
    return openai.responses_request(moment.step, items, model=GPT, tools=talk.functions())


def responses_marked(moment: Moment) -> Json:
    items = talk.response_items(moment.events)
    return openai.responses_request(moment.step, items, model=GPT_56, tools=talk.functions())


def chat(moment: Moment) -> Json:
    return openai.chat_request(moment.step, talk.chat_messages(moment.events), model=GPT, tools=talk.chat_tools())


def chat_marked(moment: Moment) -> Json:
    return openai.chat_request(moment.step, talk.chat_messages(moment.events), model=GPT_56, tools=talk.chat_tools())


def chat_unknown(moment: Moment) -> Json:
    return openai.chat_request(moment.step, talk.chat_messages(moment.events), model=UNKNOWN, tools=talk.chat_tools())


def google(moment: Moment) -> Json:
    return gemini.request(moment.step, talk.gemini_contents(moment.events), tools=talk.schemas())


SENDERS = pytest.mark.parametrize(
    "send",
    [
        claude,
        claude_reminders,
        claude_deferred,
        responses,
        responses_marked,
        chat,
        chat_marked,
        chat_unknown,
        google,
    ],
)


def without_breakpoints(value: object) -> object:
    """The content: breakpoints say where an entry is written, and are no part of what the model reads."""
    if isinstance(value, dict):
        return {key: without_breakpoints(item) for key, item in value.items() if key != "cache_control"}
    return [without_breakpoints(item) for item in value] if isinstance(value, list) else value


@SENDERS
@settings(deadline=None, max_examples=25)
@given(calls=CALLS)
def test_promise_5_request_n_starts_with_request_n_minus_1(send: Send, calls: Calls) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1, messages last."""
    sent = [json.dumps(without_breakpoints(send(moment))) for moment in talk.play(calls)]

    for before, after in pairwise(sent):
        assert before.endswith("]}")
        assert after.startswith(before.removesuffix("]}"))


@SENDERS
@settings(deadline=None, max_examples=15)
@given(calls=CALLS)
def test_every_block_is_sent_exactly_once(send: Send, calls: Calls) -> None:
    moment = talk.play(calls)[-1]
    sent = json.dumps(send(moment))

    for block in moment.step.appended:
        assert sent.count(json.dumps(block.text)[1:-1]) == 1


@SENDERS
@settings(deadline=None, max_examples=15)
@given(calls=CALLS)
def test_messages_that_hold_the_blocks_already_give_the_same_request(send: Send, calls: Calls) -> None:
    first = send(talk.play(calls)[-1])

    assert again(send, talk.play(calls)[-1], first) == first


def again(send: Send, moment: Moment, body: Json) -> Json:
    """The request made of the messages of the request before: what a host that keeps those does."""
    key = next(reversed(body))
    kept = deepcopy(body[key])
    name = {"messages": "chat_messages", "input": "response_items", "contents": "gemini_contents"}[key]
    name = "anthropic_messages" if "claude" in send.__name__ else name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(talk, name, lambda _events: kept)
        return send(moment)
