"""OpenAI's Chat Completions API."""

from __future__ import annotations

import json
from collections.abc import Sequence

from loopback_models.wire import DONE, Call, Json, Wire, call_id, halves, server_sent

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def answered(body: Json) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def answer(number: int, calls: Sequence[Call]) -> Json:
    used = [
        {
            "id": call_id(number, place),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message: Json = {"role": "assistant", "content": None if used else DONE, **({"tool_calls": used} if used else {})}
    return {
        "id": f"chat_{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "any",
        "choices": [{"index": 0, "finish_reason": "tool_calls" if used else "stop", "message": message}],
        "usage": USAGE,
    }


def events(completion: Json) -> bytes:
    choice = completion["choices"][0]
    message, deltas = choice["message"], list[Json]()
    for index, call in enumerate(message.get("tool_calls", ())):
        first, second = halves(call["function"]["arguments"])
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": first}}]})
        deltas.append({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    deltas += [{"content": piece} for piece in halves(message["content"] or "") if piece]
    head = {**completion, "object": "chat.completion.chunk"}
    head.pop("usage")
    ends: list[tuple[Json, str | None]] = [
        ({"role": "assistant"}, None),
        *((delta, None) for delta in deltas),
        ({}, choice["finish_reason"]),
    ]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in ends]
    return server_sent(chunks) + b"data: [DONE]\n\n"


WIRE = Wire(answered, answer, events)
