"""Profiles and variants: which sections a call has, and what is different in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, InputError, SpecError, Turn
from unit.agent.section_lists.agents import cut, opened, step

AGENT = """\
agent: a
layout: {heading: "## {{title}}\\n", boundary: {marker: "\\n<!-- cache -->\\n", before: plan}}
inputs: {user: {default: Ann}}
sections:
  - {id: identity, title: Identity, text: "You help {{{user}}}."}
  - {id: tone, title: Tone, text: Be polite.}
  - {id: notes, title: Notes, files: {entries: [{path: NOTES.md}]}}
  - {id: plan, title: Plan, text: Think.}
profiles:
  small: {include: [plan, identity]}
  curt: {exclude: [notes], sections: [{id: tone, title: Style, text: Be curt.}]}
variants:
  sub: {exclude: [identity], sections: [{id: tone, text: You are a helper.}, {id: notes, text: None., files: null}]}
  timed: {include: [plan], sections: [{id: plan, clock: {zone: UTC}, text: "{{{timezone}}}"}]}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(tmp_path, AGENT, NOTES_md="Bread rises.")


def system(engine: Engine, profile: str = "", variant: str = "") -> str:
    return step(engine, Turn(profile=profile, variant=variant)).system


@pytest.mark.parametrize(
    ("profile", "variant", "expected"),
    [
        ("small", "", "## Identity\nYou help Ann.\n<!-- cache -->\n## Plan\nThink."),
        ("curt", "", "## Identity\nYou help Ann.\n\n## Style\nBe curt.\n<!-- cache -->\n## Plan\nThink."),
        ("", "sub", "## Tone\nYou are a helper.\n\n## Notes\nNone.\n<!-- cache -->\n## Plan\nThink."),
        ("curt", "sub", "## Style\nYou are a helper.\n<!-- cache -->\n## Plan\nThink."),
        ("small", "sub", "\n<!-- cache -->\n## Plan\nThink."),
        ("small", "timed", "\n<!-- cache -->\n## Plan\nUTC"),
    ],
)
def test_a_variant_is_laid_over_a_profile(engine: Engine, profile: str, variant: str, expected: str) -> None:
    assert system(engine, profile, variant) == expected


def test_the_order_is_that_of_the_sections_whatever_a_profile_lists_first(engine: Engine) -> None:
    assert [section.id for section in engine.agent.edition("small")] == ["identity", "plan"]


def test_every_section_that_is_left_out_is_in_the_record_with_the_reason(engine: Engine) -> None:
    made = step(engine, Turn(profile="small", variant="sub"))

    assert cut(made, "identity").reason == "left out by profile small and variant sub"
    assert {record.id for record in made.manifest.sections} | {c.what for c in made.manifest.cuts} == {
        section.id for section in engine.agent.sections
    }
    assert (made.manifest.configuration.profile, made.manifest.configuration.variant) == ("small", "sub")


def test_a_profile_and_a_variant_that_do_not_exist_are_reported_together(engine: Engine) -> None:
    with pytest.raises(InputError) as caught:
        system(engine, "smal", "subb")

    assert [problem.hint for problem in caught.value.problems] == ["did you mean `small`?", "did you mean `sub`?"]


def test_every_unknown_name_of_every_selection_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        opened(
            tmp_path,
            """\
agent: a
layout: {boundary: {marker: "<!-- x -->", before: bb}}
sections: [{id: aa, text: a}]
profiles:
  p: {include: [ab], exclude: [ac], sections: [{id: ad, text: x}]}
variants:
  v: {include: [ae], exclude: [af], sections: [{id: ag, text: x}]}
""",
        )

    named = [problem.message.partition("`")[2].rstrip("`") for problem in caught.value.problems]
    assert named == ["bb", "ab", "ac", "ad", "ae", "af", "ag"]
    assert {problem.code for problem in caught.value.problems} == {"unknown-section"}


@pytest.mark.parametrize(
    ("patches", "code"),
    [
        ("{id: a, text: x}, {id: a, title: T}", "duplicate-section"),
        ("{id: a, text: x, file: b.md}", "wrong-value"),
        ("{id: a, clock: {zone: UTC}, tools: {}}", "wrong-value"),
        ("{id: a, text: null}", "undeclared-input"),
        ("{id: a, when: {input: nobody}}", "undeclared-input"),
        ("{id: a, text: '{{#if x}}'}", "unclosed-block"),
        ("{id: a, file: nowhere.md}", "missing-file"),
        ("{id: a, tier: static, text: '{{{x}}}'}", "wrong-tier"),
        ("{id: a, group: nowhere}", "unknown-group"),
    ],
)
def test_a_change_that_cannot_be_meant_is_an_error(tmp_path: Path, patches: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        opened(
            tmp_path,
            f"agent: a\ninputs: {{x: {{default: ''}}}}\nsections: [{{id: a, text: '{{{{{{x}}}}}}'}}]\n"
            f"variants: {{v: {{sections: [{patches}]}}}}\n",
            b_md="b",
        )

    assert code in {problem.code for problem in caught.value.problems if problem.severity == "error"}


def test_a_mistake_in_the_text_of_a_variant_is_shown_where_it_appears(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:8:19: error\[undeclared-input\]: `usr` is not an input"):
        opened(
            tmp_path,
            """\
agent: a
sections: [{id: a, text: a}]
variants:
  v:
    sections:
      - id: a
        text: |
          Help {{{usr}}}.
""",
        )
