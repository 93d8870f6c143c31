"""Short runs of what `make soak` does for minutes: counts, no times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from soak import libraries, reloads, rows, stores, storm
from soak.rows import Row

POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills and forks as POSIX has them")


def test_l1_no_prompt_mixes_two_states_while_files_are_saved_all_the_time(tmp_path: Path) -> None:
    found = storm.storm(tmp_path, saves=40, pause=0.02, rest=0.005)

    assert found.times
    assert (found.mixed, found.raised) == ([], [])
    assert any(f"template={storm.LAST}" in text for text in found.states.values())  # L2: the last save is served


@POSIX
def test_l3_a_site_whose_writers_are_killed_is_whole_and_has_every_post_that_was_said(tmp_path: Path) -> None:
    found = stores.kill(tmp_path, kills=3)

    assert found.said >= 3
    assert (found.lost, found.halves, found.damaged) == (0, 0, 0)


def test_l6_processes_that_write_at_once_wait_for_each_other(tmp_path: Path) -> None:
    found = stores.write_at_once(tmp_path, processes=3, posts=10)

    assert found.said == 30
    assert (found.locked, found.lost, found.halves, found.damaged) == (0, 0, 0, 0)


def test_l8_a_clock_that_jumps_holds_no_change_back(tmp_path: Path) -> None:
    assert reloads.jump(tmp_path)


def test_l10_a_folder_that_goes_and_comes_back_is_followed(tmp_path: Path) -> None:
    assert reloads.vanish(tmp_path, times=2)


def test_l11_a_start_on_broken_files_serves_the_last_good_state_and_says_so(tmp_path: Path) -> None:
    assert reloads.restart(tmp_path)


@POSIX
def test_l29_a_label_whose_movers_are_killed_is_where_its_trail_says(tmp_path: Path) -> None:
    assert libraries.kill(f"sqlite:///{tmp_path}/prompts.db", tmp_path, kills=3)[2] == 0


def test_l7_a_library_that_is_full_is_whole_and_serves(tmp_path: Path) -> None:
    assert libraries.full(tmp_path)[1]


def test_l28_readers_see_whole_versions_while_they_are_written(tmp_path: Path) -> None:
    found = libraries.load(f"sqlite:///{tmp_path}/prompts.db", tmp_path, agents=10, readers=2, seconds=1.0)

    assert found.writes
    assert found.prompts
    assert (found.half, found.stale, found.raised) == (0, 0, [])


def test_the_table_is_put_where_the_page_has_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{rows.BEGIN}\nbygone\n{rows.END}\nbehind\n", encoding="utf-8")
    monkeypatch.setattr(rows, "PAGE", page)
    rows.write([Row("L1", "a", "b", "c", held=False)], 2)

    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nbehind\n")
    assert "| L1 | a | b | c **(not held)** |" in text
    assert "2 minutes on " in text
    assert "bygone" not in text
    rows.write([Row("L28", "d", "e", "f"), Row("L3", "g", "h", "i")], 10, whole=False)
    rows.write([Row("L3", "j", "k", "l")], 10, whole=False)

    names = [line.partition("|")[2].split("|")[0:2] for line in page.read_text(encoding="utf-8").splitlines()]
    assert [[cell.strip() for cell in each] for each in names if each[0].strip().startswith("L")] == [
        ["L1", "a"],
        ["L3", "j"],
        ["L28", "d"],
    ]
