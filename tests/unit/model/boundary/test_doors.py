"""Every door: what is wrong is told at once, with its path, what it should be, what it is, and a way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cuecard import (
    Call,
    Engine,
    Entity,
    FileText,
    Gates,
    InputError,
    Memory,
    Message,
    Pins,
    Problem,
    SpecError,
    Step,
    ToolResult,
    Turn,
    Watcher,
    compile_template,
    trusted,
    watch,
)
from cuecard.adapters import anthropic, gemini, openai
from cuecard.types import ModelProfile, Pace, States, Summary, ToolCall
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened

AGENT = f"""\
agent: a
tools: {{instructions: tools.yaml, core: [tool_search]}}
inputs: {{user: {{default: unknown}}}}
profiles: {{short: {{}}}}
sections: [{{id: p, text: '{{{{user}}}} {PROTOCOLS}'}}]
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(tmp_path, AGENT, tools_yaml=TOOLS)


def refused(work: Callable[[], object]) -> dict[str, Problem]:
    with pytest.raises(InputError) as error:
        work()
    return {problem.name: problem for problem in error.value.problems}


def test_all_that_is_wrong_in_a_call_is_reported_at_once(engine: Engine) -> None:
    turn: Any = Turn(
        inputs={"usr": "Ann"},
        tools="get_page",  # type: ignore[arg-type]
        discovered=("get_page", 3),  # type: ignore[arg-type]
        delivery="apend",  # type: ignore[arg-type]
        host="message",  # type: ignore[arg-type]
        reload="nw",  # type: ignore[arg-type]
        profile="shrt",
        now=datetime(2026, 11, 20),  # noqa: DTZ001 - that is the mistake
        memory=Memory(({"type": "page", "id": 7},)),  # type: ignore[arg-type]
        gates={"enabled": ()},  # type: ignore[arg-type]
        files={"a.md": "text"},  # type: ignore[dict-item]
        messages=({"role": "user", "content": "Hello"},),  # type: ignore[arg-type]
        message="Hello",  # type: ignore[arg-type]
        metadata={"at": object()},
    )
    history: Any = [ToolResult("tool_search", {}), {"tool": "x"}, ToolResult("x", {}, call_id=7)]  # type: ignore[arg-type]

    found = refused(lambda: engine.prepare_call(turn, history, kept=-3, compacted="no"))  # type: ignore[arg-type]

    assert set(found) == {
        *("turn.tools", "turn.discovered[1]", "turn.delivery", "turn.host", "turn.reload", "turn.profile", "turn.now"),
        *("turn.memory.entities[0]", "turn.gates", 'turn.files["a.md"]', "turn.messages[0]", "turn.message"),
        *("turn.metadata.at", "turn.inputs", "history[1]", "history[2].call_id", "kept", "compacted"),
    }
    assert found["turn.delivery"].hint == "did you mean `append`?"
    assert found["turn.profile"].hint == "did you mean `short`?"
    assert found["turn.tools"].hint == 'write a single item as `("get_page",)`'
    assert "messages_from_json" in found["turn.messages[0]"].hint
    assert "`Entity(type, id, name, key)`" in found["turn.memory.entities[0]"].hint
    assert found["history[2].call_id"].message == "`history[2].call_id` should be a text or None, not the number 7"
    assert found["kept"].message == "`kept` should be a whole number, at least 0, not the number -3"
    assert {problem.code for problem in found.values()} >= {"naive-time", "unknown-word", "not-json", "unknown-input"}


@pytest.mark.parametrize("kept", [True, 1.0, float("nan"), -1, "1", None])
def test_numbers_are_read_as_numbers(engine: Engine, kept: Any) -> None:
    assert set(refused(lambda: engine.prepare_call(kept=kept))) == {"kept"}


def test_lists_are_taken_as_the_tuples_that_are_meant(engine: Engine) -> None:
    message: Any = Message("assistant", [{"type": "text", "text": "Hi"}], [ToolCall("c", "get_page")])  # type: ignore[arg-type]
    result = Message("tool", "{}", tool_call_id="c")
    lists: Any = Turn(
        tools=["tool_search", "get_page"],  # type: ignore[arg-type]
        memory=Memory([Entity("page", "1", "Home")]),  # type: ignore[arg-type]
        gates=Gates(enabled=["get_page"]),  # type: ignore[arg-type]
        messages=[message, result],  # type: ignore[arg-type]
        now=datetime(2026, 11, 20, tzinfo=UTC),
    )
    said = Message("assistant", ({"type": "text", "text": "Hi"},), (ToolCall("c", "get_page"),))
    tuples = replace(
        lists,
        tools=("tool_search", "get_page"),
        memory=Memory((Entity("page", "1", "Home"),)),
        gates=Gates(enabled=("get_page",)),
        messages=(said, result),
    )

    call = engine.prepare_call(lists)

    assert call == engine.prepare_call(tuples)
    assert Call.from_json(call.to_json()) == call
    assert lists.tools == ["tool_search", "get_page"], "what the host holds stays as it is"


