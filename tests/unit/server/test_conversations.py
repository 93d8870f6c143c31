"""The conversation in hands that are not trusted: changed, foreign, old, replayed, forked."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from cuecard import InputError
from cuecard.model.signed_text import seal
from cuecard.server.agents import Agents
from cuecard.server.service import Envelopes, Service
from unit.server.served import KEY, serving
from unit.server.test_endpoints import ask

RESULT = {"tool": "tool_search", "result": {"tools": ["cms_createPage"]}, "call_id": "call-1"}


def refused(
    client: httpx2.Client, conversation: str, agent: str = "cms", path: str = "prepare-step"
) -> tuple[int, str]:
    answer = client.post(f"/v1/{path}", json={"agent": agent, "conversation": conversation})

    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status_code
    assert told["detail"]
    return answer.status_code, told["code"]


def test_another_key_is_refused(client: httpx2.Client, agents: Agents) -> None:
    foreign = Envelopes("some other key of some other service", 3600)
    chat = agents.find("cms").watcher.current.conversation()

    assert refused(client, foreign.close("cms", chat)) == (403, "bad-signature")
    with pytest.raises(InputError, match="set CUECARD_KEY"):
        Envelopes(KEY, 3600, lasting=False).open(foreign.close("cms", chat), "cms")
    with pytest.raises(InputError) as caught:
        Envelopes(KEY, 3600, lasting=False).open("no such text", "cms")
    assert "CUECARD_KEY" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"issued":1', '"issued":2'),
        lambda text: text.replace("cms_getPage", "cms_getPages", 1),
        lambda text: json.dumps({"conversation": json.loads(text)["conversation"]}),
    ],
    ids=["its time", "a tool", "no signature"],
)
def test_a_changed_conversation_is_refused(client: httpx2.Client, change: Any) -> None:
    text = ask(client, "prepare-call")["conversation"]

    assert change(text) != text
    assert refused(client, change(text)) == (403, "bad-signature")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"conversation": 1}', "[" * 5000])
def test_anything_but_a_conversation_is_refused(client: httpx2.Client, text: str) -> None:
    status, code = refused(client, text)

    assert (status, code) in {(422, "bad-conversation"), (403, "bad-signature")}


def test_what_was_signed_for_something_else_is_refused(client: httpx2.Client, agents: Agents) -> None:
    engine = agents.find("cms").watcher.current
    of_the_library = seal(engine.conversation().to_json(), KEY)

    assert refused(client, of_the_library) == (422, "bad-conversation")
    assert refused(client, seal({"agent": "cms", "issued": 9e9, "state": {"format": 1, "x": 1}}, KEY))[0] == 422
    ours = {"agent": "cms", "issued": int(datetime.now(UTC).timestamp()), "state": engine.conversation().to_json()}
    assert refused(client, seal(ours, KEY)) == (422, "no-call")
    without = {name: value for name, value in ours.items() if name != "state"}
    for other in (
        {**ours, "issued": "now"},
        {**ours, "issued": True},
        {**ours, "agent": 1},
        {**ours, "packed": ""},
        without,
        [ours],
    ):
        assert refused(client, seal(other, KEY)) == (422, "bad-conversation")


def test_another_agents_conversation_is_refused(client: httpx2.Client) -> None:
    text = ask(client, "prepare-call", agent="other", turn={"inputs": {"name": "Ann"}})["conversation"]

    for path in ("prepare-step", "prepare-call", "remember"):
        assert refused(client, text, path=path) == (409, "foreign-call")

    told = client.post("/v1/remember", json={"agent": "cms", "conversation": text}).json()["problems"][0]["message"]

    assert told == "the conversation belongs to the agent `other`, not to `cms`"


def test_an_old_conversation_is_refused_and_one_that_continues_is_not(agents: Agents) -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    envelopes = Envelopes(KEY, 3600, lambda: now)
    with serving(Service(agents, envelopes)) as client:
        first = ask(client, "prepare-call")["conversation"]
        now += timedelta(minutes=50)
        second = ask(client, "prepare-step", conversation=first)["conversation"]
        now += timedelta(minutes=10)
        assert ask(client, "prepare-step", conversation=first)
        now += timedelta(minutes=40)

        assert refused(client, first) == (410, "old-conversation")
        assert ask(client, "prepare-step", conversation=second)


def test_a_client_that_asks_for_it_carries_a_third(client: httpx2.Client) -> None:
    """Either form is read, and only what is signed is unpacked; what a client writes behind a line break is its own."""
    begun = {"agent": "cms", "results": [RESULT]}
    plain = ask(client, "prepare-call", **begun)
    packed = client.post("/v1/prepare-call", json=begun, headers={"cuecard-packed": "1"}).json()

    assert packed["step"] == plain["step"]
    assert len(packed["conversation"]) * 3 < len(plain["conversation"])
    for text in (plain["conversation"], packed["conversation"], packed["conversation"] + '\n{"call-1": "its text"}'):
        told = ask(client, "prepare-step", conversation=text)
        assert told["step"] == plain["step"]
        assert "packed" not in json.loads(told["conversation"])["conversation"]
    bomb = b64encode(zlib.compress(b"0" * 2**24)).decode()
    sealed = json.loads(packed["conversation"])
    sealed["conversation"]["packed"] = bomb
    assert refused(client, json.dumps(sealed, separators=(",", ":"))) == (403, "bad-signature")
    deep = b64encode(zlib.compress(b"[" * 2**17)).decode()
    for held in (bomb, deep, "", 1, "eJw=", [bomb]):
        assert refused(client, seal({"agent": "cms", "issued": 9e9, "packed": held}, KEY))[0] == 422
        told = {"agent": "cms", "issued": int(datetime.now(UTC).timestamp()), "packed": held}
        assert refused(client, seal(told, KEY)) == (422, "bad-conversation")


def test_a_replayed_request_is_harmless(client: httpx2.Client) -> None:
    """It gets the same answer again: nothing is kept that it could change."""
    call = ask(client, "prepare-call")["conversation"]
    first = ask(client, "prepare-step", conversation=call, results=[RESULT])
    again = ask(client, "prepare-step", conversation=call, results=[RESULT])
    twice = ask(client, "prepare-step", conversation=first["conversation"], results=[RESULT])

    assert again["step"] == first["step"]
    assert twice["step"] == first["step"]


def test_two_branches_of_a_conversation_do_not_touch_each_other(client: httpx2.Client) -> None:
    call = ask(client, "prepare-call")["conversation"]
    other = {**RESULT, "result": {"tools": ["cms_deletePage"]}}
    one = ask(client, "prepare-step", conversation=call, results=[RESULT])
    two = ask(client, "prepare-step", conversation=call, results=[other])

    assert one["step"]["active_tools"][-1] == "cms_createPage"
    assert two["step"]["active_tools"][-1] == "cms_deletePage"


def test_thirty_clients_at_once_stay_apart(client: httpx2.Client) -> None:
    tools = ("cms_createPage", "cms_searchImages", "cms_deletePage")

    def talk(number: int) -> list[str]:
        memory = [{"type": "page", "id": f"id-{number}-", "name": f"Page {number}"}]
        told = ask(client, "prepare-call", turn={"memory": memory})
        systems = [told["step"]["system"]]
        for place in range(2):
            found = {"tool": "tool_search", "result": {"tools": [tools[(number + place) % 3]]}, "call_id": f"c-{place}"}
            told = ask(client, "prepare-step", conversation=told["conversation"], results=[found])
            systems.append(told["step"]["system"])
        assert {*told["step"]["active_tools"]} & {*tools} == {tools[(number + place) % 3] for place in range(2)}
        return systems

    with ThreadPoolExecutor(30) as pool:
        for number, systems in enumerate(pool.map(talk, range(30))):
            assert [(f"(id-{number}-)" in text, text.count("(id-")) for text in systems] == [(True, 1)] * 3
