"""Conversations that are told anew with each request: what was kept of earlier ones changes no request."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, Turn
from cuecard.adapters.litellm import Cuecard

CMS = Path(__file__).parents[2] / "prompts" / "cms" / "agent.yaml"
TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
TOOLS = ["cms_createPage", "cms_getPage", "cms_searchImages"]
OFFERED = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in TOOLS]
Messages: TypeAlias = list[dict[str, Any]]


@cache
def engine() -> Engine:
    return Engine.open(CMS, delivery="append")


@st.composite
def exchanges(draw: st.DrawFn) -> Messages:
    """What one side says: a message of the user, or calls with their results."""
    if draw(st.booleans()):
        return [{"role": "user", "content": draw(st.sampled_from(["a", "b"]))}]
    names = draw(st.lists(st.sampled_from(["tool_search", *TOOLS]), min_size=1, max_size=2))
    ids = [f"{name}-{draw(st.integers(0, 3))}-{place}" for place, name in enumerate(names)]
    calls = [
        {"id": each, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for each, name in zip(ids, names, strict=True)
    ]
    found = json.dumps({"tools": [draw(st.sampled_from(TOOLS))], "id": "p1", "name": "Page"})
    answer: Messages = [{"role": "assistant", "content": None, "tool_calls": calls}]
    return answer + [{"role": "tool", "tool_call_id": each, "content": found} for each in ids]


def spoil(value: Any) -> None:
    """What LiteLLM may do to what it is given, and worse."""
    for each in value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else ():
        spoil(each)
    if isinstance(value, (list, dict)):
        value.clear()


@given(
    begun=st.lists(exchanges(), max_size=4),
    more=st.lists(st.tuples(st.integers(0, 3), st.lists(exchanges(), max_size=2)), min_size=1, max_size=6),
    changed=st.booleans(),
)
def test_a_request_is_the_same_whatever_was_asked_before(
    begun: list[Messages], more: list[tuple[int, list[Messages]]], *, changed: bool
) -> None:
    warm, said = Cuecard(engine=engine(), turn=TURN), [{"role": "user", "content": "hello"}]
    parts: list[Messages] = [said, *begun]
    for back, new in more:
        parts = [*parts[: max(1, len(parts) - back)], *new]  # a user goes back, and says something else
        messages = deepcopy([message for part in parts for message in part])
        ready = warm.prepare("openai/gpt-5", messages, OFFERED)
        expected = Cuecard(engine=engine(), turn=TURN).prepare("openai/gpt-5", messages, OFFERED)

        assert ready.arguments == expected.arguments
        assert ready.step.to_json() == expected.step.to_json()
        if changed:
            spoil(ready.arguments)
            spoil(messages)
