"""A small agent on disk, and what its watcher reports."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuecard import Engine, Watcher
from cuecard.types import Pace, Status

PATIENCE = 20.0
"""Seconds that a test waits for what should happen at once: only a test that fails waits so long."""

QUICK = Pace(quiet=0.05, max_wait=0.6, hold=0.25, sweep=0.3)

AGENT = """\
agent: demo
template: {file: agent.xml, partials: partials}
tools:
  instructions: tools
  core: [tool_search]
"""
TEMPLATE = """\
<demo>
<role>
ROLE
{{> tone}}
</role>
<instructions>
{{{activeProtocols}}}
</instructions>
</demo>
"""


def instructions(tool: str, after: str = "done") -> str:
    return f"tools:\n  {tool}:\n    before: None required\n    after: '{after}'\n    next: none\n    gotcha: none\n"


@dataclass(frozen=True)
class Folder:
    """A small agent on disk."""

    root: Path

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: a busy machine may pause in the middle of a write, and then two changes are reported.
        half = file.with_name(f".{file.name}.half")
        half.write_text(text, encoding="utf-8")
        half.replace(file)

    def write_all(self) -> None:
        self.write("agent.yaml", AGENT)
        self.write("agent.xml", self.template("first"))
        self.write("partials/tone.hbs", "Be kind.")
        self.write("tools/search.yaml", instructions("tool_search", "after the first search"))
        self.write("tools/found.yaml", "described: {spare_tool: {description: Does something else.}}")

    @staticmethod
    def template(role: str) -> str:
        return TEMPLATE.replace("ROLE", role)


class Reports:
    """What a watcher reported, in order."""

    def __init__(self, watcher: Watcher[Engine]) -> None:
        self.watcher = watcher
        self.seen: list[Status] = []
        self._news: queue.SimpleQueue[Status] = queue.SimpleQueue()
        watcher.on_change(lambda _, status: self._news.put(status))

    def until(self, wanted: Callable[[Status], Any]) -> Status:
        """The first report, of those not asked for yet, that is wanted."""
        while True:
            status = self._news.get(timeout=PATIENCE)
            self.seen.append(status)
            if wanted(status):
                return status

    def until_prompt(self, text: str) -> Status:
        """The report after which the prompt contains this text."""
        return self.until(lambda status: not status.refused and text in prompt(self.watcher.current))


def prompt(engine: Engine) -> str:
    return engine.prepare_step(engine.prepare_call()).system
