"""docs/service.md: its requests are sent, in the order of the page, and answered as it says."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cuecard import watch
from cuecard.cli.main import serve
from cuecard.server.agents import open_agents
from cuecard.server.app import create_app
from cuecard.server.guard import PATHS
from cuecard.server.service import Envelopes, Service
from unit.server.served import KEY, ask_at_once, in_thread, notes_agent, options, raw_requests, serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/service.md").read_text(encoding="utf-8")
JOINED = re.compile(r"\n +")
"""A body of several lines is sent in one."""
ASKED = re.findall(r"^```http\n(.*?)^```\n\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_requests_are_answered_as_the_page_says(tmp_path: Path) -> None:
    agents = open_agents([notes_agent(tmp_path)], partial(watch, states=tmp_path / "states"))
    conversation, chosen = "", options()
    try:
        with in_thread(create_app(Service(agents, Envelopes(KEY, 3600)), chosen), chosen) as address:
            for request, expected in ASKED:
                asked = JOINED.sub(" ", request).replace(
                    '"conversation": "..."', f'"conversation": {json.dumps(conversation)}'
                )
                (answer,) = ask_at_once(address, raw_requests(asked.splitlines()))
                told = json.loads(answer.partition(b"\r\n\r\n")[2])
                conversation = told.get("conversation", conversation)

                assert _holds(told, json.loads(expected)), (request, told)
    finally:
        agents.stop()
    assert len(ASKED) > 4


def test_an_input_of_a_request_changes_what_the_page_says(tmp_path: Path) -> None:
    ((declared, asked),) = re.findall(r"with `(screen: .*?)` answers .*?```json\n(.*?)```", PAGE, re.DOTALL)
    text = f"agent: a\ninputs:\n  {declared}\nsections: [{{id: at, when: screen, text: 'At {{{{screen}}}}.'}}]\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    agents = open_agents([tmp_path], partial(watch, states=tmp_path / "states"))
    try:
        with serving(Service(agents, Envelopes(KEY, 3600))) as client:
            begun = client.post("/v1/prepare-call", json={"turn": {"delivery": "append", "inputs": {"screen": "home"}}})
            sent = {**json.loads(asked), "conversation": begun.json()["conversation"]}
            after = client.post("/v1/prepare-step", json=sent).json()["step"]
    finally:
        agents.stop()
    first, further = after["appended"]

    assert [first] == begun.json()["step"]["appended"]
    assert after["system"] == begun.json()["step"]["system"]
    assert further["after_call_id"] == "call-1"
    assert "At settings." in further["text"]


def _holds(told: Any, expected: Any) -> bool:
    """Whether an answer has what the page shows of it: `"..."` is any text, and it may have more keys."""
    if isinstance(expected, dict):
        return isinstance(told, dict) and all(key in told and _holds(told[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(told) == len(expected) and all(map(_holds, told, expected))
    return (bool(told) and isinstance(told, str)) if expected == "..." else bool(told == expected)


def test_every_path_is_on_the_page() -> None:
    assert set(re.findall(r"^\| `(?:GET|POST) (\S+)` \|", PAGE, re.MULTILINE)) == PATHS


def test_the_limits_are_what_the_page_says() -> None:
    values = dict(zip(*_defaults(serve), strict=True))

    assert "| `--max-body BYTES` | 1 MiB |" in PAGE
    assert values["max_body"] == 2**20
    assert "| `--timeout SECONDS` | 10, " in PAGE
    assert values["timeout"] == 10
    assert "| `--max-requests N` | 128 " in PAGE
    assert values["max_requests"] == 128
    assert "| `--max-connections N` | 1,024 open |" in PAGE
    assert values["max_connections"] == 1024
    assert "| `--max-per-address N` | 512 " in PAGE
    assert values["max_per_address"] == 512
    assert "after `--grace` seconds (10)" in PAGE
    assert values["grace"] == 10
    assert "| `--max-age SECONDS` | 30 days |" in PAGE
    assert values["max_age"] == 30 * 86400


def _defaults(function: Any) -> tuple[list[str], tuple[Any, ...]]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return list(names[-len(function.__defaults__) :]), function.__defaults__


@pytest.mark.parametrize("line", re.findall(r"^(cuecard serve .*)$", PAGE, re.MULTILINE))
def test_the_command_of_the_page_has_these_options(line: str) -> None:
    told = set(re.findall(r"--[a-z-]+", line))

    assert told <= {"--port", "--host", "--states"}
