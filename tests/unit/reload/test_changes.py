from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import Engine
from unit.reload.demo import AGENT, QUICK, Folder, Reports, instructions, prompt

Start = Callable[..., Reports]


@pytest.mark.parametrize(
    ("file", "text", "shows"),
    [
        ("agent.yaml", AGENT.replace("tools\n", "other\n"), "after another search"),
        ("agent.xml", Folder.template("second"), "second"),
        ("partials/tone.hbs", "Be brief.", "Be brief."),
        ("tools/search.yaml", instructions("tool_search", "after the second search"), "after the second search"),
    ],
)
def test_any_file_of_the_agent_is_followed(folder: Folder, start: Start, file: str, text: str, shows: str) -> None:
    folder.write("other/search.yaml", instructions("tool_search", "after another search"))
    folder.write("other/pages.yaml", instructions("get_page"))
    reports = start()
    folder.write(file, text)
    report = reports.until_prompt(shows)

    assert file in report.changed
    assert prompt(reports.watcher.current) == prompt(Engine.open(folder.root / "agent.yaml"))


def test_a_file_that_comes_or_goes_is_followed(folder: Folder, start: Start) -> None:
    reports = start()
    folder.write("tools/deep/pages.yaml", instructions("get_page"))

    assert reports.until(lambda s: s.changed).changed == ("tools/deep/pages.yaml",)
    assert "get_page" in reports.watcher.current.tools

    (folder.root / "tools/deep/pages.yaml").unlink()

    assert reports.until(lambda s: s.number == 2).refused is None
    assert "get_page" not in reports.watcher.current.tools


def test_saving_the_same_content_again_is_not_a_change(folder: Folder, start: Start) -> None:
    reports = start()
    before = reports.watcher.current
    (folder.root / "agent.xml").touch()
    folder.write("partials/tone.hbs", "Be kind.")
    folder.write("agent.xml", folder.template("next"))
    reports.until_prompt("next")

    assert [status.number for status in reports.seen] == [1]
    assert before is not reports.watcher.current


def test_a_rename_over_the_file_is_seen_every_time(folder: Folder, start: Start) -> None:
    reports = start()
    for turn in ("one", "two", "three"):
        folder.write("agent.xml.new", folder.template(turn))
        (folder.root / "agent.xml.new").rename(folder.root / "agent.xml")
        reports.until_prompt(turn)

    assert not any(status.refused for status in reports.seen)


def test_temporary_files_of_editors_are_not_part_of_the_agent(folder: Folder, start: Start) -> None:
    reports = start()
    for name in (".agent.xml.swp", "agent.xml~", "#agent.xml#", "4913", "tools/search.yaml~", "tools/.search.yaml"):
        folder.write(name, "\0 half of something")
    for name in (".tone.hbs.swp", "tone.hbs~", "#tone.hbs#", ".trash/tone.hbs"):
        folder.write(f"partials/{name}", "{{#if half of something")
    (folder.root / "tools/.#search.yaml").symlink_to("user@host.1234")
    folder.write("agent.xml", folder.template("edited"))
    reports.until_prompt("edited")

    assert [status.changed for status in reports.seen] == [("agent.xml",)]


def test_a_file_that_is_written_slowly_is_never_served_half(folder: Folder, start: Start) -> None:
    reports = start(pace=replace(QUICK, quiet=0.3))
    text = folder.template("long " * 20 + "whole")
    with (folder.root / "agent.xml").open("w", encoding="utf-8") as out:
        for place in range(0, len(text), 20):
            out.write(text[place : place + 20])
            out.flush()
            time.sleep(0.02)
    reports.until_prompt("whole")

    assert [status.refused for status in reports.seen] == [None]


def test_a_file_that_is_cut_short_for_a_moment_is_not_served_short(folder: Folder, start: Start) -> None:
    long = "Be kind. " * 20
    folder.write("partials/tone.hbs", long)
    reports = start(pace=replace(QUICK, hold=3))
    folder.write("partials/tone.hbs", "Be")
    time.sleep(0.15)
    folder.write("partials/tone.hbs", long + "Always.")
    reports.until_prompt("Always.")

    assert [status.number for status in reports.seen] == [1]


def test_a_file_that_stays_short_is_served_after_all(folder: Folder, start: Start) -> None:
    folder.write("partials/tone.hbs", "Be kind. " * 20)
    reports = start()
    folder.write("partials/tone.hbs", "Go.")

    assert reports.until_prompt("Go.").number == 1


def test_endless_saves_do_not_delay_a_change_for_ever(folder: Folder, start: Start) -> None:
    reports = start()
    before = reports.watcher.status.number
    turn = 0
    while reports.watcher.status.number == before:
        turn += 1
        folder.write("agent.xml", folder.template(f"turn {turn} " * 10))
        time.sleep(0.03)

        assert turn < 600

    assert "turn" in prompt(reports.watcher.current)


def test_a_checkout_of_two_hundred_files_is_one_change(folder: Folder, start: Start) -> None:
    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null"]
        subprocess.run([*command, *words], cwd=folder.root, check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=old")
    for branch in ("old", "new"):
        for number in range(200):
            folder.write(f"tools/t{number}.yaml", instructions(f"tool_{number}", f"{branch} {number}"))
        if branch == "new":
            git("switch", "--quiet", "--create", "new")
        git("add", ".")
        git("commit", "--quiet", "--message", branch)
    reports = start(pace=replace(QUICK, quiet=0.4))
    git("switch", "--quiet", "old")
    status = reports.until(lambda s: s.changed)
    engine = reports.watcher.current
    texts = {engine.agent.protocols[f"tool_{number}"].text.split("AFTER: ")[1][:3] for number in range(200)}

    assert (len(status.changed), status.refused, texts) == (200, None, {"old"})


def test_a_folder_that_is_removed_and_rebuilt_is_followed_again(folder: Folder, start: Start) -> None:
    reports = start()
    shutil.rmtree(folder.root)

    assert reports.until(lambda s: s.refused).refused
    assert "first" in prompt(reports.watcher.current)

    folder.write_all()
    reports.until(lambda s: not s.refused)
    folder.write("agent.xml", folder.template("reborn"))

    assert reports.until_prompt("reborn").serving == reports.watcher.current.agent.sha256


def test_a_folder_that_is_switched_by_a_link_is_followed(tmp_path: Path, start: Start, folder: Folder) -> None:
    folder.root.rename(tmp_path / "v1")
    folder.root.symlink_to("v1")
    reports = start()
    shutil.copytree(tmp_path / "v1", tmp_path / "v2")
    Folder(tmp_path / "v2").write("agent.xml", folder.template("second version"))
    (tmp_path / "link").symlink_to("v2")
    (tmp_path / "link").rename(folder.root)

    assert reports.until_prompt("second version").changed == ("agent.xml",)
