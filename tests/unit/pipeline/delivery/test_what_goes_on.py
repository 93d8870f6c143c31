"""What one call hands on to the next, over more calls than two."""

from __future__ import annotations

from pathlib import Path

from cuecard import Call, Engine, Message, ToolResult, Turn
from cuecard.pipeline.discovery import Discoveries
from cuecard.types import Cut, DeliveryWish, ResultRecord
from unit.agent.section_lists.agents import TOOLS, opened, search, step

TEXT = """\
agent: a
tools: {instructions: t.yaml, core: [tool_search]CUES}
sections: [{id: a, text: VERSION}, {id: p, text: "{{{activeProtocols}}}"}]
"""
CUES = ", cues: {on_discovery: [before, gotcha], on_result: [after, next]}"


def version(folder: Path, number: int, delivery: DeliveryWish = "append", cues: str = "") -> Engine:
    text = TEXT.replace("VERSION", f"Version {number}.").replace("CUES", cues)
    return opened(folder / str(number), text, t_yaml=TOOLS, delivery=delivery)


def used(tool: str, call_id: str) -> ToolResult:
    return ToolResult(tool, {"ok": True}, call_id)


def test_a_change_of_the_files_makes_the_system_prompt_anew_and_so_its_origin(tmp_path: Path) -> None:
    engines = [version(tmp_path, number) for number in range(2)]
    call = None
    for engine in engines:
        call = engine.prepare_call(previous=engine.prepare_call(previous=call))

        assert engine.prepare_step(call).origin == engine.agent.sha256
    assert call
    assert "Version 1." in engines[1].prepare_step(call).system


def test_a_tool_that_a_turn_brings_is_brought_once_and_stays(tmp_path: Path) -> None:
    engine = version(tmp_path, 0)
    second = engine.prepare_call(Turn(discovered=("get_page",)), previous=engine.prepare_call())
    third = engine.prepare_call(Turn(discovered=("put_page",)), previous=second)
    fourth = engine.prepare_call(Turn(discovered=("get_page",)), previous=third)

    assert second.tools.brought == {"get_page": 1}
    assert third.tools.brought == fourth.tools.brought == {"get_page": 1, "put_page": 2}
    assert fourth.tools.sent == ("get_page", "put_page")


def test_cues_that_were_said_in_one_call_are_not_said_in_the_next(tmp_path: Path) -> None:
    engine = version(tmp_path, 0, cues=CUES)
    history = [search("get_page"), used("get_page", "1")]
    first = engine.prepare_call()
    said = engine.prepare_step(first, history).appended
    second = engine.prepare_call(None, history, previous=first)

    assert second.tools.waiting == ()
    assert engine.prepare_step(second, [*history, used("get_page", "2")]).appended == said


def test_after_a_compaction_the_places_of_the_newest_messages_are_left(tmp_path: Path) -> None:
    engine, call = version(tmp_path, 0), None
    history = [used("get_page", str(number)) for number in range(4)]
    for number in range(4):
        call = engine.prepare_call(None, history[:number], previous=call)
    assert call is not None
    after = engine.prepare_call(None, history, previous=call, compacted=True, kept=2)

    assert call.prompt.turns == (None, "0", "1", "2")
    assert after.prompt.turns == ("1", "2", "3")
    assert engine.prepare_call(None, history, previous=call, compacted=True, kept=0).prompt.turns == ("3",)


def test_a_change_for_a_host_that_can_only_set_the_system_prompt_is_a_new_baseline(tmp_path: Path) -> None:
    before, after = (version(tmp_path, number, delivery="frozen") for number in range(2))
    turn = Turn(host="system-only")
    call = after.prepare_call(turn, previous=before.prepare_call(turn))

    assert (
        Cut("baseline", "the configuration changed: the system prompt differs from the one sent before")
        in call.record.cuts
    )
    assert "Version 1." in after.prepare_step(call).system


def test_the_system_prompt_keeps_its_place_among_the_messages(tmp_path: Path) -> None:
    text = TEXT.replace("CUES", "") + "messages: {order: [history, system, metadata, current]}\n"
    engine = opened(tmp_path, text, t_yaml=TOOLS, delivery="append")
    said = (Message("user", "Hi"), Message("assistant", "Hello"))

    def places(call: Call) -> list[str]:
        return [message.role for message in engine.prepare_step(call).messages]

    first = engine.prepare_call(Turn(messages=said, message=Message("user", "One")))
    later = (*said, Message("user", "One"), Message("assistant", "Two"))
    second = engine.prepare_call(Turn(messages=later, message=Message("user", "Three")), previous=first)

    assert places(first) == ["user", "assistant", "system", "user"]
    assert places(second) == ["user", "assistant", "user", "assistant", "system", "user"]


def test_a_message_that_is_asked_once_more_is_not_a_loss_and_another_in_its_place_is(tmp_path: Path) -> None:
    engine = version(tmp_path, 0)
    said = (Message("user", "Hi"), Message("assistant", "Hello"))
    first = engine.prepare_call(Turn(messages=said, message=Message("user", "One")))
    again = engine.prepare_call(Turn(messages=said, message=Message("user", "One")), previous=first)
    other = (*said, Message("user", "Another"), Message("assistant", "Two"))
    lost = engine.prepare_call(Turn(messages=other, message=Message("user", "Three")), previous=first)

    assert [cut.what for cut in again.record.cuts] == []
    assert [cut.what for cut in lost.record.cuts] == ["baseline"]

    engine = version(tmp_path, 0, delivery="frozen")
    first = engine.prepare_call(Turn(messages=said, message=Message("user", "One"), host="system-only"))
    moved = engine.prepare_call(Turn(messages=other, host="system-only"), previous=first)

    assert [cut.what for cut in moved.record.cuts] == ["tool_search"]


def test_a_core_tool_that_does_not_exist_is_not_active(tmp_path: Path) -> None:
    assert step(version(tmp_path, 0), Turn(tools=("get_page",))).active_tools == ()


def test_what_is_found_ahead_and_does_not_exist_is_not_active(tmp_path: Path) -> None:
    turn = Turn(tools=("tool_search", "get_page"), ahead=("put_page", "get_page"))

    assert step(version(tmp_path, 0), turn).active_tools == ("tool_search", "get_page")


def test_what_was_called_last_appears_last() -> None:
    results = [ResultRecord(name, str(place)) for place, name in enumerate("abca")]

    assert Discoveries().more(results, "abc", cues=False).called == ("b", "c", "a")


def test_what_was_named_last_appears_last_and_of_one_search_the_best() -> None:
    results = [ResultRecord("tool_search", str(place), tuple(names)) for place, names in enumerate(("abc", "c"))]

    assert Discoveries().more(results[:1], "abc", cues=False).named == ("c", "b", "a")
    assert Discoveries().more(results, "abc", cues=False).named == ("b", "a", "c")
