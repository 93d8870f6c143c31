"""The Converse API of Amazon Bedrock, streamed as binary frames."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from zlib import crc32

from loopback_models.wire import DONE, Call, Json, Wire, call_id, halves

USAGE = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
METRICS = {"latencyMs": 1}


def answered(body: Json) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def answer(number: int, calls: Sequence[Call]) -> Json:
    used = [
        {"toolUse": {"toolUseId": call_id(number, place), "name": name, "input": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {
        "output": {"message": {"role": "assistant", "content": used or [{"text": DONE}]}},
        "stopReason": "tool_use" if used else "end_turn",
        "usage": USAGE,
        "metrics": METRICS,
    }


def events(response: Json) -> bytes:
    made: list[tuple[str, Json]] = [("messageStart", {"role": "assistant"})]
    for index, block in enumerate(response["output"]["message"]["content"]):
        at = {"contentBlockIndex": index}
        if use := block.get("toolUse"):
            start = {"toolUseId": use["toolUseId"], "name": use["name"]}
            made.append(("contentBlockStart", {**at, "start": {"toolUse": start}}))
            deltas: Iterable[Json] = ({"toolUse": {"input": piece}} for piece in halves(json.dumps(use["input"])))
        elif thought := block.get("reasoningContent"):
            deltas = ({"reasoningContent": {key: value}} for key, value in thought["reasoningText"].items())
        else:
            deltas = ({"text": piece} for piece in halves(block["text"]))
        made += [("contentBlockDelta", {**at, "delta": delta}) for delta in deltas]
        made.append(("contentBlockStop", at))
    made.append(("messageStop", {"stopReason": response["stopReason"]}))
    made.append(("metadata", {"usage": USAGE, "metrics": METRICS}))
    return b"".join(frame(kind, payload) for kind, payload in made)


def frame(kind: str, payload: Json) -> bytes:
    """One frame: lengths and their checksum, headers, the payload, and the checksum of it all."""
    names = {":message-type": "event", ":event-type": kind, ":content-type": "application/json"}
    headers = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
        for name, value in names.items()
    )
    data = json.dumps(payload).encode()
    lengths = struct.pack("!II", 12 + len(headers) + len(data) + 4, len(headers))
    head = lengths + struct.pack("!I", crc32(lengths))
    return head + headers + data + struct.pack("!I", crc32(head + headers + data))


WIRE = Wire(answered, answer, events, "application/vnd.amazon.eventstream")
