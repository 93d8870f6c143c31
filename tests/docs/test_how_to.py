"""The recipes run: each page is walked from top to bottom in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

import pytest

from cuecard.cli.main import main
from docs.walk import BLOCK, Walk

FOLDER = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.name != "README.md")


class Quick(Walk):
    """A walk that runs commands and scripts of Python in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder)
        self._patch = monkeypatch
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setenv("NO_COLOR", "1")

    def run(self, command: list[str]) -> str:
        if command[0] not in {"cuecard", "python"}:
            return super().run(command)
        shown = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(shown),
        ):
            patch.chdir(self.folder)
            patch.setattr("sys.argv", command)
            if command[0] == "python":
                patch.syspath_prepend(self.folder)
                runpy.run_path(command[1], run_name="__main__")
                for beside in self.folder.glob("*.py"):  # what one page imports, the next does not know
                    sys.modules.pop(beside.stem, None)
            else:
                with pytest.raises(SystemExit):
                    main()
        return shown.getvalue()


@pytest.mark.parametrize("page", PAGES)
def test_a_recipe_prints_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    walk = Quick(tmp_path, monkeypatch)

    walk.follow(text)

    assert walk.steps == len(re.findall(r"^```\w+$", text, re.MULTILINE))
    assert any(block["language"] == "console" for block in BLOCK.finditer(text))


@pytest.mark.parametrize("page", PAGES)
def test_a_recipe_has_its_goal_and_what_can_go_wrong(page: str) -> None:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")

    assert "\n**Goal:** " in text
    assert "\n## What can go wrong\n" in text
