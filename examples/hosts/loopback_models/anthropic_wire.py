"""Anthropic's Messages API."""

from __future__ import annotations

import json
from collections.abc import Sequence

from loopback_models.wire import DONE, Call, Json, Wire, call_id, halves, server_sent

USAGE = {"input_tokens": 1, "output_tokens": 1}


def answered(body: Json) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def answer(number: int, calls: Sequence[Call]) -> Json:
    used = [
        {"type": "tool_use", "id": call_id(number, place), "name": name, "input": arguments}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "any",
        "content": used or [{"type": "text", "text": DONE}],
        "stop_reason": "tool_use" if used else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def events(message: Json) -> bytes:
    made: list[Json] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(message["content"]):
        uses = block["type"] == "tool_use"
        start = {**block, "input": {}} if uses else {**block, "text": ""}
        made.append({"type": "content_block_start", "index": index, "content_block": start})
        for piece in halves(json.dumps(block["input"]) if uses else block["text"]):
            delta = (
                {"type": "input_json_delta", "partial_json": piece} if uses else {"type": "text_delta", "text": piece}
            )
            made.append({"type": "content_block_delta", "index": index, "delta": delta})
        made.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    made += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
    return server_sent(made, named=True)


WIRE = Wire(answered, answer, events)
