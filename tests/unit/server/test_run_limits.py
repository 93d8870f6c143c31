"""The limits of a run over HTTP: what a client must know to carry them out."""

from __future__ import annotations

from typing import Any

import httpx2

from unit.server.test_endpoints import ask


def failed(call: str) -> dict[str, Any]:
    return {"tool": "acknowledge", "call_id": call, "result": "boom", "is_error": True}


def test_a_step_says_what_is_refused_and_when_no_request_may_follow(client: httpx2.Client) -> None:
    run = {"steps": 2, "retries": 0, "first_tool": "acknowledge", "force_first": True, "always": []}
    told = ask(client, "prepare-call", agent="cms", turn={"run": run})
    begun = told["step"]
    after = ask(client, "prepare-step", agent="cms", conversation=told["conversation"], results=[failed("1")])
    last = ask(client, "prepare-step", agent="cms", conversation=after["conversation"], results=[failed("2")])

    assert begun["forced_tool"] == "acknowledge"
    assert begun["refusals"]["first"] == "acknowledge"
    assert "call `acknowledge` first" in begun["refusals"]["others"]
    assert "stopped" not in begun
    assert "has failed 1 times" in after["step"]["refusals"]["limited"]["acknowledge"]
    assert not {"forced_tool", "stopped"} & after["step"].keys()
    assert last["step"]["stopped"] == "run.steps: 2"


def test_an_agent_without_limits_answers_as_ever_and_a_host_says_what_it_cannot_do(client: httpx2.Client) -> None:
    told = ask(client, "prepare-call", agent="other", turn={"inputs": {"name": "Ann"}})
    cannot = {"not_enforced": ["steps", "failures"]}
    limited = ask(client, "prepare-call", agent="cms", turn=cannot, manifest=True)

    assert "manifest" not in told
    assert told["step"]["refusals"].keys() == {"tools", "inactive", "search", "withheld"}
    said = [each["message"] for each in limited["manifest"]["diagnostics"] if each["code"] == "not-enforced"]
    assert said == ["the host cannot enforce run.steps: 15; run.failures: 5"]