@pytest.mark.parametrize("names", [{"get_page"}, {"get_page": 1}, iter(["get_page"]), b"get_page", 7])
def test_what_has_no_order_or_is_gone_after_one_look_is_not_a_tuple(engine: Engine, names: Any) -> None:
    assert set(refused(lambda: engine.prepare_call(Turn(tools=names)))) == {"turn.tools"}
    assert set(refused(lambda: engine.prepare_step(engine.prepare_call(), names))) == {"history"}


def test_an_empty_mapping_is_not_a_turn(engine: Engine) -> None:
    assert set(refused(lambda: engine.prepare_call({}))) == {"turn"}  # type: ignore[arg-type]


def test_names_that_no_tool_has_are_recorded(engine: Engine) -> None:
    call = engine.prepare_call(Turn(tools=("tool_search", "gett_page"), discovered=("nosuch", "put_page", "put_page")))
    cuts = [(cut.what, cut.reason) for cut in call.record.cuts]

    assert cuts.count(("gett_page", "unknown tool: named by the turn, but not in the catalogue")) == 1
    assert cuts.count(("nosuch", "unknown tool: named by the turn, but not in the catalogue")) == 1
    assert cuts.count(("put_page", "discovered, but does not exist for this call")) == 1


def test_a_message_asks_for_the_same_whichever_way_it_comes(engine: Engine) -> None:
    orphan, early = Message("tool", "{}"), Message("user", "x", tool_calls=(ToolCall("c", "get_page"),))
    nameless: Any = Message("assistant", "", tool_calls=(ToolCall("", 7),))  # type: ignore[arg-type]
    found = refused(lambda: engine.prepare_call(Turn(messages=(orphan, early, nameless))))

    assert set(found) == {
        *("turn.messages[0].tool_call_id", "turn.messages[1].tool_calls"),
        *("turn.messages[2].tool_calls[0].id", "turn.messages[2].tool_calls[0].name"),
    }


def test_a_value_that_holds_itself_is_too_deep(engine: Engine) -> None:
    loop: list[Any] = []
    loop += [loop, loop]

    assert (
        refused(lambda: engine.prepare_call(Turn(metadata={"a": loop})))["turn.metadata.a[0]"].code == "value-too-deep"
    )


def test_errors_show_neither_secrets_nor_what_could_forge_a_line(engine: Engine, tmp_path: Path) -> None:
    for work in (
        lambda: Engine.open(tmp_path, salt=b"s3cret"),  # type: ignore[arg-type]
        lambda: engine.prepare_call(Turn(memory="s3cret")),  # type: ignore[arg-type]
        lambda: engine.prepare_call(Turn(host="x\nerror: s" + "y" * 999)),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError) as error:
            work()
        assert "s3cret" not in str(error.value)
        assert "\nerror" not in str(error.value)
        assert len(str(error.value)) < 400


def test_the_clock_is_asked_for_a_time_with_a_zone(tmp_path: Path) -> None:
    opened(tmp_path, AGENT, tools_yaml=TOOLS)
    clocks: list[Any] = [lambda: datetime(2026, 11, 20), lambda: "today", lambda: None]  # noqa: DTZ001 - that is the mistake

    for clock in clocks:
        engine = Engine.open(tmp_path, clock=clock)
        assert set(refused(engine.prepare_call)) == {"clock()"}


def test_opening_asks_before_it_reads(tmp_path: Path) -> None:
    found = refused(lambda: Engine.open(7, delivery="apend", clock=3, salt=None))  # type: ignore[arg-type]

    assert set(found) == {"path", "delivery", "clock", "salt"}
    with pytest.raises(SpecError):
        Engine.open(tmp_path / "nowhere")


def test_following_files_asks_before_it_begins(tmp_path: Path) -> None:
    found = refused(lambda: watch(7, delivery="x", ready=1, states=2, pace=Pace(quiet=-1), salt=3))  # type: ignore[arg-type]
    watcher = Any

    assert set(found) == {"path", "delivery", "salt", "ready", "states", "pace.quiet"}
    assert set(refused(lambda: Pins(watcher, policy="nw", keep=0))) == {"watcher", "policy", "keep"}  # type: ignore[arg-type]
    assert set(refused(lambda: Watcher("x", 1, 2, 3))) == {"files", "last_good", "build", "pace"}  # type: ignore[arg-type]


