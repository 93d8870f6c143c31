"""A server on this machine that plays a model for real clients: it calls tools as told, and records what it got."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx2
from typing_extensions import override

from unit.loopback_server import Handler, serving

Json: TypeAlias = dict[str, Any]
Calls: TypeAlias = Sequence[tuple[str, Json]]


@dataclass
class ModelServer:
    """Its address; the paths and bodies that it got, in order; what it decides, request by request, then it answers."""

    url: str
    batches: Sequence[Calls]
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def sent(self) -> list[Json]:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def model_server(batches: Sequence[Calls] = ()) -> Iterator[ModelServer]:
    class Model(Handler):
        @override
        def post(self) -> None:
            body = self.body()
            number = len(got.bodies)
            got.bodies.append(body)
            got.headers.append(dict(self.headers))
            calls = got.batches[number] if number < len(got.batches) else ()
            made = ANSWERS[self.path.partition("?")[0]](number, calls)
            streams = json.loads(body).get("stream")
            data = as_events(made).encode() if streams else json.dumps(made).encode()
            self.answer(data, "text/event-stream" if streams else "application/json")

    with serving(Model) as url:
        got = ModelServer(url, batches)
        yield got


class ToLoopback(httpx2.AsyncHTTPTransport):
    """What a client sends to a provider's own address arrives on this machine."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.to = httpx2.URL(url)

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(scheme="http", host=self.to.host, port=self.to.port)
        return await super().handle_async_request(request)


def _anthropic(number: int, calls: Calls) -> Json:
    made = [
        {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": arguments}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "any",
        "content": made or [{"type": "text", "text": "done"}],
        "stop_reason": "tool_use" if made else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _chat(number: int, calls: Calls) -> Json:
    made = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message = (
        {"role": "assistant", "content": None, "tool_calls": made} if made else {"role": "assistant", "content": "done"}
    )
    return {
        "id": f"chat_{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "any",
        "choices": [{"index": 0, "finish_reason": "tool_calls" if made else "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _responses(number: int, calls: Calls) -> Json:
    made: list[Json] = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": f"call_{number}_{place}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    text = {"type": "output_text", "text": "done", "annotations": []}
    answer: Json = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "any",
        "status": "completed",
        "output": made or [answer],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


ANSWERS: dict[str, Callable[[int, Calls], Json]] = {
    "/v1/messages": _anthropic,
    "/v1/chat/completions": _chat,
    "/v1/responses": _responses,
}


def as_events(message: Json) -> str:
    """An answer of a provider's, as its events."""
    if message.get("object") == "chat.completion":
        return _as_chunks(message)
    if message.get("object") == "response":
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _of_response(message))
    events: list[Json] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(message["content"]):
        start = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if block["type"] == "tool_use"
            else {"type": "text_delta", "text": block["text"]}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _of_response(message: Json) -> Iterator[Json]:
    """An answer of OpenAI's Responses, item by item, as its events."""
    events: list[Json] = [{"type": "response.created", "response": {**message, "output": []}}]
    for index, item in enumerate(message["output"]):
        place = {"output_index": index, "item_id": item["id"], "content_index": 0}
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        texts = [part["text"] for part in item.get("content", ())]
        events += [{"type": "response.output_text.delta", **place, "delta": text, "logprobs": []} for text in texts]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": message})
    yield from ({**event, "sequence_number": number} for number, event in enumerate(events))


def _as_chunks(message: Json) -> str:
    """An answer of OpenAI's Chat Completions as its chunks: all that is said, then why it ends."""
    choice = message["choices"][0]
    said = dict(choice["message"])
    if calls := said.get("tool_calls"):
        said["tool_calls"] = [{"index": index, **call} for index, call in enumerate(calls)]
    told = ({"delta": said, "finish_reason": None}, {"delta": {}, "finish_reason": choice["finish_reason"]})
    head = {key: message[key] for key in ("id", "created", "model")}
    chunks = [{**head, "object": "chat.completion.chunk", "choices": [{"index": 0, **each}]} for each in told]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
