"""Answers of providers, as their own types write them, and manifests of two requests to hold them against."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from cms_agent import cms
from cuecard import Manifest, ToolResult, Turn
from cuecard.types import Delivery

FOUND = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")]


@cache
def manifests(delivery: Delivery, models: tuple[str, str] = ("claude-opus-4-8",) * 2) -> tuple[Manifest, Manifest]:
    """Two requests of a run, the second after a discovery."""
    engine = cms(delivery)
    one, other = (engine.prepare_call(Turn(model=model)) for model in models)
    return engine.prepare_step(one).manifest, engine.prepare_step(other, FOUND).manifest


def claude(reason: dict[str, Any] | None) -> dict[str, Any]:
    """An answer as Anthropic's client writes it, with what is said of the cache."""
    types = pytest.importorskip("anthropic.types", reason="anthropic is not installed")
    message: dict[str, Any] = {
        "id": "msg_2",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": [],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "diagnostics": reason,
    }
    answer: dict[str, Any] = types.Message.model_validate(message).model_dump(mode="json")
    return answer


def gpt(told: dict[str, Any]) -> dict[str, Any]:
    """The same as OpenAI's client writes it."""
    types = pytest.importorskip("openai.types.responses", reason="openai is not installed")
    response = {
        "id": "resp_2",
        "object": "response",
        "created_at": 0,
        "model": "gpt-5.6",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "prompt_cache_diagnostics": told,
    }
    answer: dict[str, Any] = types.Response.model_validate(response).model_dump(mode="json")
    return answer