def test_pins_and_listeners_ask_too(tmp_path: Path) -> None:
    opened(tmp_path, AGENT, tools_yaml=TOOLS)
    with watch(tmp_path, states=tmp_path / "state") as watcher:
        pins = Pins(watcher)
        assert set(refused(lambda: pins.serve(previous={}, call=7))) == {"previous", "call"}  # type: ignore[arg-type]
        assert set(refused(lambda: pins.serve().turn({}))) == {"turn"}  # type: ignore[arg-type]
        assert set(refused(lambda: pins.serve().prepare_call({}))) == {"turn"}  # type: ignore[arg-type]
        assert set(refused(lambda: watcher.on_change("print"))) == {"callback"}  # type: ignore[arg-type]


def test_the_small_entry_points(engine: Engine) -> None:
    wrong: Any = {"name": "", "phrases": "find"}
    cards: Any = [engine.tools["get_page"], "get_page", replace(engine.tools["get_page"], **wrong)]

    assert set(refused(lambda: engine.with_tools(cards))) == {"cards[1]", "cards[2].name", "cards[2].phrases"}
    assert refused(lambda: engine.with_tools(engine.tools))["cards"].hint == "pass its `.values()`"  # type: ignore[arg-type]
    assert set(refused(lambda: engine.search_tools(7, limit=True))) == {"query", "limit"}  # type: ignore[arg-type]
    assert set(refused(lambda: engine.search_tools("x", limit=51))) == {"limit"}
    assert set(refused(lambda: engine.remember({}, [7]))) == {"memory", "results[0]"}  # type: ignore[arg-type, list-item]
    assert set(refused(lambda: engine.read_skill(7, limit=-1))) == {"slug", "limit"}  # type: ignore[arg-type]
    assert set(refused(lambda: States(7, most=True, size=-1))) == {"folder", "most", "size"}  # type: ignore[arg-type]
    assert set(refused(lambda: engine.prepare_step({}, ()))) == {"call"}  # type: ignore[arg-type]
    assert set(refused(lambda: trusted(7))) == {"text"}  # type: ignore[arg-type]
    assert set(refused(lambda: compile_template("x").render([]))) == {"values"}  # type: ignore[arg-type]
    assert set(refused(lambda: compile_template(1, partials={"a": 2}, escaping="txt", names="ab"))) == {  # type: ignore[arg-type, dict-item]
        *("text", "partials.a", "escaping", "names"),
    }


def test_a_summary_is_asked_of_what_can_answer(engine: Engine) -> None:
    async def answer(_: object) -> str:
        return ""

    found = refused(lambda: engine.summarize(Turn(summary=Summary("x", -1)), answer, timeout=float("nan")))  # type: ignore[arg-type]

    assert set(found) == {"turn.summary.covers", "summarizer", "timeout"}
    assert "asummarize" in found["summarizer"].hint


def test_providers_ask_for_their_own_form(engine: Engine) -> None:
    step, model = engine.prepare_step(engine.prepare_call()), ModelProfile("m")
    blocks: Any = [{"role": "user", "content": [{"type": "tool_result"}]}, {"content": 7}, "Hello"]

    assert set(refused(lambda: anthropic.request(step, blocks, model=7))) == {  # type: ignore[arg-type]
        *("messages[0].content[0].tool_use_id", "messages[1].role", "messages[1].content", "messages[2]", "model"),
    }
    found = refused(lambda: openai.chat_request(step, [{"role": "tool"}], model=model, tools="x", cache_key=1))  # type: ignore[arg-type]
    assert set(found) == {"messages[0].tool_call_id", "tools", "cache_key"}
    assert set(refused(lambda: openai.responses_request(step, {}, model=model))) == {"items"}
    parts: Any = [{"parts": [7]}]
    assert set(refused(lambda: gemini.request({}, parts))) == {"step", "contents[0].parts[0]"}  # type: ignore[arg-type]


def test_reading_back_asks_too() -> None:
    for kind in (Call, Step):
        with pytest.raises(InputError):
            kind.from_json([])


def test_a_turn_that_was_never_filled_is_refused(engine: Engine) -> None:
    hollow = object.__new__(Turn)

    assert len(refused(lambda: engine.prepare_call(hollow))) > 10


def test_files_of_a_turn_may_be_missing(engine: Engine) -> None:
    call = engine.prepare_call(Turn(files={"a.md": FileText("a.md")}))

    assert call.prompt.segments
