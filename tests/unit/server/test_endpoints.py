"""What each path answers: the same as the library, and nothing is kept between two requests."""

from __future__ import annotations

import logging
import re
from datetime import datetime
from functools import partial
from typing import Any

import httpx2
import pytest

from cuecard import Engine, ToolResult, Turn
from cuecard.server.agents import Agents
from cuecard.server.service import Service
from unit.server.served import serving

NOW = "2026-11-20T09:00:00+00:00"


def ask(client: httpx2.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/{path}", json={"agent": "cms", **body})

    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_two_messages_of_several_steps_are_what_the_library_makes(client: httpx2.Client, agents: Agents) -> None:
    engine: Engine = agents.find("cms").watcher.current
    chat = engine.conversation()
    first = ask(client, "prepare-call", turn={"now": NOW})
    chat.user(Turn(now=datetime.fromisoformat(NOW)))

    assert first["step"]["system"] == chat.step().system

    found = ask(client, "search-tools", query="create a page", conversation=first["conversation"])
    model_sees = {"tools": found["tools"], "message": found["message"]}
    result = {"tool": "tool_search", "result": model_sees, "call_id": "call-1"}
    second = ask(client, "prepare-step", conversation=first["conversation"], results=[result])
    step = chat.step([ToolResult("tool_search", model_sees, "call-1")])

    assert second["step"]["system"] == step.system
    assert second["step"]["active_tools"] == list(step.active_tools)
    assert [block["text"] for block in second["step"]["appended"]] == [block.text for block in step.appended]
    assert [block["after_call_id"] for block in second["step"]["appended"]] == ["call-1"]

    page = {"success": True, "page": {"id": "page-7", "name": "About us"}}
    results = [{"tool": "cms_createPage", "result": page, "call_id": "call-2"}]
    third = ask(client, "prepare-call", conversation=second["conversation"], turn={"now": NOW}, results=results)
    chat.user(Turn(now=datetime.fromisoformat(NOW)), [ToolResult("cms_createPage", page, "call-2")])
    step = chat.step()

    assert third["step"]["system"] == first["step"]["system"]
    assert third["step"]["active_tools"] == list(step.active_tools)
    assert [block["text"] for block in third["step"]["appended"]] == [block.text for block in step.appended]
    assert "About us" in third["step"]["appended"][-1]["text"]


def test_what_a_late_result_found_is_placed_behind_the_words_that_were_sent_with_it(client: httpx2.Client) -> None:
    search = {"tool": "tool_search", "call_id": "s1", "result": {"tools": ["cms_createPage"]}}
    told = ask(client, "prepare-call", turn={"now": NOW})
    told = ask(client, "prepare-call", turn={"now": NOW}, conversation=told["conversation"])
    step = partial(ask, client, "prepare-step", conversation=told["conversation"])
    messages = ["user", "assistant", ["s1"], "user"]
    late = step(results=[search], messages=messages)
    in_time = step(results=[search], messages=["user", "user", "assistant", ["s1"]])

    assert [block["id"] for block in late["step"]["appended"]] == [block["id"] for block in in_time["step"]["appended"]]
    assert late["placed"]["behind"] == [[], [], [], [0]]
    assert in_time["placed"]["behind"] == [[], [], [], [0]]
    told = ask(client, "prepare-call", turn={"now": NOW}, conversation=told["conversation"], compacted=1)
    left = ["assistant", ["s1"], "user", "user"]
    shortened = ask(client, "prepare-step", conversation=told["conversation"], results=[search], messages=left)
    assert shortened["placed"]["behind"] == [[], [], [0], []]


def test_a_search_announces_what_the_next_step_has_active(client: httpx2.Client) -> None:
    begun = ask(client, "prepare-call", turn={"tools": ["tool_search", "cms_createPage"]})
    found = ask(client, "search-tools", query="create a page", conversation=begun["conversation"])

    assert found["tools"] == ["cms_createPage"]
    assert len(ask(client, "search-tools", query="create a page")["tools"]) > 1


def test_what_was_touched_is_remembered_and_forgotten(client: httpx2.Client) -> None:
    page = {"type": "page", "id": "page-1", "name": "Home"}
    told = ask(client, "remember", entities=[page])

    assert told["memory"] == [{**page, "key": ""}]

    call = ask(client, "prepare-call", conversation=told["conversation"])

    assert '- "Home" (page-1)' in call["step"]["system"]

    other = ask(client, "remember", conversation=call["conversation"], forget=["page-1"], forget_type="post")
    gone = ask(client, "remember", conversation=call["conversation"], forget=["page-1"], forget_type="page")

    assert (other["memory"], gone["memory"]) == ([{**page, "key": ""}], [])
    assert ask(client, "remember", conversation=call["conversation"], forget_all=True)["memory"] == []


def test_a_manifest_comes_when_it_is_asked_for(client: httpx2.Client) -> None:
    asked, plain = ask(client, "prepare-call", manifest=True), ask(client, "prepare-call")

    assert asked["manifest"]["delivery"]["name"] == "append"
    assert "manifest" not in plain
    assert "manifest" in ask(client, "prepare-step", conversation=plain["conversation"], manifest=True)


def test_a_history_that_was_shortened_gets_a_new_baseline(client: httpx2.Client) -> None:
    first = ask(client, "prepare-call")
    result = {"tool": "tool_search", "result": {"tools": ["cms_createPage"]}, "call_id": "call-1"}
    step = ask(client, "prepare-step", conversation=first["conversation"], results=[result])
    later = ask(client, "prepare-call", conversation=step["conversation"], compacted=1)

    assert "<cms_createPage>" in later["step"]["system"]
    assert later["step"]["appended"] == []


def test_a_service_describes_its_agents(client: httpx2.Client) -> None:
    told = {agent["name"]: agent for agent in client.get("/v1/agents").json()["agents"]}

    assert told.keys() == {"cms", "other"}
    assert told["cms"]["search_tool"]["name"] == "tool_search"
    assert "cms_createPage" in [tool["name"] for tool in told["cms"]["tools"]]
    assert told["other"]["state"] == "ready"
    assert told["other"]["inputs"] == [
        {"name": "name", "type": "string", "required": True, "description": "who asks"},
        {"name": "tone", "type": "string", "required": False, "description": ""},
    ]


def test_health_and_metrics(client: httpx2.Client) -> None:
    ask(client, "prepare-call")
    client.post("/v1/prepare-call", json={"agent": "nobody"})
    metrics = client.get("/metrics").text

    assert client.get("/nowhere").json()["code"] == "unknown-path"
    assert client.get("/healthz").json()["state"] == "ok"
    assert client.get("/readyz").json()["state"] == "ready"
    assert 'cuecard_requests_total{path="/v1/prepare-call",status="200"}' in metrics
    assert 'cuecard_request_seconds_count{path="/v1/prepare-call"}' in metrics
    assert 'cuecard_problems_total{code="unknown-agent"}' in metrics
    assert 'cuecard_agent_stale{agent="cms"} 0.0' in metrics
    told = [line for line in metrics.splitlines() if line.startswith("# HELP cuecard_")]
    assert [line for line in told if not re.fullmatch(r"# HELP \w+ [A-Z1].*\.", line)] == []


def test_a_request_keeps_the_name_that_it_came_with(client: httpx2.Client) -> None:
    named = client.get("/healthz", headers={"X-Request-ID": "order-66"})
    forged = client.get("/healthz", headers={"X-Request-ID": "two words"})

    assert named.headers["x-request-id"] == "order-66"
    assert forged.headers["x-request-id"] != "two words"


@pytest.mark.parametrize(
    ("method", "path", "level", "seldom", "told"),
    [
        ("GET", "/healthz", "DEBUG", "200", {"path": "/healthz", "status": 200}),
        ("POST", "/healthz", "INFO", "wrong-method", {"path": "/healthz", "status": 405, "codes": ["wrong-method"]}),
        ("GET", "/v1/agents", "INFO", "no-token", {"path": "/v1/agents", "status": 401, "codes": ["no-token"]}),
        ("GET", "/v1/agents", "INFO", "", {"path": "/v1/agents", "status": 200}),
        (
            "POST",
            "/v1/prepare-call",
            "INFO",
            "",
            {"path": "/v1/prepare-call", "status": 200, "agent": "cms", "received": 15},
        ),
        ("GET", "/else", "INFO", "", {"path": "other", "status": 404, "codes": ["unknown-path"]}),
    ],
)
def test_a_request_is_a_line_of_the_log(
    service: Service, caplog: pytest.LogCaptureFixture, method: str, path: str, level: str, seldom: str, told: Any
) -> None:
    caplog.set_level(logging.DEBUG, "cuecard.server")
    token = "a token of twenty-two letters"  # noqa: S105 - of tests alone
    headers = {"x-request-id": "r-1", **({} if seldom == "no-token" else {"authorization": f"Bearer {token}"})}
    with serving(service, token=token) as client:
        answer = client.request(method, path, headers=headers, json={"agent": "cms"} if told.get("agent") else None)
    # The line of another test's request may be written only now.
    (line,) = [each for each in caplog.records if getattr(each, "facts", {}).get("request") == "r-1"]
    facts = {"request": "r-1", "agent": "", "codes": [], "received": 0, "sent": len(answer.content), **told}

    assert (line.getMessage(), line.levelname, vars(line)["seldom"]) == ("request", level, seldom)
    assert 0 < vars(line)["facts"].pop("ms") < 60_000
    assert vars(line)["facts"] == facts


def test_wrong_messages_of_a_turn_are_named(client: httpx2.Client) -> None:
    wrong = {"role": "nobody", "content": "x"}
    answer = client.post("/v1/prepare-call", json={"agent": "cms", "turn": {"messages": [wrong]}})

    assert answer.status_code == 422
    assert [each["name"] for each in answer.json()["problems"]] == ["turn.messages"]


def test_the_removed_reload_policy_is_refused_with_the_way_out(client: httpx2.Client) -> None:
    answer = client.post("/v1/prepare-call", json={"agent": "cms", "turn": {"reload": "append"}, "reload": "append"})

    assert answer.status_code == 422
    problems = answer.json()["problems"]
    assert [each["code"] for each in problems] == ["removed-setting", "removed-setting"]
    assert all("`next-call`" in each["hint"] for each in problems)


def test_tools_come_and_go_between_requests_and_definitions_that_were_sent_stay(client: httpx2.Client) -> None:
    there = ["cms_createPage", "cms_deletePage", "weather"]
    found = {"tool": "tool_search", "call_id": "c1", "result": {"tools": ["cms_createPage"]}}
    told = ask(client, "prepare-call", results=[found], host_tools=there, definitions=there)

    assert told["step"]["front"] == ["tool_search", *there]
    assert "cms_createPage" in told["step"]["active_tools"]

    chat = told["conversation"]
    told = ask(client, "prepare-step", conversation=chat, host_tools=there[1:], definitions=there, manifest=True)

    assert told["step"]["front"] == ["tool_search", *there]
    assert "cms_createPage" not in told["step"]["active_tools"]
    assert "cms_createPage" in told["step"]["appended"][-1]["text"]
    assert not [cut for cut in told["manifest"]["cuts"] if cut["what"] == "baseline"]

    told = ask(client, "prepare-step", conversation=chat, host_tools=there[1:], definitions=there[1:], manifest=True)
    cuts = [cut["reason"] for cut in told["manifest"]["cuts"] if cut["what"] == "baseline"]

    assert told["step"]["front"] == ["tool_search", *there[1:]]
    assert cuts == ["the definitions in front of the request changed: `cms_createPage` left"]
