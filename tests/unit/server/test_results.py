"""The service answers with the texts of results, and keeps none of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cuecard import watch
from cuecard.server.agents import open_agents
from cuecard.server.service import Envelopes, Service
from unit.adapters.results.shell_agent import AGENT, TOLD
from unit.server.served import serving

SHELL: dict[str, Any] = {"tool": "shell", "call_id": "c-1", "result": {"code": 0, "printed": "ls " * 20}}
SEARCH: dict[str, Any] = {"tool": "tool_search", "call_id": "c-0", "result": {"tools": []}}
FAILED: dict[str, Any] = {"call_id": "c-2", "result": "the disk", "is_error": True}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx2.Client]:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    agents = open_agents([tmp_path], partial(watch, states=tmp_path / "states"))
    with serving(Service(agents, Envelopes("k" * 32, 3600))) as opened:
        yield opened
    agents.stop()


def ask(client: httpx2.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/{path}", json=body)

    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_result_that_is_nested_deeper_than_values_may_be_ends_no_run(client: httpx2.Client) -> None:
    deep = json.loads("[" * 100 + "]" * 100)
    call = ask(client, "prepare-call")
    results = [{**SHELL, "result": {"code": 0, "printed": deep}}, {"tool": "other", "call_id": "c-3", "result": deep}]
    cut, whole = ask(client, "prepare-step", conversation=call["conversation"], results=results)["results"]

    assert (cut["rule"], cut["text"]) == ("shell", "<out>0 [[[[[[[[[[[185]]]]]]</out>")
    assert whole["text"] == f"({json.dumps(deep)})"


def test_each_result_with_a_template_has_its_text_and_its_place(client: httpx2.Client) -> None:
    call = ask(client, "prepare-call")
    step = ask(
        client,
        "prepare-step",
        conversation=call["conversation"],
        results=[SEARCH, SHELL, FAILED],
        calls={"c-2": "shell"},
    )

    assert call["results"] == []
    assert [(each["at"], each["call_id"], each["text"]) for each in step["results"]] == [
        (1, "c-1", TOLD),
        (2, "c-2", "<failed>the disk</failed>"),
    ]
    first = step["results"][0]
    assert (first["tool"], first["rule"], first["source"]) == ("shell", "shell", "agent.yaml:10")
    assert (first["left_out"], first["whole"], first["unit"]) == (45, 60, "characters")
    assert ask(client, "prepare-call", results=[SHELL])["results"] == [{**first, "at": 0}]
