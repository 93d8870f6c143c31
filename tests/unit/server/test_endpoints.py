"""What each path answers: the same as the library, and nothing is kept between two requests."""

from __future__ import annotations

import json
import logging
import re
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cuecard import Engine, ToolResult, Turn, __version__
from cuecard.model.signed_text import seal
from cuecard.server import requests
from cuecard.server.agents import Agents
from cuecard.server.service import Envelopes, Service
from unit.server.served import KEY, serving

NOW = "2026-11-20T09:00:00+00:00"


def ask(client: httpx2.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/{path}", json={"agent": "cms", **body})

    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def refused(client: httpx2.Client, path: str, **body: Any) -> tuple[int, str]:
    answer = client.post(f"/v1/{path}", json={"agent": "cms", **body})
    return answer.status_code, answer.json()["code"]


def state_of(told: dict[str, Any]) -> Any:
    return json.loads(told["conversation"])["conversation"]["state"]


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
    least, most = (ask(client, "search-tools", query="page", limit=n, bounded=True)["tools"] for n in (0, 10**6))
    assert len(least) == 1 < len(most)
    for limit in (0, 10**6):
        assert refused(client, "search-tools", query="page", limit=limit)[0] == 422


def test_another_replica_takes_the_next_call_and_prepares_the_running_one_anew(
    client: httpx2.Client, tmp_path: Path
) -> None:
    """As in a rolling deployment, where each has other files, without a shared folder of states."""
    (tmp_path / "agent.yaml").write_text("agent: cms\nsections: [{id: role, text: You help.}]", encoding="utf-8")
    chat, sign = Engine.open(tmp_path).conversation(), Envelopes(KEY, 3600).close
    chat.user(Turn())
    theirs = ["theirPages", "cms_deletePageSectionOfTheirs"]
    host, search = {"host_tools": ["cms_createPage", *theirs]}, {"query": "create a page"}
    began = {"agent": "cms", "turn": {"now": NOW}, "conversation": sign("cms", chat), **host}
    chat.user(Turn())
    result = {"tool": "tool_search", "result": {"tools": ["cms_createPage"]}, "call_id": "call-1"}
    running = {"conversation": sign("cms", chat), "results": [result]}

    assert refused(client, "prepare-step", **running) == (409, "stale-call")
    assert refused(client, "search-tools", **running, **search) == (409, "stale-call")

    call = ask(client, "prepare-call", **began)
    known = {"conversation": call["conversation"], "results": [result]}
    step, same = (ask(client, "prepare-step", anew=began, **host, **each) for each in (running, known))
    told = {key: call[key] for key in ("delivery", "reload", "served", "search_tool", "reads")}

    assert "not in the folder of states" in call["served"]
    assert [call["reads"]["tools"][name] for name in theirs] == [1, 1]
    assert {name: name in call["reads"]["lists"] for name in theirs} == {"theirPages": False, theirs[1]: True}
    assert step == {**same, "conversation": step["conversation"], "anew": told}
    assert state_of(step) == state_of(same)

    found, here = (ask(client, "search-tools", anew=began, **search, **each) for each in (running, known))

    assert found == {**here, "conversation": found["conversation"]}
    assert "conversation" not in here
    assert ask(client, "prepare-step", conversation=found["conversation"], **host)["step"] == step["step"]


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


def test_a_service_describes_its_agents(client: httpx2.Client, agents: Agents) -> None:
    ready: list[dict[str, Any]] = [
        {"name": each.name, "state": "ready", "sha256": each.status.serving, "since": each.status.since.isoformat()}
        for each in agents
    ]
    engine: Engine = agents.find("cms").watcher.current
    asks: dict[str, Any] = {
        "query": "the action as verb and object, two to five words.",
        "limit": "at most so many tools.",
    }
    same: dict[str, Any] = {"problems": [], "profiles": [], "variants": [], "access": [], "reload": "next-conversation"}
    cards = [engine.tools[name] for name in engine.tools]
    cms = {
        **ready[0] | same,
        "search_tool": {
            "name": "tool_search",
            "description": "Find tools by what they can do, and activate them",
            **asks,
        },
        "core_tools": ["tool_search", "final_answer", "acknowledge"],
        "tools": [{"name": c.name, "description": c.description, "category": c.category} for c in cards],
        "inputs": [],
    }
    other = {
        **ready[1] | same,
        "search_tool": {"name": "tool_search", "description": "Find tools by what they can do.", **asks},
        "core_tools": [],
        "tools": [],
        "inputs": [
            {"name": "name", "type": "string", "required": True, "description": "who asks"},
            {"name": "tone", "type": "string", "required": False, "description": ""},
        ],
    }

    assert [each["name"] for each in ready] == ["cms", "other"]
    assert client.get("/v1/agents").json() == {"api": 2, "agents": [cms, other]}
    told = client.get("/readyz")
    assert (told.status_code, told.headers["connection"]) == (200, "close")
    assert told.headers.keys() == {"date", "connection", "content-type", "content-length", "x-request-id"}
    assert told.json() == {"state": "ready", "agents": [{**each, "codes": []} for each in ready]}
    assert client.get("/healthz").json() == {"state": "ok", "version": __version__}


def test_metrics_count_what_was_answered(service: Service) -> None:
    with serving(service) as client:
        ask(client, "prepare-call")
        ask(client, "prepare-call")
        client.post("/v1/prepare-call", json={"agent": "nobody"})
        client.get("/nowhere")
        answer = client.get("/metrics")
    lines = [each for each in answer.text.splitlines() if not re.search("_created|_bucket|_sum", each)]

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert [each.removeprefix("# HELP ") for each in lines if not each.startswith("# TYPE ")] == [
        "cuecard_requests_total Answered requests.",
        'cuecard_requests_total{path="/v1/prepare-call",status="200"} 2.0',
        'cuecard_requests_total{path="/v1/prepare-call",status="404"} 1.0',
        'cuecard_requests_total{path="other",status="404"} 1.0',
        "cuecard_request_seconds Response times.",
        'cuecard_request_seconds_count{path="/v1/prepare-call"} 3.0',
        'cuecard_request_seconds_count{path="other"} 1.0',
        "cuecard_problems_total Reported problems, by code.",
        'cuecard_problems_total{code="unknown-agent"} 1.0',
        'cuecard_problems_total{code="unknown-path"} 1.0',
        "cuecard_requests_running Requests in progress.",
        "cuecard_requests_running 1.0",
        "cuecard_agent_stale 1 while the files differ from the state that is served.",
        'cuecard_agent_stale{agent="cms"} 0.0',
        'cuecard_agent_stale{agent="other"} 0.0',
        "cuecard_agent_state Swaps, refusals and recoveries of the files.",
        'cuecard_agent_state{agent="cms"} 0.0',
        'cuecard_agent_state{agent="other"} 0.0',
    ]
    bounds = " ".join(re.findall(r'_bucket{le="([^"]+)",path="other"}', answer.text))
    assert bounds == "0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1.0 2.5 5.0 10.0 +Inf"


SEVERAL = "several agents are served here; name one"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "name", "message", "hint"),
    [
        ("GET", "/no", None, 404, "unknown-path", "path", "there is nothing at this path", "see /openapi.json"),
        (
            *("GET", "/v1/remember", None, 405, "wrong-method", "method"),
            *("this path does not support this method", "see /openapi.json"),
        ),
        (
            *("POST", "/v1/prepare-call", {"agent": "csm"}, 404, "unknown-agent", "agent"),
            *("no agent `csm` is served here", "did you mean `cms`?"),
        ),
        ("POST", "/v1/prepare-call", {}, 404, "unknown-agent", "agent", SEVERAL, "known here: `cms`, `other`"),
        (
            *("POST", "/v1/remember", {"agent": "cms", "conversation": "{}"}, 422, "bad-conversation", "conversation"),
            *("the JSON is not what `dump` wrote", "pass the result of `dump`, complete and unchanged"),
        ),
        (
            *("POST", "/v1/remember", {"agent": "cms", "conversation": seal({"agent": "cms"}, KEY)}, 422),
            *("bad-conversation", "conversation", "this service did not produce this text"),
            "pass on the `conversation` of the previous answer, complete and unchanged",
        ),
    ],
)
def test_a_problem_is_told_as_problem_details(
    client: httpx2.Client, method: str, path: str, body: Any, status: int, code: str, name: str, message: str, hint: str
) -> None:
    answer = client.request(method, path, json=body)
    problem = {"code": code, "docs": f"cuecard explain {code}", "message": message, "hint": hint, "name": name}

    assert answer.json() == {
        "api": 2,
        "type": f"urn:cuecard:problem:{code}",
        "title": code.replace("-", " ").capitalize(),
        "status": status,
        "detail": f"{message}; {hint}" if hint else message,
        "code": code,
        "problems": [{**problem, "span": None, "source": "", "severity": "error", "chain": []}],
    }
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.headers.get("allow") == ("POST" if status == 405 else None)


