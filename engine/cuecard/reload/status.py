"""What a watcher says of itself: what is served, what was refused, since when and why."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Literal

from cuecard.errors import Problem
from cuecard.model import Json
from cuecard.records import dataclass

Watching = Literal["events", "polling", "stopped"]
"""How changes are noticed: the file system reports them, the sweep finds them, or not any more."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A state of the files that is not served: its fingerprint, the time it was found, and every problem."""

    sha256: str
    since: datetime
    problems: tuple[Problem, ...]

    @property
    def picture(self) -> str:
        """The problems as people read them."""
        return "\n\n".join(problem.picture() for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Status:
    """One state of a watcher.

    Attributes:
        number: counts the reported events: 0 at the start, plus one for each swap, refusal and recovery.
        serving: the fingerprint of the texts that are served, in hex (`Configuration.sha256` in manifests).
        since: when they started serving.
        changed: the files that differ from the previously served state, relative to the agent file's folder.
        refused: the state of the files that was refused; None if the files match what is served.
        restored: whether the texts are the last good ones of an earlier run, because the files were broken at the
            start.
        watching: how changes are noticed.
        unsaved: why the last good state could not be saved to disk; empty if it was.
    """

    number: int
    serving: str
    since: datetime
    changed: tuple[str, ...] = ()
    refused: Refusal | None = None
    restored: bool = False
    watching: Watching = "polling"
    unsaved: str = ""

    def __str__(self) -> str:
        origin = ", the last good state of an earlier run" if self.restored else ""
        lines = [f"serving {self.serving[:12]} since {_shown(self.since)}{origin} ({self.watching})"]
        if self.refused:
            lines += [f"refused {self.refused.sha256[:12]} since {_shown(self.refused.since)}:", self.refused.picture]
        if self.unsaved:
            lines.append(f"the last good state is not on disk: {self.unsaved}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """The status as plain JSON; times in ISO 8601."""
        data = asdict(self)
        data["since"] = self.since.isoformat()
        if self.refused:
            data["refused"]["since"] = self.refused.since.isoformat()
        return data


def _shown(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds")
