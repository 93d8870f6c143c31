from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard import Problem, SpecError, watch
from cuecard.files.folder import read_agent
from cuecard.reload.files import AgentFiles
from cuecard.reload.keeper import LastGood
from cuecard.reload.states import NoState
from cuecard.types import States
from unit.reload.demo import QUICK, Folder, Reports, instructions, prompt

Start = Callable[..., Reports]


def test_a_broken_edit_keeps_the_last_good_prompt_and_shows_the_place(folder: Folder, start: Start) -> None:
    reports = start()
    good = reports.watcher.current
    folder.write("agent.xml", folder.template("broken").replace("</role>", "</rule>"))
    status = reports.until(lambda s: s.refused)

    assert status.refused
    assert "agent.xml:5:1: error[xml]" in status.refused.picture
    assert "</rule>" in str(status)
    assert (reports.watcher.current, status.serving) == (good, good.agent.sha256)


def test_mending_an_error_ends_the_refusal(folder: Folder, start: Start) -> None:
    reports = start()
    folder.write("agent.xml", folder.template("broken").replace("</role>", ""))
    first = reports.until(lambda s: s.refused).refused
    folder.write("tools/search.yaml", "tools: []")
    second = reports.until(lambda s: s.refused and len(s.refused.problems) > 1).refused
    folder.write("tools/search.yaml", instructions("tool_search"))
    folder.write("agent.xml", folder.template("mended"))
    status = reports.until_prompt("mended")

    assert first
    assert second
    assert (second.since, status.refused) == (first.since, None)
    assert second.sha256 != first.sha256


def test_taking_a_broken_edit_back_needs_no_new_engine(folder: Folder, start: Start) -> None:
    reports = start()
    good = reports.watcher.current
    folder.write("agent.yaml", "agent: [")
    reports.until(lambda s: s.refused)
    folder.write_all()
    status = reports.until(lambda s: not s.refused)

    assert reports.watcher.current is good
    assert (status.number, status.restored, status.changed) == (2, False, ())


def test_a_restart_on_broken_files_serves_the_last_good_state_and_says_so(folder: Folder, start: Start) -> None:
    first = start()
    folder.write("agent.xml", folder.template("newest good"))
    good = first.until_prompt("newest good").serving
    first.watcher.stop()
    folder.write("agent.yaml", "agent: [")
    second = start()
    status = second.watcher.status

    assert "newest good" in prompt(second.watcher.current)
    assert status.refused
    assert [problem.code for problem in status.refused.problems] == ["yaml-syntax"]
    assert (status.number, status.serving, status.restored, status.changed) == (0, good, True, ())
    assert status.refused.sha256 == AgentFiles(folder.root).read().sha256

    folder.write_all()
    mended = second.until_prompt("first")

    assert (mended.restored, mended.refused, mended.number) == (False, None, 1)
    assert mended.since > status.since


def test_broken_files_without_a_last_good_state_are_an_error(folder: Folder, state: Path) -> None:
    folder.write("agent.xml", "<demo>")
    with pytest.raises(SpecError, match=r"agent\.xml:1"):
        watch(folder.root, states=state, pace=QUICK)


def test_the_last_good_state_is_kept_unchanged(folder: Folder, state: Path) -> None:
    kept = LastGood(States(state), folder.root / "agent.yaml")
    folder.write("partials/tone.hbs", "Grüße, 世界 \U0001f3ac")
    sources = read_agent(folder.root)
    kept.save(sources)

    place = hashlib.sha256(os.fsencode(folder.root / "agent.yaml")).hexdigest()
    pointer = state / f"{folder.root.name}-{place[:16]}.last-good.json"
    assert kept.load() == sources
    assert {file.name for file in state.iterdir()} == {pointer.name, f"{sources.sha256()}.json"}
    assert json.loads(pointer.read_text()) == {"format": 1, "sha256": sources.sha256()}
    assert LastGood(States(state), Path("/", "n" * 41, "agent.yaml")).file.name.split("-")[0] == "n" * 40


def test_agents_do_not_share_a_last_good_state(folder: Folder, state: Path) -> None:
    LastGood(States(state), folder.root / "agent.yaml").save(read_agent(folder.root))
    for other in (folder.root / "other.yaml", folder.root.parent / "twin" / "agent.yaml"):
        with pytest.raises(NoState, match="was never kept"):
            LastGood(States(state), other).load()


DAMAGE = ["", "[" * 100_000, "null", "{}", '{"format": 1}', '{"format": 2, "sha256": ""}', '{"format": 1, "sha256": 1}']


@pytest.mark.parametrize("content", DAMAGE)
@pytest.mark.parametrize("file", ["pointer", "state"])
def test_a_damaged_last_good_state_is_none_and_the_error_says_so(
    folder: Folder, state: Path, content: str, file: str
) -> None:
    sources = read_agent(folder.root)
    kept = LastGood(States(state), folder.root / "agent.yaml")
    kept.save(sources)
    damaged = kept.file if file == "pointer" else state / f"{sources.sha256()}.json"
    damaged.write_text(content, encoding="utf-8")
    folder.write("agent.yaml", "agent: [")
    with pytest.raises(SpecError) as caught:
        watch(folder.root, states=state, pace=QUICK)

    wrong, told = caught.value.problems
    reason = {
        "pointer": f"cannot be found: {kept.file.name} is damaged",
        "state": "has a file in the folder of states that does not contain it",
    }
    assert wrong.code == "yaml-syntax"
    hint = "delete the file; the next good start writes it again"
    assert told == Problem("damaged-state", f"the last good state {reason[file]}", hint, severity="warning")


def test_a_damaged_last_good_state_is_rewritten_by_a_good_start(folder: Folder, state: Path) -> None:
    sources = read_agent(folder.root)
    kept = LastGood(States(state), folder.root / "agent.yaml")
    kept.save(sources)
    for file in state.iterdir():
        file.write_text("{", encoding="utf-8")
    with watch(folder.root, states=state, pace=QUICK) as watcher:
        assert watcher.status.unsaved == ""

    assert kept.load() == sources


def test_a_state_folder_that_cannot_be_written_is_said_and_tried_again(
    folder: Folder, start: Start, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder", encoding="utf-8")
    reports = start(states=blocked / "state")
    folder.write("agent.xml", folder.template("second"))
    status = reports.until_prompt("second")

    assert "blocked" in status.unsaved
    assert "the last good state is not on disk" in str(status)

    blocked.unlink()
    folder.write("agent.xml", folder.template("third"))

    assert reports.until_prompt("third").unsaved == ""
    assert LastGood(States(blocked / "state"), folder.root / "agent.yaml").load() == read_agent(folder.root)
