"""What hosts send: a conversation of neutral messages in each provider's form, and the request bodies made of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from cuecard import Message, Step
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.adapters.openai_tools import additional_tools, client_tool_search
from cuecard.types import ModelProfile
from shipped import read_models

Json = dict[str, Any]
PROFILES = read_models()


@dataclass(frozen=True)
class Shape:
    """A host: how it writes a conversation, and the request it makes of it; `messages` is where they stand."""

    name: str
    form: Callable[[Sequence[Message]], list[Json]]
    request: Callable[..., Json]
    messages: str = "messages"

    def send(self, step: Step, conversation: Sequence[Message]) -> Json:
        return self.request(step, self.form(conversation))

    def again(self, step: Step, body: Json) -> Json:
        """The request of a host that has kept what it sent."""
        return self.request(step, body[self.messages])


def shapes(tools: Sequence[str]) -> tuple[Shape, ...]:
    """Every provider, with and without a role for operators mid-conversation; hosts that merge messages do."""
    specs: list[Json] = [{"toolSpec": {"name": name, "inputSchema": {"json": {}}}} for name in tools]
    plain: list[Json] = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
    functions: list[Json] = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in tools]
    wrapped: list[Json] = [{"type": "function", "function": {"name": name}} for name in tools]
    names = "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-5-5", "gpt-5", "my-own"
    opus, sonnet, haiku, gpt, own = (PROFILES.find(name) for name in names)
    merged = partial(anthropic_messages, merged=True)
    return (
        Shape("anthropic", merged, partial(anthropic.request, model=opus, tools=plain)),
        Shape("anthropic-deferred", merged, partial(anthropic.request, model=opus, tools=plain, defer=True)),
        Shape("anthropic-reminders", merged, partial(anthropic.request, model=sonnet, tools=plain)),
        Shape("anthropic-late", merged, partial(anthropic.request, model=sonnet, tools=plain, defer=True)),
        Shape("anthropic-apart", anthropic_messages, partial(anthropic.request, model=haiku, tools=plain, defer=True)),
        Shape("chat", chat_messages, partial(openai.chat_request, model=gpt, tools=wrapped)),
        Shape("chat-reminders", chat_messages, partial(openai.chat_request, model=own, tools=wrapped)),
        Shape("responses", items, partial(openai.responses_request, model=gpt, tools=functions), "input"),
        Shape("responses-reminders", items, partial(openai.responses_request, model=own, tools=functions), "input"),
        Shape("responses-additional", items, partial(_with_front, additional_tools, functions, gpt), "input"),
        Shape("responses-searching", searched, partial(_with_front, client_tool_search, functions, own), "input"),
        Shape("bedrock-reminders", converse_messages, partial(bedrock.request, model=sonnet, tools=specs)),
        Shape("gemini", partial(contents, merged=True), partial(gemini.request, tools=plain), "contents"),
        Shape("gemini-apart", contents, partial(gemini.request, tools=plain), "contents"),
    )


def anthropic_messages(conversation: Sequence[Message], *, merged: bool = False) -> list[Json]:
    made: list[Json] = []
    for message in conversation:
        if message.role == "assistant":
            calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": {}} for c in message.tool_calls]
            made.append({"role": "assistant", "content": [*calls] or _text(message)})
        elif message.role == "tool":
            block = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": _text(message)}
            _join(made, "content", block, "tool_result", together=True)
        else:
            _join(made, "content", {"type": "text", "text": _text(message)}, "tool_result", together=merged)
    return made


def contents(conversation: Sequence[Message], *, merged: bool = False) -> list[Json]:
    """Gemini's form."""
    made: list[Json] = []
    for message in conversation:
        if message.role == "assistant":
            calls = [{"functionCall": {"id": c.id, "name": c.name, "args": {}}} for c in message.tool_calls]
            made.append({"role": "model", "parts": calls or [{"text": _text(message)}]})
        elif message.role == "tool":
            part = {"functionResponse": {"id": message.tool_call_id, "response": {"output": _text(message)}}}
            _join(made, "parts", part, "functionResponse", together=True)
        else:
            _join(made, "parts", {"text": _text(message)}, "functionResponse", together=merged)
    return made


def converse_messages(conversation: Sequence[Message]) -> list[Json]:
    """Bedrock's form, in which roles alternate."""
    made: list[Json] = []
    for message in conversation:
        blocks: list[Json] = [{"text": _text(message)}]
        role = "assistant" if message.role == "assistant" else "user"
        if message.tool_calls:
            blocks = [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": {}}} for c in message.tool_calls]
        elif message.role == "tool":
            blocks = [{"toolResult": {"toolUseId": message.tool_call_id, "content": blocks}}]
        if made and made[-1]["role"] == role:
            made[-1]["content"] += blocks
        else:
            made.append({"role": role, "content": blocks})
    return made


def _join(made: list[Json], key: str, piece: Json, result: str, *, together: bool) -> None:
    """Into the message with the tool results before it, where the host does that; else a message of its own."""
    last = made[-1][key] if made and made[-1]["role"] == "user" else []
    if together and any(result in (each.get("type"), *each) for each in last):
        last.append(piece)
    else:
        made.append({"role": "user", key: [piece]})


def chat_messages(conversation: Sequence[Message]) -> list[Json]:
    made: list[Json] = []
    for message in conversation:
        calls = [{"id": c.id, "type": "function", "function": {"name": c.name}} for c in message.tool_calls]
        more: Json = {"tool_call_id": message.tool_call_id} if message.tool_call_id else {}
        made.append({"role": message.role, **({"tool_calls": calls} if calls else {"content": _text(message)}), **more})
    return made


def items(conversation: Sequence[Message]) -> list[Json]:
    """The form of the Responses API."""
    made: list[Json] = []
    for message in conversation:
        if message.tool_calls:
            made += [{"type": "function_call", "call_id": c.id, "name": c.name} for c in message.tool_calls]
        elif message.tool_call_id:
            made.append({"type": "function_call_output", "call_id": message.tool_call_id, "output": _text(message)})
        else:
            made.append({"role": message.role, "content": _text(message)})
    return made


def searched(conversation: Sequence[Message]) -> list[Json]:
    """The same of a host that executes the provider's own tool search."""
    made = items(conversation)
    calls = {item["call_id"] for item in made if item.get("name") == "tool_search"}
    for place, item in enumerate(made):
        if item.get("call_id") in calls:
            kind = "tool_search_call" if item["type"] == "function_call" else "tool_search_output"
            more: Json = {"arguments": {}} if kind == "tool_search_call" else {"status": "completed", "tools": []}
            made[place] = {"type": kind, "call_id": item["call_id"], "execution": "client", **more}
    return made


def _with_front(place: Any, tools: list[Json], model: ModelProfile, step: Step, conversation: list[Json]) -> Json:
    front, placed = place(tools, conversation, step)
    return openai.responses_request(step, placed, model=model, tools=front)


def _text(message: Message) -> str:
    return message.content if isinstance(message.content, str) else json.dumps(message.content)


def bare(value: Any) -> Any:
    """Without cache breakpoints: they say where an entry is written, and are no part of what the model reads."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [bare(item) for item in value if not (isinstance(item, dict) and "cachePoint" in item)]
    return value


def serialized(body: Json) -> str:
    """The request as one text whose end is its last message."""
    return json.dumps(bare(body)).removesuffix("]}")
