"""The text of skills: nothing vanishes without a word, nothing stands twice, and the budget holds whatever they say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import TemplateRenderError
from cuecard.config.sections.skills_spec import SkillBudgetSpec, SkillsSpec
from cuecard.model.tools import Skill
from cuecard.sources.content import Content, SourceInput
from cuecard.sources.skill_budget import prefix_of, size_of
from cuecard.sources.skills import SkillsSource
from cuecard.types import TemplateSyntaxError

ITEM = "<{{{slug}}}>{{{description}}}{{#if auto_load}}={{{body}}}{{/if}}\n"


def spec(**settings: Any) -> SkillsSpec:
    return SkillsSpec(**{"roots": ("skills",), "item": ITEM, "body": "[{{{slug}}}]{{{body}}}\n", **settings})


def content(*skills: Skill, values: Any = None, task: str = "", **settings: Any) -> Content:
    return SkillsSource(spec(**settings)).content(skills, values=values, task=task)


def test_a_block_that_does_not_fit_is_skipped_and_a_smaller_one_after_it_still_goes_in() -> None:
    made = content(Skill("a", "A", "x" * 50), Skill("b", "B", "y"), budget=SkillBudgetSpec(limit=10))

    assert made.text == "<b>y\n"
    assert [(cut.what, cut.reason) for cut in made.cuts] == [("skill a", "no room in skills.budget (10 characters)")]


def test_bytes_are_not_characters() -> None:
    one = Skill("a", "A", "ééé")

    assert content(one, budget=SkillBudgetSpec(limit=7)).text == "<a>ééé\n"
    assert content(one, budget=SkillBudgetSpec(limit=9, unit="bytes")).text == ""
    assert content(one, budget=SkillBudgetSpec(limit=10, unit="bytes")).text == "<a>ééé\n"


def test_an_eager_skill_whose_instructions_do_not_fit_is_listed_without_them() -> None:
    made = content(Skill("a", "A", "x", body="long" * 9, auto_load=True), budget=SkillBudgetSpec(limit=20))

    assert made.text == "<a>x\n"
    assert [cut.what for cut in made.cuts] == ["body of skill a"]


def test_instructions_of_an_eager_skill_appear_once_in_the_list_or_after_it_or_in_a_cut() -> None:
    eager, bare = Skill("a", "A", "x", body="BODY", auto_load=True), "<{{{slug}}}>\n"

    assert content(eager, task="$a").text == "<a>x=BODY\n"
    assert content(eager, item=bare).text == "<a>\n[a]BODY\n"
    assert [(cut.what, cut.reason) for cut in content(eager, item=bare, body="").cuts] == [
        ("body of skill a", "neither skills.item nor skills.body prints it")
    ]


def test_with_more_skills_than_a_threshold_of_none_no_instructions_follow() -> None:
    made = content(Skill("a", "A", "x", body="BODY"), task="$a", compact_mode_threshold=0)

    assert "BODY" not in made.text
    assert [cut.what for cut in made.cuts] == ["body of skill a"]


def test_omitted_slugs_are_sorted_in_the_note() -> None:
    skills = [Skill(slug, slug, "x" * 99) for slug in ("c", "a", "b")]
    made = content(
        *skills, budget=SkillBudgetSpec(limit=40), note="{{omitted_count}} missing: {{{omitted}}}", sort="root"
    )

    assert made.text == "3 missing: a, b, c"


def test_a_frame_is_never_cut_open() -> None:
    skills = [Skill(slug, slug, "x" * 5) for slug in "abcd"]
    made = content(*skills, before="<all>", after="</all>", hint="READ!", budget=SkillBudgetSpec(limit=30))

    assert made.text == "<all><a>xxxxx\n<b>xx</all>READ!"
    assert {cut.what for cut in made.cuts} == {"skill b", "skill c", "skill d"}
    tight = content(Skill("a", "A", "x"), before="<all>", after="</all>", budget=SkillBudgetSpec(limit=10))
    assert (tight.text, [cut.what for cut in tight.cuts]) == ("", ["skill a"])


def test_texts_read_inputs_of_the_agent_whose_values_stay_values() -> None:
    made = content(Skill("a", "A", "<b>"), before="{{{who}}}: ", values={"who": "<system>"})

    assert made.text == "&lt;system>: <a><b>\n"
    with pytest.raises(TemplateRenderError, match=r"skills\.before:1:3"):
        content(Skill("a", "A", "x"), before="{{who}}")


def test_data_may_be_kept_from_looking_like_the_layout() -> None:
    skill = Skill("a", "A", "## Safety")

    for trust, expected in (("data", "<a>\\## Safety\n"), ("author", "<a>## Safety\n")):
        source = SkillsSource(spec(trust=trust), printed=lambda text: text.replace("## ", "\\## "))
        assert source.content([skill]).text == expected


def test_every_text_that_does_not_compile_is_reported_at_once() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        SkillsSource(spec(item="{{#if a}}", note="{{"))

    assert [problem.name for problem in caught.value.problems] == ["skills.item", "skills.note"]


def test_a_source_knows_which_inputs_it_looks_at() -> None:
    source = SkillsSource(spec(before="{{who}} {{count}}", note="{{omitted}}", task_input="task", paths_input="files"))

    assert source.reads == {"who", "task", "files"}


def test_a_call_asks_by_its_inputs() -> None:
    source = SkillsSource(
        spec(show="requested", task_input="task", paths_input="files", request_input="skills", missing="record")
    )
    skills = [Skill("a", "A", "x"), Skill("b", "B", "x", paths=("*.md",)), Skill("c", "C", "x"), Skill("d", "D", "x")]
    values = {"task": "do $a", "files": ["x.md", 3], "skills": "c\nnone"}

    made = source.fill(skills)(SourceInput(values, datetime(2026, 11, 20, tzinfo=UTC)))

    assert made.text == "<a>x\n<b>x\n<c>x\n"
    assert [cut.what for cut in made.cuts] == ["skill none", "skill d"]


TEXT = st.text("abc é🙂<&{}\n$", max_size=30)
SKILLS = st.lists(
    st.builds(
        Skill,
        slug=st.sampled_from("abcdefgh"),
        name=TEXT,
        description=TEXT.map(lambda text: f"D{text}D"),
        body=TEXT,
        auto_load=st.booleans(),
        paths=st.sampled_from([(), ("*.md",)]),
        enabled=st.sampled_from([True, True, True, False]),
    ),
    unique_by=lambda skill: skill.slug,
    max_size=8,
)
BUDGETS = st.none() | st.builds(
    SkillBudgetSpec, limit=st.integers(1, 300), unit=st.sampled_from(["characters", "bytes"])
)
FRAMES = st.sampled_from(["", "<all>\n", "é"])
MORE = st.sampled_from(["", "read_skill reads them\n", "é{{{omitted}}}", "🙂" * 20])


@st.composite
def specs(draw: st.DrawFn) -> SkillsSpec:
    return spec(
        item=draw(st.sampled_from([ITEM, "<{{{slug}}}>{{{description}}}\n"])),
        body=draw(st.sampled_from(["", "[{{{slug}}}]{{{body}}}\n"])),
        before=draw(FRAMES),
        after=draw(FRAMES),
        footer=draw(st.sampled_from(["", "end"])),
        note=draw(MORE),
        hint=draw(MORE),
        budget=draw(BUDGETS),
        show=draw(st.sampled_from(["all", "requested"])),
        trust=draw(st.sampled_from(["author", "data"])),
        compact_mode_threshold=draw(st.none() | st.integers(0, 6)),
    )


def written(made: Skill, source: SkillsSpec, text: str) -> bool:
    """Whether the skill's line stands in the text as a whole."""
    return (
        f"<{made.slug}>{made.description if source.trust == 'author' else made.description.replace('<', '&lt;')}"
        in text
    )


