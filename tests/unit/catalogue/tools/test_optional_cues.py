"""Tool entries need only what they say: each of the four cues is optional."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest

from cuecard import Engine, SpecError, Step, ToolResult
from cuecard.catalogue.graph import tool_graph
from cuecard.config.tools_spec import CUES
from cuecard.types import ToolInstructions

AGENT = """\
agent: tiny
delivery: append
tools: {instructions: t.yaml, core: [tool_search]MORE}
sections:
  - {id: how, text: "How:\\n{{{activeProtocols}}}"}
"""
SEARCH = "described: {tool_search: {description: Find tools}}\n"
SPLIT = ", cues: {on_discovery: [before, gotcha], on_result: [after, next]}"
SOME = [*chain.from_iterable(combinations(CUES, size) for size in (1, 2, 4))]


def opened(folder: Path, entries: str, more: str = "") -> Engine:
    (folder / "agent.yaml").write_text(AGENT.replace("MORE", more), encoding="utf-8")
    (folder / "t.yaml").write_text(f"{SEARCH}tools:\n{entries}", encoding="utf-8")
    return Engine.open(folder)


def step(engine: Engine, *later: ToolResult) -> Step:
    found = ToolResult("tool_search", {"tools": ["save"]}, "search")
    return engine.prepare_step(engine.prepare_call(), [found, *later])


@pytest.mark.parametrize("cues", SOME, ids="-".join)
def test_the_block_of_a_tool_has_a_line_for_each_cue_of_its_entry_and_no_other(
    cues: tuple[str, ...], tmp_path: Path
) -> None:
    engine = opened(tmp_path, f"  save: {{{', '.join(f'{cue}: the {cue}' for cue in cues)}}}\n")
    lines = "".join(f"{cue.upper()}: the {cue}\n" for cue in cues)

    assert engine.warnings == ()
    assert engine.instructions["save"] == f"<save>\n{lines}</save>\n"
    assert step(engine).appended[0].text == f"How:\n<save>\n{lines}</save>\n"


@pytest.mark.parametrize("blank", ['""', '"  "', '["", " "]'])
def test_a_blank_text_prints_as_little_as_an_absent_one(blank: str, tmp_path: Path) -> None:
    engine = opened(tmp_path, f"  save: {{before: Ask, after: {blank}}}\n")

    assert engine.tools["save"].instructions == ToolInstructions(before="Ask")
    assert engine.instructions["save"] == "<save>\nBEFORE: Ask\n</save>\n"


@pytest.mark.parametrize("entry", ["{description: Save}", '{description: Save, before: " "}'])
def test_a_tool_with_none_of_the_four_is_active_without_instructions_and_a_warning_says_where_it_belongs(
    entry: str, tmp_path: Path
) -> None:
    engine = opened(tmp_path, f"  save: {entry}\n")
    said = step(engine)

    assert [(each.code, each.severity, each.span.line if each.span else 0) for each in engine.warnings] == [
        ("no-instructions", "warning", 3)
    ]
    assert "`described:`" in engine.warnings[0].hint
    assert (said.active_tools, said.appended) == (("tool_search", "save"), ())
    (tmp_path / "t.yaml").write_text(
        "described: {tool_search: {description: Find tools}, save: {description: Save}}\n", encoding="utf-8"
    )
    described = Engine.open(tmp_path)
    assert described.warnings == ()
    assert step(described).system == said.system
    assert step(described).active_tools == said.active_tools


@pytest.mark.parametrize("null", ["next:", "next: null", "next: ~"])
def test_a_null_is_an_error_that_says_to_leave_the_key_out(null: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"`tools\.save\.next` should be a text") as caught:
        opened(tmp_path, f"  save:\n    before: Ask\n    {null}\n")

    assert [problem.hint for problem in caught.value.problems] == ["leave the key out, or give it a value"]


@pytest.mark.parametrize("cues", SOME, ids="-".join)
def test_split_cues_arrive_each_once_and_a_tool_is_never_active_without_any(
    cues: tuple[str, ...], tmp_path: Path
) -> None:
    engine = opened(tmp_path, f"  save: {{{', '.join(f'{cue}: the {cue}' for cue in cues)}}}\n", SPLIT)
    found, answered = step(engine), step(engine, ToolResult("save", {"ok": True}, "call"))

    at_once = [cue for cue in cues if cue in {"before", "gotcha"}]
    later = [cue for cue in cues if cue not in at_once] if at_once else []
    assert found.active_tools == ("tool_search", "save")
    texts = [block.text for block in answered.appended]
    assert texts[0] == found.appended[0].text
    assert [[cue for cue in CUES if f"the {cue}" in text] for text in texts] == [
        at_once or list(cues),
        *([later] if later else []),
    ]


def test_the_graph_reads_the_cues_that_there_are(tmp_path: Path) -> None:
    engine = opened(tmp_path, "  save: {next: publish}\n  publish: {gotcha: Ask first}\n  undo: {before: publish}\n")
    graph = tool_graph(engine.tools.values())

    assert (graph.after("save"), graph.after("publish"), graph.after("undo")) == (("publish",), ("undo",), ())
