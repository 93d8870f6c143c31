"""Promise 5 where hosts do what hosts do: each of these once rewrote what had been sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from cuecard import Call, Entity, Memory, Message, Step, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.types import ServedEngine, ToolCall
from property.hosts import Json, Shape, bare, serialized, shapes
from property.test_every_conversation import CORE, TOOLS, engine_of

pytestmark = pytest.mark.repeats

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SHAPES = {shape.name: shape for shape in shapes((*TOOLS[::-1], *CORE))}
EVERY = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
REMINDING = pytest.mark.parametrize(
    "shape", [shape for name, shape in SHAPES.items() if "reminders" in name or "gemini" in name], ids=lambda s: s.name
)
ENGINE = engine_of(0, (1, 1, 1, 1, 0), "append", "next-call", "{}")
FROZEN = engine_of(0, (1, 1, 1, 1, 0), "frozen", "next-call", "{}")
PAGES = [Memory((Entity("page", f"p{n}", f"Page {n}"),)) for n in range(4)]


def calls(*names: str, first: int = 0) -> Message:
    return Message("assistant", "", tuple(ToolCall(f"c{first + n}", name) for n, name in enumerate(names)))


def result(call: str, text: str = "done") -> Message:
    return Message("tool", text, tool_call_id=call)


def search(call: str, *tools: str) -> tuple[Message, ToolResult]:
    found = {"tools": list(tools)}
    return result(call, json.dumps(found)), ToolResult("tool_search", found, call)


def user(text: str = "hello") -> Message:
    return Message("user", text)


DONE = Message("assistant", "done")


def grows(shape: Shape, *requests: tuple[Step, Sequence[Message]]) -> list[Json]:
    """The bodies, of which each starts with the one before, and says the same when its messages are sent again."""
    bodies = [shape.send(step, messages) for step, messages in requests]
    texts = [serialized(body) for body in bodies]
    for before, after in pairwise(texts):
        assert after.startswith(before)
    for (step, _), body in zip(requests, bodies, strict=True):
        assert shape.again(step, body) == body
    return bodies


@EVERY
def test_an_update_stays_with_words_that_share_a_message_with_the_last_result(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [user()]
    requests = [(chat.step(), [*said])]
    for number in range(1, 4):
        said += [calls("final_answer", first=number), result(f"c{number}"), user(f"message {number}")]
        chat.user(Turn(now=NOW, memory=PAGES[number]), [ToolResult("final_answer", "done", f"c{number}")])
        requests.append((chat.step(), [*said]))
        said += [calls("tool_search", first=10 + number), search(f"c{10 + number}", TOOLS[number])[0]]
        requests.append((chat.step([search(f"c{10 + number}", TOOLS[number])[1]]), [*said]))
    bodies = grows(shape, *requests)

    assert len(requests[-1][0].appended) == 6
    assert len(bodies) == 7


@EVERY
def test_remarks_of_the_host_alongside_results_are_not_messages_of_the_user(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [user(), calls("tool_search"), search("c0", "t_1")[0], user("<remark>")]
    requests = [(chat.step([search("c0", "t_1")[1]]), [*said])]
    said += [DONE, user("two")]
    chat.user(Turn(now=NOW, memory=PAGES[1]))
    requests.append((chat.step(), [*said]))
    said += [calls("t_1", first=1), result("c1"), user("<remark>")]
    requests.append((chat.step([ToolResult("t_1", "done", "c1")]), [*said]))
    said += [DONE, user("three")]
    chat.user(Turn(now=NOW, memory=PAGES[2]))
    requests.append((chat.step(), [*said]))

    grows(shape, *requests)


@EVERY
def test_a_conversation_that_the_engine_joins_later_finds_its_messages(shape: Shape) -> None:
    before = [user("earlier"), DONE, user("also earlier"), DONE]
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    requests = [(chat.step(), [*before, user()])]
    chat.user(Turn(now=NOW, memory=PAGES[1]))
    requests.append((chat.step(), [*before, user(), DONE, user("two")]))
    chat.user(Turn(now=NOW, memory=PAGES[2]))
    requests.append((chat.step(), [*before, user(), DONE, user("two"), DONE, user("three")]))

    grows(shape, *requests)


@EVERY
def test_definitions_keep_the_order_of_the_baseline_when_tools_are_withdrawn(shape: Shape) -> None:
    said = [user()]
    requests = []
    chat = FROZEN.conversation()
    for gone in ("", "t_3", "t_1", ""):
        there = tuple(name for name in FROZEN.tools if name != gone)
        chat.user(Turn(now=NOW, tools=there))
        requests.append((chat.step(), [*said]))
        said += [DONE, user(f"without {gone}")]
    bodies = grows(shape, *requests)

    assert "withdrawn-tools" in json.dumps(bodies[1])
    assert "t_3" not in requests[1][0].active_tools
    assert set(requests[3][0].active_tools) == {*TOOLS, *CORE} - {"tool_search"}


@EVERY
def test_after_a_compaction_too(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    chat.step([search("c0", "t_4", "t_2")[1]])
    chat.compacted()
    said = [user("summary"), DONE, user()]
    requests = []
    for gone in ("", "t_4", ""):
        chat.user(Turn(now=NOW, tools=tuple(name for name in ENGINE.tools if name != gone)))
        requests.append((chat.step(), [*said]))
        said += [DONE, user()]

    grows(shape, *requests)


@EVERY
def test_a_tool_that_is_withdrawn_keeps_its_reference_and_its_block(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [user(), calls("tool_search"), search("c0", "t_1", "t_2")[0]]
    requests = [(chat.step([search("c0", "t_1", "t_2")[1]]), [*said])]
    said += [DONE, user("two")]
    chat.user(Turn(now=NOW, tools=(*CORE, "t_2")))
    requests.append((chat.step(), [*said]))
    first, second = grows(shape, *requests)

    assert json.dumps(second).count('"tool_reference"') == json.dumps(first).count('"tool_reference"')
    assert "t_1" not in requests[1][0].active_tools


@EVERY
def test_a_tool_found_while_it_was_withdrawn_is_announced_with_the_turn_that_brings_it_back(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW, tools=(*CORE, "t_2")))
    said = [user(), calls("tool_search"), search("c0", "t_1", "t_2")[0]]
    requests = [(chat.step([search("c0", "t_1", "t_2")[1]]), [*said])]
    said += [DONE, user("two")]
    call = chat.user(Turn(now=NOW))
    requests.append((chat.step(), [*said]))
    grows(shape, *requests)
    before, after = (step for step, _ in requests)

    assert "<t_1>" not in "".join(block.text for block in before.appended)
    assert "t_1" not in before.active_tools
    assert [cut.reason for cut in before.manifest.cuts if cut.what == "t_1"] == [
        "discovered, but does not exist for this call"
    ]
    assert after.appended[-1].turn == call.turn
    assert after.appended[-1].text.count("<t_1>\n") == 1
    assert "<restored-tools>\nt_1\n</restored-tools>" in after.appended[-1].text
    assert "t_1" in after.active_tools


@EVERY
def test_a_window_of_the_hosts_own_leaves_each_update_at_its_message(shape: Shape) -> None:
    """What has lost its message stands with the first one that is left, and nothing piles up at the end."""
    chat = ENGINE.conversation()
    said: list[Message] = []
    for number in range(4):
        chat.user(Turn(now=NOW, memory=PAGES[number]))
        said += [user(f"message {number}"), DONE]
    step = chat.step()
    whole = shape.send(step, said[:-1])
    short = shape.send(step, said[2:-1])
    shorter = shape.send(step, said[4:-1])

    def places(body: Json) -> list[int]:
        said = json.dumps(bare(body[shape.messages]))
        return [said.count("message", 0, said.index(json.dumps(b.text)[1:-1])) for b in step.appended]

    assert places(whole) == [2, 3, 4]
    assert places(short) == [1, 2, 3]
    assert places(shorter) == [1, 1, 2]
    later = [*said[4:-1], calls("t_1"), result("c0")]
    grows(shape, (step, said[4:-1]), (chat.step([ToolResult("t_1", "done", "c0")]), later))


@REMINDING
def test_a_user_may_paste_a_reminder_word_by_word(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [user(), calls("tool_search"), search("c0", "t_1")[0]]
    requests = [(chat.step([search("c0", "t_1")[1]]), [*said])]
    pasted = reminder(requests[0][0].appended[0].text)
    said += [DONE, user(pasted)]
    chat.user(Turn(now=NOW, memory=PAGES[1]))
    requests.append((chat.step(), [*said]))
    update = reminder(requests[1][0].appended[-1].text)
    said += [DONE, user(update), DONE, user(f"{update}{pasted}")]
    chat.user(Turn(now=NOW, memory=PAGES[1]))
    chat.user(Turn(now=NOW, memory=PAGES[2]))
    requests.append((chat.step(), [*said]))
    body = grows(shape, *requests)[-1]

    assert json.dumps(body).count(json.dumps(pasted)[1:-1]) == 3
    assert json.dumps(body).count(json.dumps(update)[1:-1]) == 3
    assert all(message.get("content", message.get("parts", True)) for message in body[shape.messages])


@REMINDING
def test_a_reminder_that_a_user_pastes_behind_words_stays_theirs(shape: Shape) -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [user(), calls("tool_search"), search("c0", "t_1")[0]]
    requests = [(chat.step([search("c0", "t_1")[1]]), [*said])]
    pasted = reminder(requests[0][0].appended[0].text)
    said += [DONE, user("what is this?"), user(pasted)]
    chat.user(Turn(now=NOW))
    requests.append((chat.step(), [*said]))
    body = grows(shape, *requests)[-1]

    assert json.dumps(body).count(json.dumps(pasted)[1:-1]) == 2


@pytest.mark.parametrize("deliver", [ENGINE, FROZEN], ids=["append", "frozen"])
def test_a_window_of_the_agent_that_moves_is_a_recorded_baseline(deliver: object) -> None:
    engine = engine_of(
        0,
        (1, 1, 1, 1, 0),
        "append" if deliver is ENGINE else "frozen",
        "next-call",
        json.dumps({"history": {"policy": "last", "limit": 4}}),
    )
    chat = engine.conversation()
    said: list[Message] = []
    reasons, steps = [], []
    for number in range(5):
        new = user(f"message {number}")
        call = chat.user(Turn(now=NOW, memory=PAGES[number % 4], messages=tuple(said), message=new))
        reasons.append([cut.reason for cut in call.record.cuts if cut.what == "baseline"])
        steps.append(chat.step())
        said += [new, DONE]
    moved = ["the history window moved: earlier messages are gone, so the system prompt is rebuilt"]

    assert reasons == [[], [], [], moved, moved]
    assert [len(step.appended) for step in steps] == [0, 1, 2, 0, 0]
    assert '"Page 3"' in steps[3].system


def test_a_window_that_moves_forgets_no_tool() -> None:
    engine = engine_of(
        0, (1, 1, 1, 1, 0), "append", "next-call", json.dumps({"history": {"policy": "last", "limit": 2}})
    )
    chat = engine.conversation()
    chat.user(Turn(now=NOW, message=user()))
    chat.step([search("c0", "t_1")[1]])
    said = (user(), calls("tool_search"), search("c0", "t_1")[0], DONE)
    call = chat.user(Turn(now=NOW, messages=said, message=user("two")))

    assert "<t_1>" in chat.step().system
    assert call.tools.earlier == ("t_1",)


def test_a_call_that_takes_the_place_of_one_within_its_run_is_a_recorded_baseline() -> None:
    """`reload: now`: a block that was sent is another one then, at its old place."""
    served = ServedEngine(
        engine_of(0, (2, 1, 1, 1, 0), "append", "now", "{}"), "now", "the newest state", "now: changed"
    )
    call = served.prepare_call(Turn(now=NOW))

    assert [cut.reason for cut in call.record.cuts if cut.what == "baseline"] == ["now: changed"]


def test_calls_stored_before_turns_were_known_are_still_understood() -> None:
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    data = chat.state.to_json()
    prompt = data["call"]["prompt"]
    del prompt["turns"], prompt["origin"]
    again = ENGINE.prepare_call(Turn(now=NOW, memory=PAGES[1]), previous=Call.from_json(data["call"] | {"format": 1}))
    step = ENGINE.prepare_step(again)

    assert step.turns == (None, None)
    grows(SHAPES["chat"], (step, [user(), DONE, user()]))