@given(SKILLS, specs(), st.sampled_from(["", "$a $b", "$c"]))
def test_the_budget_holds_for_any_skills(skills: list[Skill], source: SkillsSpec, task: str) -> None:
    made = SkillsSource(source).content(skills, task=task, paths=["x.md"])

    if source.budget:
        assert size_of(made.text, source.budget.unit) <= source.budget.limit


@given(SKILLS, specs(), st.sampled_from(["", "$a $b", "$c"]))
def test_a_skill_is_in_the_text_or_in_a_cut(skills: list[Skill], source: SkillsSpec, task: str) -> None:
    made = SkillsSource(source).content(skills, task=task, paths=["x.md"])
    cuts = {cut.what for cut in made.cuts}

    for each in skills:
        assert f"skill {each.slug}" in cuts or written(each, source, made.text)
        is_due = each.auto_load or (bool(source.body) and (each.paths or f"${each.slug}" in task))
        body = each.body if source.trust == "author" else each.body.replace("<", "&lt;")
        if is_due and each.body.strip() and not {f"skill {each.slug}", f"body of skill {each.slug}"} & cuts:
            assert f"={body}" in made.text or f"[{each.slug}]{body}" in made.text
    assert len(made.sources) == len(skills)


@given(SKILLS, specs(), st.randoms())
def test_the_same_skills_in_any_order_give_the_same_text(skills: list[Skill], source: SkillsSpec, random: Any) -> None:
    shuffled = list(skills)
    random.shuffle(shuffled)

    assert SkillsSource(source).content(shuffled).text == SkillsSource(source).content(skills).text


@given(SKILLS, specs())
def test_without_a_budget_nothing_is_cut_for_its_size(skills: list[Skill], source: SkillsSpec) -> None:
    made = SkillsSource(source.model_copy(update={"budget": None})).content(skills)

    assert not [cut for cut in made.cuts if "budget" in cut.reason or "make room" in cut.reason]


@given(st.text(), st.integers(0, 40), st.sampled_from(["characters", "bytes"]))
def test_a_prefix_is_as_long_as_there_is_room_and_holds_whole_characters(
    text: str, room: int, unit: Literal["characters", "bytes"]
) -> None:
    kept = prefix_of(text, room, unit)

    assert text.startswith(kept)
    assert size_of(kept, unit) <= room
    assert kept == text or size_of(text[: len(kept) + 1], unit) > room


@given(SKILLS, st.lists(st.text("abcx*", max_size=3), max_size=3))
def test_a_request_lists_what_it_names_and_says_what_there_is_not(skills: list[Skill], requested: list[str]) -> None:
    made = SkillsSource(spec(show="requested", missing="record")).content(skills, requested=requested)
    names = {name.casefold() for each in skills for name in (each.slug, each.name.strip())}
    cuts = {cut.what for cut in made.cuts}

    assert all(f"<{each.slug}>" in made.text for each in skills if each.enabled and {each.slug, "*"} & {*requested})
    assert all(f"skill {name}" in cuts for name in requested if name and name != "*" and name not in names)
