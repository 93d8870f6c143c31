"""Texts of one turn and inputs per request over HTTP: as in the library, and none of them outlives its turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cuecard import Engine, ToolResult, Turn, watch
from cuecard.server.agents import Agents, open_agents
from cuecard.server.service import Envelopes, Service
from unit.server.conftest import OTHER
from unit.server.pilot_agent import AGENT
from unit.server.served import KEY, serving
from unit.server.test_endpoints import ask, state_of

EARLIER = (Path(__file__).parent / "before_lifetimes.txt").read_text(encoding="utf-8")
"""A conversation of the agent `other` after a step, signed before there were lifetimes."""
FOREVER = 1e12
INPUTS = {"screen": "home", "note": "a secret", "clock": "9:00"}
RESULT = {"tool": "look", "call_id": "call-1", "result": "seen"}

pilot = partial(ask, agent="pilot")


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agents]:
    folder = tmp_path_factory.mktemp("passing")
    for name, text in {"pilot": AGENT, "other": OTHER}.items():
        (folder / name).mkdir()
        (folder / name / "agent.yaml").write_text(text, encoding="utf-8")
    opened = open_agents([folder / "pilot", folder / "other"], partial(watch, states=folder / "states"))
    yield opened
    opened.stop()


@pytest.fixture(scope="module")
def client(agents: Agents) -> Iterator[httpx2.Client]:
    with serving(Service(agents, Envelopes(KEY, FOREVER))) as opened:
        yield opened


def turn(delivery: str = "append", **more: Any) -> dict[str, Any]:
    return {"inputs": INPUTS, "delivery": delivery, **more}


def blocks(told: dict[str, Any]) -> list[tuple[str, Any, Any, Any]]:
    keys = ("text", "after_call_id", "turn", "lifetime")
    return [tuple(block.get(key) for key in keys) for block in told["step"]["appended"]]


def refusal(client: httpx2.Client, path: str, **body: Any) -> tuple[int, list[dict[str, Any]]]:
    answer = client.post(f"/v1/{path}", json={"agent": "pilot", **body})
    return answer.status_code, answer.json()["problems"]


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_inputs_of_a_request_make_what_they_make_in_the_library(
    client: httpx2.Client, agents: Agents, delivery: Any
) -> None:
    engine: Engine = agents.find("pilot").watcher.current
    chat, changed = engine.conversation(), {"screen": "settings", "clock": "9:01"}
    chat.user(Turn(inputs=INPUTS, delivery=delivery))
    first, told = chat.step(), pilot(client, "prepare-call", turn=turn(delivery))
    second = chat.step([ToolResult("look", "seen", "call-1")], inputs=changed)
    after = pilot(
        client, "prepare-step", conversation=told["conversation"], results=[RESULT], inputs=changed, manifest=True
    )
    third, later = chat.step(), pilot(client, "prepare-step", conversation=after["conversation"])

    for step, answer in ((first, told), (second, after), (third, later)):
        assert answer["step"]["system"] == step.system
        assert blocks(answer) == [(b.text, b.after_call_id, b.turn, b.lifetime) for b in step.appended]
        assert [each["sha256"] for each in answer["step"].get("ended", ())] == [each.sha256 for each in step.ended]
    assert after["manifest"]["sections"] == json.loads(json.dumps(second.manifest.to_json()["sections"]))
    assert "settings" in json.dumps(later["step"])
    assert told["one_turn"] is True


def test_nothing_moves_when_an_input_changes(client: httpx2.Client) -> None:
    begun = pilot(client, "prepare-call", turn=turn())
    after = pilot(
        client, "prepare-step", conversation=begun["conversation"], results=[RESULT], inputs={"screen": "settings"}
    )
    same = pilot(client, "prepare-step", conversation=after["conversation"], inputs={"screen": "settings"})

    assert after["step"]["system"] == begun["step"]["system"] == "You help Ann."
    assert blocks(begun) == [
        ("The user sees home.\n", None, 0, "turn"),
        ("Note: a secret.\n", None, 0, "turn"),
        ("It is 9:00.\n", None, None, "step"),
    ]
    ((changed, *place),) = [block for block in blocks(after) if block not in blocks(begun)]
    assert [block for block in blocks(after) if block[0] != changed] == blocks(begun)
    assert "The user sees settings." in changed
    assert place == ["call-1", None, "turn"]
    assert same["step"] == after["step"]


def test_a_turn_that_goes_on_is_no_new_message(client: httpx2.Client) -> None:
    """A host that comes back has the next step of the running call; what cannot go on is prepared anew."""
    host = {"host_tools": ["look"], "definitions": ["look"]}
    begun = pilot(client, "prepare-call", turn=turn(), **host)
    more = {"conversation": begun["conversation"], "results": [RESULT]}
    step = pilot(client, "prepare-step", inputs={"screen": "settings"}, host_tools=["look"], **more)
    said = {**INPUTS, "screen": "settings", "note": "another"}
    on = pilot(client, "prepare-call", resumed=True, turn=turn() | {"inputs": said}, **host, **more)
    served = "the state that prepared this call"

    assert begun["step"]["front"] == ["look"]
    assert on.pop("step") == step["step"]
    assert state_of(on) == state_of(step)
    told = on.keys() - {"conversation", "served"}
    assert (on["served"], {key: on[key] for key in told}) == (served, {key: begun[key] for key in told})
    assert told >= {"delivery", "reload", "search_tool", "reads", "one_turn"}

    ended = pilot(client, "remember", conversation=begun["conversation"], ended=True)["conversation"]
    anew = [
        pilot(client, "prepare-call", turn=turn(), **more),
        pilot(client, "prepare-call", turn=turn(), resumed=True, compacted=1, **more),
        pilot(client, "prepare-call", turn=turn(), resumed=True, conversation=ended),
        pilot(client, "prepare-call", turn=turn(), resumed=True, compacted=1, conversation=ended),
        pilot(client, "prepare-call", turn=turn(), resumed=True),
    ]
    assert [each["step"]["turns"] for each in anew] == [[None, "call-1"], ["", "call-1"], [""], ["", None], [None]]
    assert [each["served"] for each in anew] == [
        *["the state that this conversation started with"] * 4,
        "the newest state when this call started",
    ]


def test_texts_are_placed_among_the_messages_that_a_request_tells(client: httpx2.Client) -> None:
    begun = pilot(client, "prepare-call", turn=turn(), messages=["system", "user"])
    told = ["user", "assistant", ["call-1", "call-2"], ["call-3"], "assistant", ["call-4"]]
    after = partial(
        pilot,
        client,
        "prepare-step",
        conversation=begun["conversation"],
        results=[RESULT],
        inputs={"screen": "settings"},
    )
    home, note, changed, clock = range(4)

    assert begun["placed"]["behind"] == [[], [0, 1, 2]]
    assert [block[0] for block in blocks(after())][clock] == "It is 9:00.\n"
    assert "placed" not in after()
    assert after(messages=told)["placed"]["behind"] == [[home, note], [], [], [changed], [], [clock]]
    assert after(messages=["assistant", "user"])["placed"]["behind"] == [[], [home, note, changed, clock]]
    assert after(messages=["assistant", "assistant"])["placed"]["behind"] == [[], [home, note, changed, clock]]
    assert after(messages=[])["placed"] == {"behind": [], "thoughtless": []}

    late = after(
        conversation=after()["conversation"],
        results=[RESULT | {"call_id": "call-3"}],
        inputs={"screen": "profile"},
        messages=["user", "assistant", ["call-1"], "tool", ["call-3"]],  # an answer to an approval among the results
    )
    assert [block[1] for block in blocks(late)] == [None, None, "call-1", "call-3", None]
    assert late["placed"]["behind"] == [[0, 1], [], [], [], [2, 3, 4]]


def test_other_inputs_of_a_request_are_refused_all_at_once(client: httpx2.Client) -> None:
    begun = pilot(client, "prepare-call", turn=turn())["conversation"]
    status, problems = refusal(
        client, "prepare-step", conversation=begun, inputs={"name": "Bob", "scren": "x", "clock": 9}
    )

    assert status == 422
    assert {each["code"]: each["name"] for each in problems} == {
        "unknown-input": "inputs",
        "not-a-step-input": "inputs",
        "wrong-input": "inputs",
    }
    assert all(each["hint"] for each in problems)
    assert "did you mean `screen`?" in [each["hint"] for each in problems]

    status, (problem,) = refusal(client, "prepare-step", conversation=begun, inputs="screen")
    assert (status, problem["code"], problem["name"]) == (422, "wrong-value", "body")
    assert problem["span"]


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_what_a_turn_had_is_in_no_conversation_after_its_end(client: httpx2.Client, delivery: str) -> None:
    """The running conversation holds it, so that any replica can go on; the ended one does not."""
    begun = pilot(client, "prepare-call", turn=turn(delivery, ephemeral="Hush."))
    running = pilot(
        client, "prepare-step", conversation=begun["conversation"], results=[RESULT], inputs={"screen": "settings"}
    )["conversation"]
    ended = pilot(client, "remember", conversation=running, ended=True)["conversation"]

    for text in ("home", "settings", "a secret", "9:00"):
        assert text in begun["conversation"] + running
        assert text not in ended
    assert "Hush." not in ended
    assert pilot(client, "prepare-step", conversation=running)["step"]["system"]


def test_a_turn_that_has_ended_has_no_further_steps(client: httpx2.Client) -> None:
    begun = pilot(client, "prepare-call", turn=turn())["conversation"]
    entity = {"type": "page", "id": "page-1", "name": "Home", "key": ""}
    told = pilot(client, "remember", conversation=begun, ended=True, entities=[entity])
    again = pilot(client, "remember", conversation=told["conversation"], ended=True)
    status, (problem,) = refusal(client, "prepare-step", conversation=told["conversation"])

    assert told["memory"] == again["memory"] == [entity]
    assert (status, problem["code"]) == (409, "turn-ended")
    assert "prepare the next user message" in problem["hint"]
    assert state_of(again) == state_of(told)


@pytest.mark.parametrize("ends", [True, False])
def test_the_next_turn_goes_on_as_if_the_texts_had_never_been(client: httpx2.Client, *, ends: bool) -> None:
    begun = pilot(client, "prepare-call", turn=turn())
    told = pilot(client, "prepare-step", conversation=begun["conversation"], results=[RESULT])
    if ends:
        told = pilot(client, "remember", conversation=told["conversation"], ended=True)
    after = pilot(client, "prepare-call", conversation=told["conversation"], turn={"delivery": "append"})

    assert after["step"]["system"] == begun["step"]["system"]
    assert blocks(after) == []
    assert [each["what"] for each in after["step"]["ended"]] == ["screen", "note", "clock"]
    assert {(each["turn"], each["after_call_id"]) for each in after["step"]["ended"]} == {(0, None)}


def test_a_model_that_checks_its_thinking_is_known_once_a_text_has_ended(client: httpx2.Client) -> None:
    for model, checks in {"claude-opus-5-5": True, "claude-opus-4-8": None}.items():
        said = {"inputs": {"note": "a secret"}, "delivery": "append", "model": model, "profile": "calm"}
        begun = pilot(client, "prepare-call", turn=said)
        after = pilot(client, "prepare-call", conversation=begun["conversation"], turn=said)
        step = pilot(client, "prepare-step", conversation=after["conversation"])["step"]

        assert "checks_thinking" not in begun["step"]
        assert after["step"].get("checks_thinking") is checks
        assert step == after["step"]


def test_each_message_is_that_of_one_turn_also_beside_older_and_unanswered_ones(client: httpx2.Client) -> None:
    said = {"inputs": {"note": "a secret"}, "delivery": "append", "model": "claude-opus-5-5", "profile": "calm"}
    told: dict[str, Any] = {"conversation": None}
    for _ in range(3):
        told = pilot(client, "prepare-call", conversation=told["conversation"], turn=said)
    step = partial(pilot, client, "prepare-step", conversation=told["conversation"])
    older = ["user", "assistant", "user", "assistant", "user", "user"]

    assert step(messages=older)["placed"] == {"behind": [[], [], [], [], [], [0]], "thoughtless": [3]}
    assert step(messages=older[3:])["placed"] == {"behind": [[], [], [0]], "thoughtless": []}
    assert step(messages=older[:4])["placed"] == {"behind": [[], [], [0], []], "thoughtless": [1]}


def test_the_description_of_an_agent_says_which_inputs_pass(client: httpx2.Client) -> None:
    told = {agent["name"]: agent["inputs"] for agent in client.get("/v1/agents").json()["agents"]}

    assert {each["name"]: (each.get("tier"), each.get("lifetime")) for each in told["pilot"]} == {
        "name": (None, None),
        "screen": ("step", "turn"),
        "note": ("call", "turn"),
        "clock": ("step", "step"),
    }
    assert [each.keys() for each in told["other"]] == [{"name", "type", "required", "description"}] * 2


def test_an_agent_without_such_texts_is_answered_as_before(client: httpx2.Client) -> None:
    begun = ask(client, "prepare-call", agent="other", turn={"inputs": {"name": "Ann"}})
    new = {"one_turn", "ended", "checks_thinking", "lifetime", "passing", "given", "over"}

    assert not new & _keys(begun)
    assert not new & _keys(json.loads(begun["conversation"]))


def test_a_conversation_that_was_signed_before_there_were_lifetimes_goes_on(client: httpx2.Client) -> None:
    step = ask(client, "prepare-call", agent="other", conversation=EARLIER, turn={"inputs": {"name": "Bob"}})["step"]
    ended = ask(client, "remember", agent="other", conversation=EARLIER, ended=True)["conversation"]
    after = ask(client, "prepare-call", agent="other", conversation=ended, turn={"inputs": {"name": "Bob"}})["step"]

    assert step["turns"] == [None, "call-1"]
    assert step == after


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for held in value.values() for key in _keys(held))}
    return {key for held in value for key in _keys(held)} if isinstance(value, list) else set()
