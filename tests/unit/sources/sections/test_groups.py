"""Groups of sections: one heading before the first that says something, and headings of their own form within."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, SpecError, Turn
from cuecard.agent.sections.layout import Layout, guard_of
from cuecard.agent.sections.section import Section
from cuecard.config.sections.section_spec import GroupSpec, LayoutSpec
from cuecard.pipeline.layout import lay_out
from cuecard.template.guards.layout import guard_layout
from unit.agent.section_lists.test_boundary import framed

LAYOUT = Layout(separator="\n\n")
FRAMES = (
    framed("tone", "## Tone\n"),
    framed("notes", "[ Notes ]\n", leads=(("blocks", "## Context\n"),)),
    framed("plan", "[ Plan ]\n", leads=(("blocks", "## Context\n"),)),
    framed("rules", "## Rules\n"),
)


def text(*bodies: str, layout: Layout = LAYOUT, frames: tuple[Section, ...] = FRAMES) -> str:
    return "".join(lay_out(layout, frames, bodies))


def test_the_first_section_that_speaks_brings_the_heading_of_its_group() -> None:
    assert text("a", "b", "c", "d") == ("## Tone\na\n\n## Context\n[ Notes ]\nb\n\n[ Plan ]\nc\n\n## Rules\nd")
    assert text("", "", "c", "") == "## Context\n[ Plan ]\nc"


def test_a_silent_group_leaves_no_heading() -> None:
    assert text("a", "", "", "d") == "## Tone\na\n\n## Rules\nd"


def test_what_comes_between_makes_the_heading_necessary_again() -> None:
    frames = (FRAMES[1], FRAMES[0], FRAMES[2])

    assert text("a", "b", "c", frames=frames).count("## Context\n") == 2
    assert text("a", "", "c", frames=frames).count("## Context\n") == 1


def test_after_the_boundary_the_heading_appears_again() -> None:
    layout = Layout(separator="\n\n", marker="\n<!-- here -->\n")
    frames = (FRAMES[1], framed("plan", "[ Plan ]\n", stable=False, leads=(("blocks", "## Context\n"),)))

    assert text("a", "b", layout=layout, frames=frames) == (
        "## Context\n[ Notes ]\na\n<!-- here -->\n## Context\n[ Plan ]\nb"
    )


def test_no_value_can_look_like_a_heading_of_a_group() -> None:
    layout = LayoutSpec(heading="## {{title}}\n", groups={"blocks": GroupSpec(heading="[ {{title}} ]\n")})

    assert guard_layout("a\n[ Rules ]\n## Rules\n[link](x)", guard_of(layout)) == (
        "a\n\\[ Rules ]\n\\## Rules\n[link](x)",
        2,
    )


@given(st.lists(st.sampled_from(["", "x"]), min_size=4, max_size=4))
def test_a_heading_appears_once_for_neighbours(bodies: list[str]) -> None:
    assert text(*bodies).count("## Context\n") == (1 if bodies[1] or bodies[2] else 0)


def agent(folder: Path, sections: str) -> Path:
    path = folder / "agent.yaml"
    groups = '{blocks: {title: Context, heading: "[ {{title}} ]\\n"}}'
    path.write_text(
        f'agent: a\ninputs: {{task: {{default: ""}}}}\nlayout: {{heading: "## {{{{title}}}}\\n", groups: {groups}}}\n'
        f"sections:\n{sections}",
        encoding="utf-8",
    )
    return path


def test_an_agent_file_says_which_group_a_section_belongs_to(tmp_path: Path) -> None:
    sections = (
        '  - {id: notes, group: blocks, title: Notes, text: "{{{task}}}"}\n'
        "  - {id: plan, group: blocks, text: Think first.}\n"
    )
    engine = Engine.open(agent(tmp_path, sections))

    assert engine.prepare_step(engine.prepare_call(Turn({"task": "[ x\n## y"}))).system == (
        "## Context\n[ Notes ]\n\\[ x\n\\## y\n\nThink first."
    )


NESTED = """
layout:
  heading: "# {{title}}\\n"
  groups:
    shop: {title: Shop, heading: "## {{title}}\\n"}
    team: {title: Team, group: shop, heading: "### {{title}}\\n"}
    nights: {title: Nights, group: team}
sections:
  - {id: a, title: A, group: team, text: a}
  - {id: b, title: B, group: nights, text: b}
  - {id: c, title: C, group: shop, text: "{{{c}}}"}
  - {id: d, title: D, group: team, text: d}
  - {id: e, title: E, text: e}
inputs: {c: {default: c}}
agent: x
"""


def test_the_heading_of_an_outer_group_appears_before_the_inner_one(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(NESTED)
    engine = Engine.open(tmp_path)

    def lines(turn: Turn) -> str:
        return " ".join(engine.prepare_step(engine.prepare_call(turn)).system.split())

    outer = "# Shop ## Team ### A a ### Nights ### B b"
    assert lines(Turn()) == f"{outer} ## C c ## Team ### D d # E e"
    assert lines(Turn({"c": ""})) == f"{outer} ### D d # E e"


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ("{a: {group: b}, b: {group: a}}", "the group `a` contains itself"),
        ("{a: {group: a}}", "the group `a` contains itself"),
        ("{a: {group: c}}", "`layout.groups` has no group `c`"),
    ],
)
def test_a_group_may_be_nested_in_another_existing_group_but_not_in_itself(
    tmp_path: Path, groups: str, told: str
) -> None:
    (tmp_path / "agent.yaml").write_text(
        f"agent: x\nlayout: {{groups: {groups}}}\nsections: [{{id: a, group: a, text: x}}]\n"
    )

    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    assert told in str(caught.value)
