"""Skills in an agent: its files are checked with all others, and a call gets what fits it."""

from __future__ import annotations

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


def test_a_call_lists_what_it_requests_and_records_the_rest(agent: Path) -> None:
    engine = Engine.open(agent)
    step = engine.prepare_step(engine.prepare_call(Turn({"wanted": ["RAIL"], "who": "<system>"})))

    assert step.system.strip() == "For &lt;system>:\n- Rail (`rail`): Does <rail>."
    assert ("skill visa", "not requested") in [(cut.what, cut.reason) for cut in step.manifest.cuts]


def test_a_skill_that_does_not_exist_fails_the_call(agent: Path) -> None:
    with pytest.raises(InputError, match="there is no skill `sea`"):
        Engine.open(agent).prepare_call(Turn({"wanted": ["sea"]}))


def test_every_problem_of_every_skill_is_told_once(agent: Path) -> None:
    (agent / "skills" / "rail" / "SKILL.md").write_text("---\nname: Rail\n---\nHow\U000e0041 to.\n", encoding="utf-8")
    (agent / "skills" / "visa" / "SKILL.md").write_bytes(b"\xff")

    with pytest.raises(SpecError) as caught:
        Engine.open(agent)

    assert sorted(problem.code for problem in caught.value.problems) == [
        "encoding",
        "invisible-character",
        "missing-key",
    ]
