from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard import SpecError
from cuecard.outside.folder import read_agent
from cuecard.reload.engines import watch
from cuecard.reload.last_good import LastGood
from unit.watch.demo import QUICK, Folder, Reports, instructions, prompt

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
    folder.write("tools/search.yaml", "tools: {}")
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
    assert (status.number, status.restored) == (2, False)


def test_a_restart_on_broken_files_serves_the_last_good_state_and_says_so(folder: Folder, start: Start) -> None:
    first = start()
    folder.write("agent.xml", folder.template("newest good"))
    good = first.until_prompt("newest good").serving
    first.watcher.stop()
    folder.write("agent.yaml", "agent: [")
    second = start()
    status = second.watcher.status

    assert "newest good" in prompt(second.watcher.current)
    assert (status.serving, status.restored, bool(status.refused)) == (good, True, True)
    assert "the last good state of an earlier run" in str(status)

    folder.write_all()

    assert second.until_prompt("first").restored is False


def test_broken_files_without_a_last_good_state_are_an_error(folder: Folder, state: Path) -> None:
    folder.write("agent.xml", "<demo>")
    with pytest.raises(SpecError, match=r"agent\.xml:1"):
        watch(folder.root, state=state, pace=QUICK)


def test_the_last_good_state_is_kept_as_it_was(folder: Folder, state: Path) -> None:
    kept = LastGood(state, folder.root / "agent.yaml")
    folder.write("partials/tone.hbs", "Grüße, 世界 \U0001f3ac")
    sources = read_agent(folder.root)
    kept.save(sources)

    assert kept.load() == sources
    assert [file.name for file in state.iterdir()] == [kept.file.name]


def test_agents_do_not_share_a_last_good_state(folder: Folder, state: Path) -> None:
    LastGood(state, folder.root / "agent.yaml").save(read_agent(folder.root))

    assert LastGood(state, folder.root / "other.yaml").load() is None
    assert LastGood(state, folder.root.parent / "twin" / "agent.yaml").load() is None


@pytest.mark.parametrize("content", ["", "[" * 100_000, "null", "{}", '{"format": 1}', '{"format": 2, "sha256": ""}'])
def test_a_damaged_last_good_state_is_none(folder: Folder, state: Path, content: str) -> None:
    kept = LastGood(state, folder.root / "agent.yaml")
    state.mkdir()
    kept.file.write_text(content, encoding="utf-8")

    assert kept.load() is None


def test_a_last_good_state_that_was_edited_is_none(folder: Folder, state: Path) -> None:
    kept = LastGood(state, folder.root / "agent.yaml")
    kept.save(read_agent(folder.root))
    record = json.loads(kept.file.read_text(encoding="utf-8"))
    record["sources"]["template"]["text"] += "<!-- -->"
    kept.file.write_text(json.dumps(record), encoding="utf-8")

    assert kept.load() is None


def test_a_state_folder_that_cannot_be_written_is_said_and_tried_again(
    folder: Folder, start: Start, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder", encoding="utf-8")
    reports = start(state=blocked / "state")
    folder.write("agent.xml", folder.template("second"))
    status = reports.until_prompt("second")

    assert "blocked" in status.unsaved
    assert "the last good state is not on disk" in str(status)

    blocked.unlink()
    folder.write("agent.xml", folder.template("third"))

    assert reports.until_prompt("third").unsaved == ""
    assert LastGood(blocked / "state", folder.root / "agent.yaml").load() == read_agent(folder.root)
