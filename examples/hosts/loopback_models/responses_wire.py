"""OpenAI's Responses API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from loopback_models.wire import DONE, Call, Json, Wire, call_id, halves, server_sent


def answered(body: Json) -> int:
    """Items that follow each other are one answer."""
    ours = [item.get("type") == "function_call" or item.get("role") == "assistant" for item in body["input"]]
    return sum(now and not before for before, now in pairwise([False, *ours]))


def answer(number: int, calls: Sequence[Call]) -> Json:
    used = [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": call_id(number, place),
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    said = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": DONE, "annotations": []}],
    }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": "any",
        "status": "completed",
        "output": used or [said],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def events(response: Json) -> bytes:
    made: list[Json] = [{"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}]
    for index, item in enumerate(response["output"]):
        at = {"item_id": item["id"], "output_index": index}
        made.append(
            {"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress"}}
        )
        if item["type"] == "message":
            text = {"type": "response.output_text.delta", "content_index": 0, "logprobs": [], **at}
            made += [{**text, "delta": piece} for piece in halves(item["content"][0]["text"])]
        made.append({"type": "response.output_item.done", "output_index": index, "item": item})
    made.append({"type": "response.completed", "response": response})
    return server_sent(({**event, "sequence_number": place} for place, event in enumerate(made)), named=True)


WIRE = Wire(answered, answer, events)
