"""Headings, separators and the boundary, whichever sections say something."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from cuecard import Engine, Turn
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import Section
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.pipeline.layout import lay_out
from cuecard.workbench.render import SplitPrompt, split_prompt
from unit.agent.section_lists.agents import opened, step

MARKER = "\n<!-- below -->\n"
PLAIN = Layout(separator="|")
SPLIT = Layout(separator="|", marker=MARKER)


def framed(name: str, heading: str = "", *, stable: bool = True, leads: tuple[tuple[str, str], ...] = ()) -> Section:
    spec = SectionSpec.model_construct(id=name)
    return Section(spec, "static", frozenset(), "", str, heading=heading, leads=leads, stable=stable)


FRAMES = (framed("a", "#a:"), framed("b"), framed("c", "#c:", stable=False), framed("d", stable=False))


def said(bodies: tuple[str, ...], names: str) -> list[str]:
    """What the sections of these names say, with their headings, told a second time."""
    headings = {"a": "#a:", "c": "#c:"}
    return [headings.get(name, "") + body for name, body in zip("abcd", bodies, strict=True) if body and name in names]


def test_the_boundary_appears_once_where_something_changing_follows_and_nowhere_else() -> None:
    for bodies in product(["", "x"], ["", "y"], ["", "z"], ["", "w"]):
        stable, dynamic = "|".join(said(bodies, "ab")), "|".join(said(bodies, "cd"))

        assert "".join(lay_out(SPLIT, FRAMES, bodies)) == stable + (MARKER + dynamic if dynamic else "")


def test_without_a_boundary_a_separator_appears_between_any_two_that_speak() -> None:
    frames = [framed(frame.id, frame.heading) for frame in FRAMES]

    for bodies in product(["", "x"], ["", "y"], ["", "z"], ["", "w"]):
        assert "".join(lay_out(PLAIN, frames, bodies)) == "|".join(said(bodies, "abcd"))


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(
        tmp_path,
        """\
agent: a
layout: {heading: "## {{title}}\\n", boundary: {marker: "\\n<!-- below -->\\n", before: c}}
inputs: {a: {default: ""}, b: {default: ""}, c: {default: ""}, d: {default: ""}}
sections:
  - {id: a, title: A, text: "{{{a}}}"}
  - {id: b, text: "{{{b}}}"}
  - {id: c, title: C, text: "{{{c}}}"}
  - {id: d, text: "{{{d}}}"}
""",
    )


def in_parts(engine: Engine, values: dict[str, str]) -> SplitPrompt:
    call = engine.prepare_call(Turn(values))
    return split_prompt(engine.agent, call, engine.prepare_step(call))


@pytest.mark.parametrize(
    "bodies", [("x", "y", "z", "w"), ("", "y", "", "w"), ("x", "", "", ""), ("", "", "z", ""), ("", "", "", "")]
)
def test_the_compiled_parts_make_the_prompt(engine: Engine, bodies: tuple[str, ...]) -> None:
    values = dict(zip("abcd", bodies, strict=True))
    made = in_parts(engine, values)

    assert made.full_text == made.stable_text + made.boundary + made.dynamic_text == step(engine, Turn(values)).system
    assert made.stable_sections == tuple(name for name in "ab" if values[name])
    assert made.dynamic_sections == tuple(name for name in "cd" if values[name])
    assert made.boundary == (MARKER if made.dynamic_sections else "")
    assert made.stable_text == in_parts(engine, {**values, "c": "other", "d": ""}).stable_text


@pytest.mark.parametrize(
    "value", ["<!-- below -->", " <!-- BELOW -->", "x\n<!-- below -->\n## C\ny", "<!-- bel", "## C"]
)
def test_no_value_can_fake_the_boundary(engine: Engine, value: str) -> None:
    made = in_parts(engine, {"a": value, "b": "ow -->", "c": value, "d": value})

    assert made.full_text.lower().count("<!-- below -->") == 1
    assert made.full_text.count("\n## C\n") == 1
