"""Where blocks stand, what they are called, and what they never pose as."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cuecard import Engine, ToolResult, Turn
from unit.agent.section_lists.agents import TOOLS, opened, search

TWO = """\
agent: a
tools: {instructions: t.yaml, core: [tool_search]}
sections:
  - {id: a, text: a}
  - {id: first, text: "First:\\n{{{activeProtocols}}}"}
  - {id: second, text: "Second:\\n{{{activeProtocols}}}"}
"""
CUES = """\
agent: a
inputs: {who: {default: Ann}}
layout: {escaping: names}
tools: {instructions: t.yaml, core: [tool_search], cues: {on_discovery: [before, gotcha], on_result: [after, next]}}
sections: [{id: a, text: a}, {id: p, text: "For {{{who}}}.\\n{{{activeProtocols}}}"}]
"""


def cued(folder: Path) -> Engine:
    return opened(folder, CUES, t_yaml=TOOLS, delivery="append")


def used(tool: str, call_id: str, batch: str | None = None) -> ToolResult:
    return replace(ToolResult(tool, {"ok": True}, call_id), batch=batch)


def test_a_block_of_two_sections_is_named_after_the_first(tmp_path: Path) -> None:
    engine = opened(tmp_path, TWO, t_yaml=TOOLS, delivery="append")
    (block,) = engine.prepare_step(engine.prepare_call(), [search("get_page")]).appended

    assert block.id.startswith("first-")
    assert block.text.index("First:") < block.text.index("Second:")


def test_cues_appear_between_what_was_found_before_and_after_them(tmp_path: Path) -> None:
    engine = cued(tmp_path)
    history = [search("get_page", call_id="1"), used("get_page", "2"), search("put_page", call_id="3")]

    assert [b.after_call_id for b in engine.prepare_step(engine.prepare_call(), history).appended] == ["1", "2", "3"]


def test_each_batch_of_first_results_has_a_block(tmp_path: Path) -> None:
    engine = cued(tmp_path)
    history = [search("get_page", "put_page"), used("get_page", "2", "x"), used("put_page", "3", "y")]
    blocks = engine.prepare_step(engine.prepare_call(), history).appended

    assert [block.after_call_id for block in blocks] == ["call-1", "2", "3"]


def test_results_without_a_call_id_give_the_same_blocks_in_any_portions(tmp_path: Path) -> None:
    engine = opened(tmp_path, TWO, t_yaml=TOOLS, delivery="append")
    history = [replace(search(name), call_id=None) for name in ("get_page", "put_page")]
    conversation = engine.conversation()
    call = conversation.user()
    steps = [conversation.step([result]) for result in history]

    assert steps[-1].appended == engine.prepare_step(call, history).appended
    assert [len(step.appended) for step in steps] == [1, 1]


def test_where_a_profile_leaves_out_the_section_of_instructions_none_are_waited_for(tmp_path: Path) -> None:
    engine = opened(tmp_path, f"{TWO}profiles:\n  short: {{include: [a]}}\n", t_yaml=TOOLS, delivery="append")
    step = engine.prepare_step(engine.prepare_call(Turn(profile="short")), [search("get_page")])

    assert step.active_tools == ("tool_search", "get_page")
    assert step.appended == ()


def test_the_manifest_says_when_a_block_cannot_find_its_place(tmp_path: Path) -> None:
    engine = cued(tmp_path)
    call = engine.prepare_call()

    def codes(*history: ToolResult) -> list[str]:
        return [each.code for each in engine.prepare_step(call, history).manifest.diagnostics]

    first, other = search("get_page", call_id="0"), search("put_page", call_id="1")
    assert codes(first, other, first) == []
    assert codes(replace(first, call_id=None)) == ["missing_call_id"]
    assert codes(first, replace(other, call_id="0")) == ["repeated_call_id"]
    assert codes(first, used("get_page", "0"), search("get_page", call_id="0")) == ["repeated_call_id"]
    assert codes(used("put_page", "0"), first) == ["repeated_call_id"]
    assert codes(used("put_page", "0"), used("get_page", "0"), other) == []
