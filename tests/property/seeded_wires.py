"""What hosts of each provider keep of a conversation, in the provider's own form; written apart from `hosts.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from cuecard import Step
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.adapters.openai_tools import additional_tools, client_tool_search

Json = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """What happened: the user's words, the model's words or calls, or the results of all calls of one answer."""

    kind: str
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    results: tuple[tuple[str, str, Any, bool], ...] = ()
    """Call id, tool, value and whether it is an error."""
    beside: bool = False
    """Whether the user's words follow results that no request has held: some hosts put them into one message."""


@dataclass(frozen=True)
class Wire:
    """One kind of host: how it writes events, and how it asks for a request's body."""

    name: str
    write: Callable[[Iterable[Event]], list[Json]]
    ask: Callable[[Step, list[Json]], Json]
    key: str = "messages"
    defers: bool = field(default=False)


def wires(tools: tuple[str, ...]) -> list[Wire]:
    """Every body that an adapter makes, with models of each kind."""
    claude = [{"name": name, "description": f"The {name}.", "input_schema": {"type": "object"}} for name in tools]
    flat = [
        {"type": "function", "name": n, "description": f"The {n}.", "parameters": {"type": "object"}} for n in tools
    ]
    nested = [{"type": "function", "function": {k: v for k, v in t.items() if k != "type"}} for t in flat]
    bare = [{k: v for k, v in t.items() if k != "type"} for t in flat]
    specs = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in tools]

    def messages(model: str, *, merged: bool, **more: Any) -> Wire:
        ask = partial(_ask, anthropic.request, model=model, tools=claude, **more)
        name = " ".join([model, *(["merged"] if merged else []), *more])
        return Wire(name, partial(_claude, merged=merged), ask, defers=bool(more.get("defer")))

    def front(place: Any, model: str) -> Callable[[Step, list[Json]], Json]:
        def ask(step: Step, items: list[Json]) -> Json:
            head, placed = place(flat, items, step)
            return openai.responses_request(step, placed, model=model, tools=head)

        return ask

    return [
        messages("claude-opus-5", merged=True),
        messages("claude-opus-5", merged=False, defer=True),
        messages("claude-haiku-5-5", merged=True, defer=True),
        messages("claude-sonnet-5", merged=True, defer=True),
        messages("claude-sonnet-5", merged=False, defer=True),
        messages("claude-sonnet-4-6", merged=False),
        messages("claude-opus-5", merged=True, defer=True, base_url="https://gate.example/v1"),
        Wire("chat gpt-5", _chat, partial(_ask, openai.chat_request, model="gpt-5", tools=nested)),
        Wire("chat llama", _chat, partial(_ask, openai.chat_request, model="llama-3.3-70b", tools=nested)),
        Wire("responses", _items, partial(_ask, openai.responses_request, model="gpt-5.6", tools=flat), "input"),
        Wire("responses elsewhere", _items, front(additional_tools, "my-own"), "input"),
        Wire("additional", _items, front(additional_tools, "gpt-5.6"), "input"),
        Wire("searching", _searching, front(client_tool_search, "gpt-5.6"), "input", defers=True),
        Wire("bedrock", _converse, partial(_ask, bedrock.request, model="anthropic.claude-sonnet-5", tools=specs)),
        Wire("gemini", partial(_gemini, merged=False), partial(_ask, gemini.request, tools=bare), "contents"),
        Wire("gemini merged", partial(_gemini, merged=True), partial(_ask, gemini.request, tools=bare), "contents"),
    ]


def _ask(request: Any, step: Step, messages: list[Json], **more: Any) -> Json:
    made: Json = request(step, messages, **more)
    return made


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _claude(events: Iterable[Event], *, merged: bool) -> list[Json]:
    made: list[Json] = []
    for event in events:
        if event.kind == "user":
            if event.beside and merged and made:
                made[-1]["content"].append({"type": "text", "text": event.text})
            else:
                made.append({"role": "user", "content": event.text})
        elif event.kind == "results":
            made.append({"role": "user", "content": [_claude_result(*each) for each in event.results]})
        else:
            text = [{"type": "text", "text": event.text}] if event.text else []
            uses = [{"type": "tool_use", "id": i, "name": n, "input": {"q": "x"}} for i, n in event.calls]
            made.append({"role": "assistant", "content": [*text, *uses]})
    return made


