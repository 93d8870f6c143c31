"""README.md fits on two screens, its figures are those of the code, and it leads to every integration."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

from docs.draw_overview import PICTURE, growth, picture
from docs.walk import Walk

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = 120


def test_it_fits_on_two_screens() -> None:
    assert len(README.splitlines()) <= LINES


def test_sixty_seconds_end_with_what_the_model_gets(tmp_path: Path) -> None:
    typed, shown = (re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)[0] for kind in ("sh", "text"))
    first, init, cd, render = [shlex.split(line, comments=True) for line in typed.splitlines()]
    (tmp_path / "checkout").mkdir()
    walk = Walk(tmp_path / "checkout")
    assert first == ["make", "shell"]

    walk.run(init)
    walk.folder /= cd[1]

    assert OutputChecker().check_output(f"...{shown}", walk.run(render), ELLIPSIS)

    add, check, seen, studio = [
        shlex.split(line, comments=True) for line in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)[1].splitlines()
    ]
    assert "added `pin_note` to tools.yaml" in walk.run(add)
    assert "warning[unfinished-tool]: `pin_note`" in walk.run(check)
    assert "<pin_note>" in walk.run(seen)
    assert studio == ["cuecard", "studio"]


def test_get_started_gets_somebody_started(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("## Your first agent")[2]
    typed = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)[0]
    init, cd, *others, studio = [shlex.split(line, comments=True) for line in typed.splitlines()]
    walk = Walk(tmp_path)
    walk.run(init)
    walk.folder /= cd[1]
    shown = [walk.run(each) for each in others]

    assert studio == ["cuecard", "studio"]
    assert shown[0].startswith("<agent>")
    assert "BEFORE: " in shown[1]
    assert "0 failed" in shown[2]


def test_the_api_takes_about_twenty_lines() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    assert len(code.splitlines()) <= 20


def test_the_picture_and_its_caption_have_the_figures_of_default_settings() -> None:
    shown = growth()
    caption = re.findall(r"!\[(.*?)\]\(docs/overview.svg\)", README)[0]

    assert picture(shown) == PICTURE.read_text(encoding="utf-8"), "run `make picture`, and correct the caption"
    assert re.findall(r"\d[\d,]*", caption) == [
        f"{number:,}" for number in (shown.totals[0], shown.totals[-1], shown.tools, shown.everything)
    ]


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs" / "hosts").glob("*.md")))
def test_every_host_has_a_link(page: str) -> None:
    assert page == "README.md" or f"](docs/hosts/{page})" in README
