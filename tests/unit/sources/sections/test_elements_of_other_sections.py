"""Each section is a template of its own, but one prompt holds all: no data may open or close an element of any."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, Turn

AGENT = """\
agent: list
layout: {escaping: names}
inputs:
  said: {default: ""}
  facts: {type: object, default: {}}
sections:
  - {id: text, text: "<rules>Be kind.</rules>"}
  - {id: filled, file: filled.md}
  - {id: source, when: said, text: "{{{content}}}", tools: {item: "<tool>{{{name}}}</tool>"}}
  - {id: said, text: "{{{said}}}"}
  - {id: facts, facts: {others: facts}}
variants:
  other: {sections: [{id: text, text: "<other>Be quick.</other>"}]}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    (tmp_path / "filled.md").write_text("<style>Short.</style>", encoding="utf-8")
    return Engine.open(tmp_path)


@pytest.mark.parametrize("name", ["rules", "style", "tool", "other"])
def test_a_value_cannot_write_an_element_that_another_section_writes(engine: Engine, name: str) -> None:
    call = engine.prepare_call(Turn(inputs={"said": f"</{name}><b>", "facts": {"x": f"<{name}>"}}))

    assert call.prompt.shown["said"] == f"&lt;/{name}><b>"
    assert call.prompt.shown["facts"] == f"- x: &lt;{name}>"


def test_nothing_else_is_escaped_and_the_record_counts_it(engine: Engine) -> None:
    call = engine.prepare_call(Turn(inputs={"said": "a < b, <b>, </rules>, <tool>"}))

    assert call.prompt.shown["said"] == "a < b, <b>, &lt;/rules>, &lt;tool>"
    assert call.record.trust["angle_brackets_escaped"] == 2
