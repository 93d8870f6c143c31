"""Which skills a call lists: gates first, then lists, then what was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard import InputError
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.model.tools import Skill
from cuecard.sources.skill_selection import Wish, check_skill_names, select_skills, usable_skills

RAIL = Skill("rail", "Rail travel", "Finds trains.")
VISA = Skill("visa", "Visa", "Says who needs one.", paths=("*.pass",))
SEA = Skill("sea", "rail", "Finds ferries.")


def listed(*skills: Skill, wish: Wish | None = None, **settings: Any) -> list[str]:
    chosen, _ = select_skills(skills, SkillsSpec(roots=("skills",), **settings), wish or Wish())
    return [one.skill.slug for one in chosen]


def cuts(*skills: Skill, wish: Wish | None = None, **settings: Any) -> dict[str, str]:
    _, found = select_skills(skills, SkillsSpec(roots=("skills",), **settings), wish or Wish())
    return {cut.what: cut.reason for cut in found}


def test_block_wins_over_allow() -> None:
    assert listed(RAIL, VISA, allow=("rail", "visa"), block=("VISA",)) == ["rail"]
    assert cuts(RAIL, VISA, allow=("rail", "visa"), block=("VISA",)) == {"skill visa": "blocked by skills.block"}


def test_lists_take_patterns_and_display_names() -> None:
    assert listed(RAIL, VISA, allow=("rail tr*",)) == ["rail"]
    assert listed(RAIL, VISA, block=("*i*",)) == []
    assert listed(RAIL, VISA, allow=()) == []


def test_a_skill_without_its_environment_is_not_listed_unless_nobody_knows_the_environment() -> None:
    needy = Skill("needy", "Needy", "x", requires_env=("A", "B"))

    assert listed(needy, wish=Wish(environment={"A", "B"})) == ["needy"]
    assert cuts(needy, wish=Wish(environment={"A"})) == {"skill needy": "the environment variable B is missing"}
    assert listed(needy) == ["needy"]


def test_a_skill_without_its_tools_is_not_listed_unless_nobody_knows_the_tools() -> None:
    needy = Skill("needy", "Needy", "x", requires_tools=("search",))

    assert listed(needy, wish=Wish(tools=["search"])) == ["needy"]
    assert cuts(needy, wish=Wish(tools=[])) == {"skill needy": "the tool search is missing"}
    assert listed(needy) == ["needy"]


def test_a_skill_that_is_not_enabled_cannot_even_be_requested() -> None:
    off = Skill("off", "Off", "x", enabled=False)

    assert listed(off, wish=Wish(requested=["off"])) == []
    assert cuts(off, wish=Wish(requested=["off"])) == {"skill off": "it is not enabled"}


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ([], []),
        (["rail"], ["rail"]),
        (["RAIL", " rail ", "Rail Travel"], ["rail"]),
        (["*"], ["rail", "sea", "visa"]),
        (["", "visa"], ["visa"]),
    ],
)
def test_requested_skills_are_found_in_any_case_and_listed_once(requested: list[str], expected: list[str]) -> None:
    assert listed(RAIL, VISA, SEA, show="requested", wish=Wish(requested=requested)) == expected


def test_a_slug_is_found_before_a_display_name() -> None:
    assert listed(SEA, RAIL, show="requested", wish=Wish(requested=["rail"])) == ["rail"]


def test_every_requested_skill_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        listed(RAIL, wish=Wish(requested=["rial", "x", "X"]), request=("boat",))

    assert [problem.message for problem in caught.value.problems] == [
        "there is no skill `boat`, which was requested",
        "there is no skill `rial`, which was requested",
        "there is no skill `x`, which was requested",
    ]
    assert caught.value.problems[1].hint == "did you mean `rail`?"


def test_a_missing_skill_may_be_recorded_instead() -> None:
    assert cuts(RAIL, missing="record", wish=Wish(requested=["boat"])) == {
        "skill boat": "requested, but there is no skill of that name"
    }


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("use $rail now", ["rail"]),
        ("use $RAIL.", ["rail"]),
        ("($visa/), $visa-", ["visa"]),
        ("pay $5 with $HOME and $$rail", []),
        ("a$rail", []),
        ("$railway", []),
        ("no dollar rail", []),
    ],
)
def test_mentions(task: str, expected: list[str]) -> None:
    assert listed(RAIL, VISA, show="requested", wish=Wish(task=task)) == expected
    assert listed(RAIL, VISA, show="requested", wish=Wish(task=task), mentions=False) == []


def test_a_path_asks_for_a_skill() -> None:
    assert listed(RAIL, VISA, show="requested", wish=Wish(paths=["scans/me.pass"])) == ["visa"]


def test_an_eager_skill_is_always_asked_for() -> None:
    loaded = Skill("loaded", "Loaded", "x", auto_load=True)

    assert listed(RAIL, VISA, loaded, show="requested", eager=("rail*",)) == ["loaded", "rail"]


def test_what_nobody_asked_for_is_recorded() -> None:
    assert cuts(RAIL, VISA, show="requested", wish=Wish(requested=["rail"])) == {"skill visa": "not requested"}


@pytest.mark.parametrize(
    ("sort", "expected"),
    [("slug", ["rail", "sea", "visa"]), ("name", ["rail", "visa", "sea"]), ("root", ["visa", "sea", "rail"])],
)
def test_order(sort: str, expected: list[str]) -> None:
    assert listed(VISA, SEA, RAIL, sort=sort) == expected


def test_what_may_be_read_is_what_may_be_listed() -> None:
    usable, _ = usable_skills([RAIL, VISA], SkillsSpec(roots=("skills",), block=("visa",)))

    assert usable == (RAIL,)


def test_names_in_the_agent_file_that_no_skill_has_are_reported_with_their_places() -> None:
    text = "roots: skills\nblock: [visum, 'v*']\nallow: '*'\nrequest:\n  - visa\n  - boat\n"
    document = read_yaml(text, "agent.yaml")
    spec = validate(document, SkillsSpec)

    problems = list(check_skill_names(document, (), spec, [RAIL, VISA]))

    assert [problem.picture().splitlines()[0] for problem in problems] == [
        "agent.yaml:2:9: warning[unknown-skill]: `block` names `visum`, which is not a skill",
        "agent.yaml:6:5: error[unknown-skill]: `request` names `boat`, which is not a skill",
    ]
    assert problems[0].hint == "did you mean `visa`?"


def test_a_long_task_of_nothing_but_dollars_takes_no_time() -> None:
    skills = [Skill(f"s{n}", f"Skill {n}", "x") for n in range(500)]
    task = " ".join(f"$w{n}" for n in range(50_000)) + "$" * 50_000 + " $s3"

    assert listed(*skills, show="requested", wish=Wish(task=task)) == ["s3"]