def _claude_result(call: str, _: str, value: Any, error: bool) -> Json:  # noqa: FBT001 - unpacked from an event
    block: Json = {"type": "tool_result", "tool_use_id": call}
    if isinstance(value, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in value):
        block["content"] = [dict(part) for part in value]
    elif value != "":  # an empty result has no content at all
        block["content"] = _plain(value)
    return {**block, "is_error": True} if error else block


def _chat(events: Iterable[Event]) -> list[Json]:
    made: list[Json] = []
    for event in events:
        if event.kind == "user":
            made.append({"role": "user", "content": event.text})
        elif event.kind == "results":
            made += [{"role": "tool", "tool_call_id": i, "content": _plain(v)} for i, _, v, _e in event.results]
        else:
            calls = [
                {"id": i, "type": "function", "function": {"name": n, "arguments": '{"q":"x"}'}} for i, n in event.calls
            ]
            made.append(
                {"role": "assistant", "content": event.text or None, **({"tool_calls": calls} if calls else {})}
            )
    return made


def _items(events: Iterable[Event]) -> list[Json]:
    made: list[Json] = []
    for event in events:
        if event.kind == "user":
            made.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": event.text}]})
        elif event.kind == "results":
            made += [
                {"type": "function_call_output", "call_id": i, "output": _plain(v)} for i, _, v, _e in event.results
            ]
        else:
            if event.text:
                said = [{"type": "output_text", "text": event.text, "annotations": []}]
                made.append({"type": "message", "role": "assistant", "content": said})
            made += [
                {"type": "function_call", "call_id": i, "name": n, "arguments": '{"q":"x"}'} for i, n in event.calls
            ]
    return made


def _searching(events: Iterable[Event]) -> list[Json]:
    """A host that executes the provider's own search."""
    made = _items(events)
    own = set[str]()
    for at, item in enumerate(made):
        if item["type"] == "function_call":  # a later call may have the same id
            own = own | {item["call_id"]} if item["name"] == "find" else own - {item["call_id"]}
        if item.get("call_id") in own:
            told = {"call_id": item["call_id"], "execution": "client"}
            if item["type"] == "function_call":
                made[at] = {"type": "tool_search_call", **told, "arguments": {"query": "x"}}
            else:
                made[at] = {"type": "tool_search_output", **told, "status": "completed", "tools": []}
    return made


def _converse(events: Iterable[Event]) -> list[Json]:
    made: list[Json] = []
    for event in events:
        if event.kind == "user":
            made.append({"role": "user", "content": [{"text": event.text}]})
        elif event.kind == "results":
            content = [
                {"toolResult": {"toolUseId": i, "content": [{"text": _plain(v) or " "}], "status": "success"}}
                for i, _, v, _e in event.results
            ]
            made.append({"role": "user", "content": content})
        else:
            uses = [{"toolUse": {"toolUseId": i, "name": n, "input": {"q": "x"}}} for i, n in event.calls]
            made.append({"role": "assistant", "content": [*([{"text": event.text}] if event.text else []), *uses]})
    return made


def _gemini(events: Iterable[Event], *, merged: bool) -> list[Json]:
    made: list[Json] = []
    for event in events:
        if event.kind == "user":
            if event.beside and merged and made:
                made[-1]["parts"].append({"text": event.text})
            else:
                made.append({"role": "user", "parts": [{"text": event.text}]})
        elif event.kind == "results":
            made.append(
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"id": i, "name": n, "response": {"error" if e else "output": v}}}
                        for i, n, v, e in event.results
                    ],
                }
            )
        else:
            calls = [{"functionCall": {"id": i, "name": n, "args": {"q": "x"}}} for i, n in event.calls]
            made.append({"role": "model", "parts": [*([{"text": event.text}] if event.text else []), *calls]})
    return made