def test_a_request_keeps_the_name_that_it_came_with(client: httpx2.Client) -> None:
    names = ("order-66", "a" * 100, "a" * 101, "two words", "")
    answers = [client.get("/healthz", headers={"X-Request-ID": name}).headers["x-request-id"] for name in names]

    assert tuple(answers[:2]) == names[:2]
    assert [len(answer) for answer in answers[2:]] == [16, 16, 16]


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


RESULT = {"result": None, "call_id": None, "is_error": False, "pending": False, "batch": None, "arguments": None}
LISTS: dict[str, Any] = {"results": (), "calls": {}}
HOST: dict[str, Any] = {"messages": None, "host_tools": None, "definitions": None}


@pytest.mark.parametrize(
    ("model", "said", "defaults"),
    [
        (requests.ResultBody, {}, {"tool": "", **RESULT}),
        (
            requests.PrepareCall,
            {"turn": {}},
            LISTS | HOST | {"conversation": None, "compacted": None, "resumed": False, "said": "", "manifest": False},
        ),
        (
            requests.PrepareStep,
            {"conversation": "c"},
            LISTS | HOST | {"inputs": {}, "anew": None, "manifest": False},
        ),
        (
            requests.SearchTools,
            {"query": "q"},
            LISTS | {"limit": None, "bounded": False, "conversation": None, "anew": None},
        ),
        (
            requests.Remember,
            {},
            {"conversation": None, "entities": ()}
            | {"forget": (), "forget_type": "", "forget_all": False, "ended": False},
        ),
    ],
)
def test_what_a_body_leaves_out_is_told_by_no_schema(model: Any, said: Any, defaults: dict[str, Any]) -> None:
    told = model.model_validate(said).model_dump()
    own = {} if model is requests.ResultBody else {"agent": ""}

    assert {name: value for name, value in told.items() if name not in said} == defaults | own
    assert requests.PrepareCall().turn == requests.TurnBody()
    assert requests.TurnBody().authority is None
