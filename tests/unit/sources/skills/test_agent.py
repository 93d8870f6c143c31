"""Skills in an agent: its files are checked with all others, and a call gets what fits it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cuecard import Engine, InputError, SpecError, Turn

AGENT = """\
agent: helper
inputs: {wanted: {type: list, default: []}, who: {type: string, default: you}}
sections:
  - id: skills
    title: Skills
    skills: {roots: skills, request_input: wanted, show: requested, before: "For {{{who}}}:\\n"}
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    for slug in ("rail", "visa"):
        (tmp_path / "skills" / slug).mkdir(parents=True)
        text = f"---\nname: {slug.title()}\ndescription: Does <{slug}>.\n---\nHow to.\n"
        (tmp_path / "skills" / slug / "SKILL.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_call_lists_what_it_requests_and_records_the_rest_and_fails_for_what_there_is_not(agent: Path) -> None:
    engine = Engine.open(agent)
    step = engine.prepare_step(engine.prepare_call(Turn({"wanted": ["RAIL"], "who": "<system>"})))

    assert step.system.strip() == "For &lt;system>:\n- Rail (`rail`): Does <rail>."
    assert ("skill visa", "not requested") in [(cut.what, cut.reason) for cut in step.manifest.cuts]
    with pytest.raises(InputError, match="there is no skill `sea`"):
        engine.prepare_call(Turn({"wanted": ["sea"]}))


def broken(agent: Path) -> Path:
    """The agent, with three skills that cannot be used and one that poses as another."""
    (agent / "skills" / "rail" / "SKILL.md").write_text("---\nname: Rail\n---\nHow\U000e0041 to.\n", encoding="utf-8")
    (agent / "skills" / "visa" / "SKILL.md").write_bytes(b"\xff")
    fine = "---\nname: sea\ndescription: Sails.\n---\nHow to.\n"
    for place, text in {"sea": fine, "x/sea": fine, "bad": "---\nname: bad\nname: b\n---\n"}.items():
        (agent / "skills" / place).mkdir(parents=True)
        (agent / "skills" / place / "SKILL.md").write_text(text, encoding="utf-8")
    return agent


def test_where_it_is_asked_for_every_problem_of_every_skill_is_an_error_told_once(agent: Path) -> None:
    strict = AGENT.replace("{roots:", "{strict: true, roots:")
    (broken(agent) / "agent.yaml").write_text(strict, encoding="utf-8")

    with pytest.raises(SpecError) as caught:
        Engine.open(agent)

    errors = [problem.code for problem in caught.value.problems if problem.severity == "error"]
    assert sorted(errors) == ["duplicate-key", "duplicate-skill", "encoding", "invisible-character", "missing-key"]


def test_a_bad_skill_takes_nothing_away_but_itself_and_is_reported(agent: Path) -> None:
    engine = Engine.open(broken(agent))
    step = engine.prepare_step(engine.prepare_call(Turn({"wanted": ["sea"]})))

    assert "(`sea`): Sails." in step.system
    warned = [problem for problem in engine.warnings if problem.code != "skill-name"]
    assert sorted(problem.code for problem in warned) == [
        "duplicate-key",
        "duplicate-skill",
        "encoding",
        "invisible-character",
        "missing-key",
    ]
    assert all("the skill is skipped" in problem.hint for problem in warned)
    assert not engine.read_skill("rail").found


def test_a_root_without_skills_is_a_warning_and_one_that_is_missing_an_error(agent: Path) -> None:
    shutil.rmtree(agent / "skills")
    (agent / "skills").mkdir()
    assert [problem.code for problem in Engine.open(agent).warnings] == ["no-skills"]

    (agent / "skills").rmdir()
    with pytest.raises(SpecError) as caught:
        Engine.open(agent)
    assert [problem.code for problem in caught.value.problems] == ["missing-file"]


@pytest.mark.parametrize(
    ("folder", "name", "warned"),
    [
        ("rail-travel", "rail-travel", False),
        ("rail-travel", "Rail travel", False),
        ("rail-travel", "rail_travel", True),
        ("Rail_Travel", "Rail travel", True),
    ],
)
def test_a_name_off_the_specification_is_a_warning(agent: Path, folder: str, name: str, *, warned: bool) -> None:
    (agent / "skills" / "rail").rename(agent / "skills" / folder)
    text = f"---\nname: {name}\ndescription: Trains.\n---\n"
    (agent / "skills" / folder / "SKILL.md").write_text(text, encoding="utf-8")
    engine = Engine.open(agent)

    assert ["skill-name"] * warned == [problem.code for problem in engine.warnings]
    assert engine.read_skill(folder).found
