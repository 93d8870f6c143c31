"""Completions of LiteLLM hold results as the agent file tells them, and the host's messages stay as they are."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from cuecard.adapters.litellm import Cuecard
from unit.adapters.results.shell_agent import TOLD, shell_engine

SHELL = {"type": "function", "function": {"name": "shell", "parameters": {}}}


def called(*calls: tuple[str, str]) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": name, "arguments": "{}"}} for i, name in calls]
    return {"role": "assistant", "content": None, "tool_calls": made}


@pytest.mark.parametrize("model", ["openai/gpt-5", "anthropic/claude-opus-4-8"])
def test_requests_hold_the_texts_and_the_messages_of_the_host_do_not(tmp_path: Path, model: str) -> None:
    said = json.dumps({"code": 0, "printed": "ls " * 20})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "go"},
        called(("c-1", "shell")),
        {"role": "tool", "tool_call_id": "c-1", "content": said},
        called(("c-2", "words"), ("c-3", "picture"), ("c-4", "picture")),
        {"role": "tool", "tool_call_id": "c-2", "content": [{"type": "text", "text": "some words"}]},
        {"role": "tool", "tool_call_id": "c-3", "content": [{"type": "text", "text": "A view"}, picture]},
        {"role": "tool", "tool_call_id": "c-4", "content": [picture]},
        {"role": "tool", "tool_call_id": "gone", "content": "a result of a call that a window has dropped"},
    ]
    card, before = Cuecard(engine=shell_engine(tmp_path)), copy.deepcopy(messages)

    first = card.prepare(model, messages[:3], [SHELL])
    early = first.arguments["messages"]
    late = card.prepare(model, messages, [SHELL]).arguments["messages"]

    told = [message["content"] for message in late if message["role"] == "tool"]
    beside = [{"type": "text", "text": "(A view)"}, picture]
    assert told == [TOLD, "(some words)", beside, [picture], "a result of a call that a window has dropped"]
    assert [cut.what for cut in first.step.manifest.cuts] == ["shell"]
    assert late[: len(early)] == early
    assert messages == before
