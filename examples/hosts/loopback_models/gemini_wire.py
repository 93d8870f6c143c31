"""Gemini's `generateContent`."""

from __future__ import annotations

from collections.abc import Sequence

from loopback_models.wire import DONE, Call, Json, Wire, call_id, halves, server_sent


def answered(body: Json) -> int:
    return sum(content.get("role") == "model" for content in body["contents"])


def answer(number: int, calls: Sequence[Call]) -> Json:
    used = [
        {"functionCall": {"id": call_id(number, place), "name": name, "args": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": used or [{"text": DONE}]}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "any",
    }


def events(response: Json) -> bytes:
    """A part, or half of a text, in each."""
    parts = response["candidates"][0]["content"]["parts"]
    pieces = [
        piece
        for part in parts
        for piece in ([{"text": half} for half in halves(part["text"])] if "text" in part else [part])
    ]
    return server_sent(
        {**response, "candidates": [{"content": {"role": "model", "parts": [piece]}, "index": 0}]} for piece in pieces
    )


WIRE = Wire(answered, answer, events)
