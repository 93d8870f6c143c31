"""What the limits of a run say of a step: decided from results, however they reach the engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import ConversationState, Engine, SpecError, ToolResult, Turn
from cuecard.types import RunLimits

AGENT = """\
agent: shop
delivery: append
run: RUN
tools: {instructions: tools.yaml, core: [tool_search, greet]}
sections:
  - {id: role, text: You help in a shop.}
  - {id: instructions, text: "{{{activeProtocols}}}"}
"""
TOOLS = """\
category: shop
described: {tool_search: {description: Find tools}}
tools:
"""
NAMES = ("greet", "refund", "ship", "call_back")


def shop(folder: Path, run: str = "{}") -> Engine:
    entries = "".join(f"  {name}: {{before: Ask, after: Say so, next: Go on, gotcha: Take care}}\n" for name in NAMES)
    (folder / "tools.yaml").write_text(TOOLS + entries)
    (folder / "agent.yaml").write_text(AGENT.replace("RUN", run))
    return Engine.open(folder)


def failed(tool: str, call: str, batch: str | None = None) -> ToolResult:
    return ToolResult(tool, "boom", call, is_error=True, batch=batch)


def done(tool: str, call: str, batch: str | None = None) -> ToolResult:
    return ToolResult(tool, "ok", call, batch=batch)


def found(*tools: str, call: str = "found") -> ToolResult:
    return ToolResult("tool_search", {"tools": [*tools]}, call)


def test_a_handle_and_a_host_that_keeps_the_results_itself_are_told_the_same(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{steps: 3, retries: 0, failures: 4, first_tool: greet}")
    chat, results, previous = engine.conversation(), list[ToolResult](), None
    for number in range(3):
        call, own = chat.user(), engine.prepare_call(history=results, previous=previous)
        together = [done("greet", f"{number}-a", "x"), found("refund", call=f"{number}-b")]
        together[1] = replace(together[1], batch="x")
        for news in ([], together, [failed("refund", f"{number}-c")]):
            results += news
            assert chat.step(news).to_json() == engine.prepare_step(own, results).to_json()
        previous = own
        assert call == own


def test_only_the_results_of_this_run_may_be_passed_or_some_of_those_before_it(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{steps: 2, retries: 1, failures: 4}")
    before, own = [failed("greet", call) for call in "12"], [failed("ship", call) for call in "345"]
    call = engine.prepare_call(history=before)

    for made in range(4):
        alone, some, whole = [engine.prepare_step(call, [*before[at:], *own[:made]]) for at in (2, 1, 0)]
        assert alone.to_json() == some.to_json() == whole.to_json()
        assert alone.stopped == ("run.steps: 2" if made > 1 else "")
        assert (f"{made + 2} calls have failed" in str(alone.refusal("greet"))) == (made > 1)


@pytest.mark.parametrize("ids", [["1", "1"], ["2", "1"], ["1", None], [None, None]])
def test_a_whole_history_is_known_by_its_length_where_ids_repeat_or_are_missing(
    tmp_path: Path, ids: list[str | None]
) -> None:
    engine = shop(tmp_path, "{steps: 1}")
    before, own = [ToolResult("greet", "ok", call) for call in ids], ToolResult("greet", "ok", ids[-1], batch="")
    chat, call = engine.conversation(), engine.prepare_call(history=before)

    assert engine.prepare_step(call, before).stopped == ""
    assert engine.prepare_step(call, [*before, own]).stopped == "run.steps: 1"
    chat.user()
    chat.step(before)
    chat.user()
    assert chat.step([own, own]).stopped == ("" if ids[-1] else "run.steps: 1")  # a conversation takes each id once
    assert ids[-1] or engine.prepare_step(call, [own]).stopped == "run.steps: 1"


def test_an_engine_without_limits_keeps_nothing_of_them_and_stored_states_load(tmp_path: Path) -> None:
    chat = shop(tmp_path).conversation()
    chat.user()
    step = chat.step([failed("greet", "1"), failed("greet", "2")])

    stored = json.dumps(chat.to_json())
    assert '"run"' not in stored
    assert '"beside"' not in stored
    assert (step.stopped, step.forced_tool, step.refusal("greet")) == ("", "", None)
    assert ConversationState.from_json(json.loads(stored)) == chat.state


def test_limits_go_on_where_a_conversation_was_stored(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{steps: 3, retries: 0}")
    chat = engine.conversation()
    chat.user()
    chat.step([failed("greet", "1"), done("greet", "2")])

    chat = engine.load(engine.dump(chat))

    assert "has failed 1 times" in str(chat.step().refusal("greet"))
    assert chat.step([done("greet", "3")]).stopped == ""
    assert chat.step([done("greet", "4")]).stopped == "run.steps: 3"
    assert chat.step().stopped == "run.steps: 3"


def test_a_turn_overrides_the_agent_file_and_other_limits_stay(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{steps: 9, retries: 0}")

    call = engine.prepare_call(Turn(run=RunLimits(steps=1)))
    step = engine.prepare_step(call, [failed("greet", "1")])

    assert step.stopped == "run.steps: 1"
    assert "has failed 1 times" in str(step.refusal("greet"))


def test_what_is_always_allowed_is_never_refused(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{retries: 0, failures: 1, always: [greet]}")

    step = engine.prepare_step(engine.prepare_call(), [failed("greet", "1")])

    assert step.refusal("greet") is None
    assert "1 calls have failed" in str(step.refusal("tool_search"))


def test_nobody_waits_for_a_first_tool_that_the_turn_does_not_have(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{first_tool: greet}")

    step = engine.prepare_step(engine.prepare_call(Turn(tools=("tool_search", "refund"))))

    assert step.refusal("tool_search") is None
    assert "run.first_tool" in [cut.what for cut in step.manifest.cuts]


def test_a_tool_that_left_is_found_again_and_nothing_changes_between_baselines(tmp_path: Path) -> None:
    engine = shop(tmp_path, "{kept_tools: 1}")
    chat = engine.conversation()
    chat.user()
    first = chat.step([found("refund", "ship", "call_back"), done("ship", "1")])
    chat.user()
    assert {*chat.step().active_tools} == {*first.active_tools}
    assert chat.step().system == first.system

    chat.compacted()
    chat.user()
    later = chat.step()
    assert later.active_tools == ("tool_search", "greet", "ship")
    left = [cut.what for cut in later.manifest.cuts if "run.kept_tools: 1" in cut.reason]
    assert left == ["refund", "call_back"]
    assert "refund" in chat.search_tools("refund").tools

    again = chat.step([found("refund", call="again")])
    assert again.active_tools == ("tool_search", "greet", "ship", "refund")
    assert again.system == later.system
    chat = engine.load(engine.dump(chat))
    chat.user()
    assert chat.step().active_tools == again.active_tools


@pytest.mark.parametrize(
    ("run", "code", "says"),
    [
        ("{force_first: true}", "wrong-value", "has `force_first` without `first_tool`"),
        ("{steps: 0}", "wrong-value", "steps"),
        ("{retrys: 1}", "unknown-key", "retrys"),
    ],
)
def test_a_wrong_limit_is_one_error_at_its_place(tmp_path: Path, run: str, code: str, says: str) -> None:
    with pytest.raises(SpecError) as raised:
        shop(tmp_path, run)

    (problem,) = raised.value.problems
    assert problem.code == code
    assert says in problem.message
    assert problem.span
    assert problem.span.line == 3
