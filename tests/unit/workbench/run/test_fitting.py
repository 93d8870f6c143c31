"""Values on a line of a run: as wide as the terminal, cut between words; the picture of a run loses nothing."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cuecard.workbench.run.events import ContentChange, ContentChanges, RunEnd, ScenarioStart
from cuecard.workbench.run.view import LEAST, LEGEND, MARK, View, fit, picture_writer


@given(st.text(), st.integers(0, 200))
def test_a_value_is_never_wider_than_its_room(text: str, room: int) -> None:
    assert cell_len(fit(text, room)) <= max(room, LEAST)
    assert "\n" not in fit(text, room)


@given(st.lists(st.text("abcdef", min_size=1, max_size=9), min_size=1).map(" ".join), st.integers(LEAST, 80))
def test_a_cut_appears_between_two_words(text: str, room: int) -> None:
    shown = fit(text, room)

    if shown != text:
        assert text.startswith(f"{shown.removesuffix(MARK)} ")
        following = text[len(shown.removesuffix(MARK)) + 1 :].split(" ", maxsplit=1)[0]
        assert len(shown) + 1 + len(following) > room


def test_a_word_longer_than_half_of_the_line_is_cut_within() -> None:
    assert fit("see https://example.org/a/very/long/address/of/a/page", 30) == "see https://example.org/a/" + MARK


def test_wide_characters_count_twice() -> None:
    assert cell_len(fit("面包" * 40, 40)) <= 40
    assert fit("面包" * 10, 40) == "面包" * 10


def test_the_columns_have_a_legend_that_fits_a_small_terminal() -> None:
    console = Console(file=StringIO(), width=80)
    View(console)(ScenarioStart("about-page", "An About page", 48))
    assert isinstance(console.file, StringIO)

    assert LEGEND in console.file.getvalue().splitlines()
    assert len(LEGEND) <= 80


def test_a_terminal_gets_lines_of_its_width() -> None:
    console = Console(file=StringIO(), width=60, force_terminal=True, color_system=None)
    View(console)(ContentChanges("about-page", 1, (ContentChange("pages.page-4", None, {"title": "About Us " * 30}),)))
    assert isinstance(console.file, StringIO)
    (line,) = console.file.getvalue().splitlines()

    assert 40 < len(line) <= 60
    assert line.endswith(("About Us" + MARK, "About" + MARK))


def test_the_picture_has_a_title_and_every_line_lies_within_it(tmp_path: Path) -> None:
    path = tmp_path / "run.svg"
    write = picture_writer(path)
    write(ScenarioStart("about-page", "An About page", 48))
    write(
        ContentChanges("about-page", 1, (ContentChange("pages.page-4", {"title": "Us " * 90}, {"title": "We " * 90}),))
    )
    write(RunEnd(1, ()))
    write(RunEnd(1, ()))  # a later event adds to the picture
    drawn = path.read_text(encoding="utf-8")
    shown = re.findall(r'x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)"[^>]*>([^<]*)<', drawn)
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', drawn)

    assert drawn.startswith("<svg")
    assert drawn.split(">", 1)[1].lstrip().startswith("<title>A run, step by step")
    assert all(float(x) + float(length) <= float(width) for x, length, text in shown if text.strip())
    assert "We ..." in "".join(text.replace("&#160;", " ") for _, _, text in shown)
