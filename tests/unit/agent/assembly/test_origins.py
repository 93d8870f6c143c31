"""Where each part of a prompt comes from: the manifest names the file and the line that wrote it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cuecard import Engine, Turn
from unit.agent.assembly.cores import CORE, HEAD, agent, child, core, opened, step, write


def sources(engine: Engine, turn: Turn | None = None) -> dict[str, str]:
    return {record.id: record.source for record in step(engine, turn).manifest.sections}


def test_a_plain_template_has_no_origins_and_the_fingerprint_covers_them(tmp_path: Path) -> None:
    engine = core(tmp_path)

    assert sources(engine) == {
        "agent": "core.xml:1",
        "identity": "core.xml:2",
        "tone": "core.xml:5",
        "rules": "core.xml:8",
        "/agent": "core.xml:11",
    }
    assert step(engine).manifest.origins == {}

    elsewhere = replace(engine, agent=replace(engine.agent, origins={"agent": "agent.yaml:7"}))
    assert step(elsewhere).manifest.origins == {"agent": "agent.yaml:7"}
    assert step(elsewhere).manifest.sha256 != step(engine).manifest.sha256


def test_what_an_agent_file_changes(tmp_path: Path) -> None:
    said = """\
sections:
  - {id: tone, text: Be brief.}
  - {id: rules, budget: 100}
  - id: new
    after: tone
    text: |
      New.
  - {id: filed, after: new, file: texts/filed.md}
  - {id: today, after: filed, clock: {}}
profiles:
  p:
    sections:
      - {id: rules, text: None.}
"""
    engine = core(tmp_path, said, texts__filed_md="In a file.")
    usual = sources(engine)

    assert (usual["tone"], usual["rules"]) == ("agent.yaml:5", "core.xml:8")
    assert (usual["new"], usual["filed"], usual["today"]) == ("agent.yaml:7", "texts/filed.md:1", "agent.yaml:12")
    assert sources(engine, Turn(profile="p"))["rules"] == "agent.yaml:16"


def test_what_a_child_changes(tmp_path: Path) -> None:
    below = "sections: [{id: tone, text: Of the house.}, {id: rules, budget: 90}]\n"
    engine = child(
        tmp_path, "agent: mine\nsections:\n  - {id: tone, budget: 80}\n  - {id: rules, text: Mine.}\n", below
    )
    origins = step(engine).manifest.origins

    assert sources(engine)["tone"] == "house/agent.yaml:4"
    assert sources(engine)["rules"] == "agent.yaml:5"
    assert origins["sections.identity.id"] == "house/core.xml:2"
    assert origins["sections.tone.text"] == "house/agent.yaml:4"
    assert origins["sections.tone.budget"] == "agent.yaml:4"
    assert origins["sections.rules.budget"] == "house/agent.yaml:4"
    assert origins["agent"] == "agent.yaml:2"


def test_a_list_over_another(tmp_path: Path) -> None:
    write(tmp_path / "below.yaml", "agent: a\nsections:\n  - {id: tone, text: Below.}\n  - {id: rules, text: Below.}\n")
    engine = opened(tmp_path, "extends: below.yaml\nsections: [{id: tone, title: T}, {id: rules, text: Above.}]\n")

    assert sources(engine) == {"tone": "below.yaml:3", "rules": "agent.yaml:2"}


def test_a_template_that_another_file_names(tmp_path: Path) -> None:
    agent(tmp_path / "house", HEAD, core_xml=CORE)
    engine = opened(tmp_path, "extends: house\nsections: [{id: tone, before: identity}]\n")

    assert list(sources(engine).items())[:2] == [("agent", "house/core.xml:1"), ("tone", "house/core.xml:5")]
    assert step(engine).manifest.origins["template"] == "house/agent.yaml:2"
