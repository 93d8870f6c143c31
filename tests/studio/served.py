"""A studio of the command's own, with copies of shipped agents that tests may change."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forked import Process, start
from measuring import MEASURES

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

ROOT = Path(__file__).parents[2]
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in _BROWSERS if (found := shutil.which(name))), "")
"""The one without windows, where there is one: it takes a third of the time to open a page."""


@dataclass
class ServedStudio:
    """A running `cuecard studio`; `folder` is the one it was started in."""

    folder: Path
    agents: Sequence[str]
    options: Sequence[str] = ()
    url: str = ""
    entrance: str = ""
    said: list[str] = field(default_factory=list)
    process: Process | None = None

    def start(self, port: int = 0) -> None:
        """Start it, and read the address that it prints."""
        measured = {k.removeprefix(MEASURES): v for k, v in os.environ.items() if k.startswith(MEASURES)}
        words = ["studio", *self.agents, "--no-browser", *self.options, "--port", port]
        with chdir(self.folder), (self.folder / "studio.log").open("a") as log:
            self.process = start(*words, pipes="stdout", text=True, errors=log, **measured)
        assert self.process.stdout
        self.said = [self.process.stdout.readline()]
        found = re.search(r"(http://\S+/)\?token=\S+", self.said[0])
        if not found:
            self.process.communicate()
        assert found, (self.said, self.log)
        self.entrance, self.url = found[0], found[1]

    def tab(self, context: BrowserContext) -> Page:
        """A tab of a browser that has been let in; the page that it is sent to need not be made for each test."""
        context.request.get(self.entrance, max_redirects=0)
        return context.new_page()

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        if self.process:
            self.process.terminate()
            assert self.process.wait(timeout=20) == 0
            assert self.process.stdout
            self.process.stdout.close()

    def restart(self) -> None:
        """Stop it, and start it at the same port."""
        self.stop()
        self.start(int(self.url.rsplit(":", 1)[1].strip("/")))

    @property
    def log(self) -> str:
        """What it has written to standard error."""
        return (self.folder / "studio.log").read_text()


def copies(folder: Path) -> Path:
    """The folder with copies of the shipped agents and the recording of the CMS."""
    for name in ("prompts", "tool_instructions"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / "examples" / "cms" / "recordings", folder / "recordings")
    return folder
