"""Every file of a list of sections is followed: layers, texts, files that may be missing, skills."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cuecard import SpecError, watch
from cuecard.files.folder import read_agent
from cuecard.reload.keeper import LastGood
from cuecard.types import States
from unit.agent.section_lists.agents import write
from unit.reload.demo import QUICK, Folder, Reports

pytestmark = pytest.mark.repeats

AGENT = """\
extends: ../org
sections:
  - {id: tone, file: texts/tone.md}
  - {id: notes, files: {entries: [{path: [notes/today/NOTES.md, NOTES.md]}], item: "{{{content}}}"}}
  - {id: skills, skills: {roots: [skills, ../org/skills], strict: true}}
"""
SKILL = "---\nname: bake\ndescription: Bakes bread\n---\nKnead.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "agent")
    made.write("agent.yaml", AGENT)
    made.write("texts/tone.md", "Be kind.")
    made.write("skills/bake/SKILL.md", SKILL)
    made.write("../org/skills/wash/SKILL.md", SKILL.replace("bake", "wash").replace("Bakes bread", "Washes up"))
    made.write("../org/agent.yaml", "agent: org\nsections:\n  - {id: identity, text: You help.}\n")
    return made


@pytest.fixture
def reports(folder: Folder, tmp_path: Path) -> Iterator[Reports]:
    with ExitStack() as stack:
        yield Reports(stack.enter_context(watch(folder.root, states=tmp_path / "state", pace=QUICK)))


@pytest.mark.parametrize(
    ("file", "text", "shows"),
    [
        ("../org/agent.yaml", "agent: org\nsections: [{id: identity, text: You sell bread.}]\n", "You sell bread."),
        ("texts/tone.md", "Be brief.", "Be brief."),
        ("NOTES.md", "A note.", "A note."),
        ("notes/today/NOTES.md", "A note of today.", "A note of today."),
        ("skills/bake/SKILL.md", SKILL.replace("bread", "cake"), "Bakes cake"),
        ("skills/brew/SKILL.md", SKILL.replace("bake", "brew").replace("Bakes bread", "Brews tea"), "Brews tea"),
        ("../org/skills/mill/SKILL.md", SKILL.replace("bake", "mill").replace("Bakes bread", "Mills flour"), "Mills"),
    ],
)
def test_a_file_that_changes_or_comes_is_followed(
    folder: Folder, reports: Reports, file: str, text: str, shows: str
) -> None:
    folder.write(file, text)

    assert file in reports.until_prompt(shows).changed


def test_a_file_that_may_be_missing_comes_and_goes(folder: Folder, reports: Reports) -> None:
    folder.write("notes/today/NOTES.md", "A note.")
    reports.until_prompt("A note.")
    (folder.root / "notes/today/NOTES.md").unlink()
    status = reports.until(lambda s: s.changed == ("notes/today/NOTES.md",) and s.number == 2)
    engine = reports.watcher.current

    assert status.refused is None
    assert "A note." not in engine.prepare_step(engine.prepare_call()).system
    assert engine.prepare_call().record.sources[0].status == "missing"


def test_a_file_that_has_become_unreadable_is_reported_and_prompts_are_still_made(
    folder: Folder, reports: Reports
) -> None:
    (folder.root / "NOTES.md").write_bytes(b"\xff\xfe broken")
    reports.until(lambda s: s.number == 1)
    call = reports.watcher.current.prepare_call()

    assert reports.watcher.status.refused is None
    assert call.record.sources[0].status == "read_error"
    assert "NOTES.md" in call.record.diagnostics[0].message


@pytest.mark.parametrize("file", ["../org/agent.yaml", "texts/tone.md", "skills/bake/SKILL.md"])
def test_a_broken_edit_of_any_file_keeps_the_last_good_prompt(folder: Folder, reports: Reports, file: str) -> None:
    good = reports.watcher.current
    folder.write(file, "---\n{{#if x}}[: \x01")
    status = reports.until(lambda s: s.refused)

    assert status.refused
    assert Path(file).name in status.refused.picture
    assert reports.watcher.current is good


def test_a_layer_that_is_gone_is_refused_and_welcome_again(folder: Folder, reports: Reports) -> None:
    layer = folder.root / "../org/agent.yaml"
    text = layer.read_text(encoding="utf-8")
    layer.unlink()
    refused = reports.until(lambda s: s.refused).refused
    folder.write("../org/agent.yaml", text.replace("You help.", "You help again."))

    assert refused
    assert "missing-file" in refused.picture
    assert reports.until_prompt("You help again.").refused is None


def test_the_last_good_state_contains_layers_skills_and_files(folder: Folder, tmp_path: Path) -> None:
    folder.write("NOTES.md", "A note. \U0001f3ac")
    (folder.root / "notes/today").mkdir(parents=True)
    (folder.root / "notes/today/NOTES.md").write_bytes(b"\xff")
    kept = LastGood(States(tmp_path / "state"), folder.root / "agent.yaml")
    sources = read_agent(folder.root)
    kept.save(sources)

    assert kept.load() == sources
    assert [source.slug for source in sources.skills] == ["bake", "wash"]
    assert [path for path, _ in sources.unread] == ["notes/today/NOTES.md"]
    assert [source.path for source in sources.layers] == ["../org/agent.yaml"]


def test_a_restart_on_a_broken_layer_serves_the_same_prompt(folder: Folder, tmp_path: Path) -> None:
    with watch(folder.root, states=tmp_path / "state", pace=QUICK) as watcher:
        first = watcher.current.prepare_call()
    folder.write("../org/agent.yaml", "agent: [")
    with watch(folder.root, states=tmp_path / "state", pace=QUICK) as watcher:
        again = watcher.current.prepare_call()
        assert watcher.status.restored

    assert "Bakes bread" in first.prompt.shown["skills"]
    assert (again.prompt.shown, again.prompt.segments, again.configuration.sha256) == (
        first.prompt.shown,
        first.prompt.segments,
        first.configuration.sha256,
    )


def test_a_fingerprint_tells_a_file_that_is_missing_from_one_that_cannot_be_read(folder: Folder) -> None:
    missing = read_agent(folder.root).sha256()
    write(folder.root / "NOTES.md", "")
    empty = read_agent(folder.root).sha256()
    (folder.root / "NOTES.md").write_bytes(b"\xff")

    assert len({missing, empty, read_agent(folder.root).sha256()}) == 3


def test_without_a_last_good_state_a_broken_layer_is_an_error(folder: Folder, tmp_path: Path) -> None:
    folder.write("../org/agent.yaml", "agent: [")
    with pytest.raises(SpecError, match=r"org/agent\.yaml:1:9: error\[yaml-syntax\]"):
        watch(folder.root, states=tmp_path / "state", pace=QUICK)
