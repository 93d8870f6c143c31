"""Blank is absent: white space counts as nothing in conditions and in every source."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import FileText, Turn
from cuecard.types import Json
from unit.agent.section_lists.agents import opened, prompt, step, write

BLANKS = ["", "\n \u3000\t\u00a0 \n"]
HEAD = """\
agent: a
layout: {heading: "# {{title}}\\n"}
inputs: {x: {default: ""}, xs: {type: list, default: []}, o: {type: object, default: {}}}
sections:
  - {id: first, text: First.}
"""
SOURCES = {
    "rows": 'rows: {input: xs, item: "{{{item.text}}}", before: "BEFORE\\n", after: AFTER}',
    "files": 'files: {supplied: true, trim: false, item: "{{{content}}}", before: BEFORE, after: AFTER, '
    "entries: [{path: a.md, keep_empty: true}]}",
    "facts": "facts: {labels: {x: X}, others: o}",
    "tools": 'tools: {item: "{{{description}}}"}',
    "skills": 'skills: {roots: skills, before: "BEFORE\\n", item: "{{#if false}}x{{/if}} ", after: AFTER}',
}
TOOLS = "described: {tool_search: {description: Find}}\n"


def blank_turn(blank: str) -> Turn:
    inputs: dict[str, Json] = {"x": blank, "xs": [{"text": blank, "n": 1}], "o": {"k": blank}}
    return Turn(inputs, tools=(), files={"a.md": FileText("a.md", blank)})


def an_agent(folder: Path, source: str, text: str, more: str = "") -> str:
    write(folder / "skills/trip/SKILL.md", "---\nname: trip\ndescription: Trips\n---\nGo.")
    section = f"  - id: s\n    title: Title\n{text}    {SOURCES[source].removesuffix('}')}{more}}}\n"
    return f"tools: {{instructions: t.yaml, core: [tool_search]}}\n{HEAD}{section}"


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", ["", '    text: "Around:\\n{{{content}}}\\nend."\n'], ids=["bare", "around"])
def test_a_source_that_renders_blank_leaves_neither_heading_nor_text_around_it(
    source: str, blank: str, text: str, tmp_path: Path
) -> None:
    engine = opened(tmp_path, an_agent(tmp_path, source, text), t_yaml=TOOLS)
    said = step(engine, blank_turn(blank))

    assert said.system == "First."
    assert ("s", "empty") in {(cut.what, cut.reason) for cut in said.manifest.cuts}


@pytest.mark.parametrize(("source", "key"), [("files", "otherwise"), ("tools", "empty"), ("skills", "empty")])
def test_a_source_with_words_for_nothing_keeps_the_text_around_it(source: str, key: str, tmp_path: Path) -> None:
    text = '    text: "Around: {{{content}}}"\n'
    for words in ("None.", ""):
        engine = opened(tmp_path, an_agent(tmp_path, source, text, f', {key}: "{words}"'), t_yaml=TOOLS)
        assert step(engine, blank_turn(" ")).system == f"First.\n\n# Title\nAround: {words}".rstrip()


def test_a_text_that_looks_at_its_source_or_at_another_value_decides_for_itself(tmp_path: Path) -> None:
    for text, expected in (
        ("{{#if content}}{{{content}}}{{else}}Nothing.{{/if}}", "Nothing."),
        ("{{{x}}}: {{{content}}}", "y:"),
    ):
        engine = opened(
            tmp_path, f"{HEAD}  - {{id: s, text: '{text}', rows: {{input: xs, item: '{{{{{{item}}}}}}'}}}}\n"
        )
        assert prompt(engine, x="y", xs=[" "]) == f"First.\n\n{expected}"


@pytest.mark.parametrize("blank", BLANKS)
def test_a_condition_counts_white_space_as_nothing_and_if_does_not(blank: str, tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        f"{HEAD}"
        "  - {id: a, when: x, text: There.}\n"
        "  - {id: b, when: {not: o.x}, text: Not there.}\n"
        "  - {id: c, choose: [{when: x, text: One.}, {text: Two.}]}\n"
        "  - {id: d, text: '{{#if x}}true{{else}}false{{/if}} {{#if (trim x)}}true{{else}}false{{/if}}'}\n",
    )

    assert (
        prompt(engine, x=blank, o={"x": blank})
        == f"First.\n\nNot there.\n\nTwo.\n\n{'true' if blank else 'false'} false"
    )
    assert prompt(engine, x="x", o={"x": "x"}) == "First.\n\nThere.\n\nOne.\n\ntrue true"
