"""The files of a watched agent: compared as texts, so that only a change of content counts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.errors import Problem, SpecError
from cuecard.files.content import in_folder
from cuecard.files.folder import read_agent
from cuecard.files.roots import Roots
from cuecard.files.safe_read import read_text
from cuecard.records import dataclass

Stamp = tuple[tuple[int, ...] | None, ...]
"""What the file system says of each file and folder; None for one that is not there."""


@dataclass(frozen=True, slots=True)
class Look:
    """The content of the files at one moment.

    Attributes:
        sources: the texts; only the agent file's if `unreadable` is set.
        sha256: the fingerprint of the texts, in hex.
        unreadable: why the files named by the agent file could not be determined.
    """

    sources: AgentSources
    sha256: str
    unreadable: tuple[Problem, ...] = ()

    def same_as(self, other: Look) -> bool:
        """Whether both have the same texts and the same problems."""
        mine, others = (self.sha256, self.problems), (other.sha256, other.problems)
        return mine == others

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem found while reading."""
        return (*self.unreadable, *self.sources.problems)

    @property
    def texts(self) -> Mapping[str, str]:
        """Each file's text by its path, relative to the agent file's folder."""
        return {source.path: source.text for source in self.sources.texts()}


class AgentFiles:
    """The agent file at `path` (or `agent.yaml` in that folder) and every file it names. For one thread."""

    def __init__(self, path: str | Path) -> None:
        self.agent: Path = in_folder(Path(path).absolute(), "agent")
        self._known: tuple[Path, ...] = (self.agent,)
        self._folders = frozenset({self.agent.parent})

    def read(self) -> Look:
        """The files as they are now. It never raises: problems are part of the result."""
        try:
            sources = read_agent(self.agent)
        except SpecError as error:
            return self._unreadable(error.problems)
        except OSError as error:
            hint = "check the folder's permissions"
            return self._unreadable((Problem("unreadable-file", str(error), hint, self.agent.as_posix()),))
        self._known = tuple(self._place(source.path) for source in sources.texts())
        searched = map(self._place, sources.folders)
        self._folders = frozenset({*(file.parent for file in self._known), *searched})
        return Look(sources, sources.sha256())

    def stamp(self) -> Stamp:
        """Sizes, times and inodes of the files last read and of their folders: cheap, and only a hint."""
        return tuple(_stat(place) for place in (*self._known, *self._folders))

    def folders(self) -> frozenset[Path]:
        """The folders in which a change may affect this agent."""
        return self._folders

    def stamp_of(self, path: str) -> Stamp:
        """The stamp of one file, named as in `SourceText.path`."""
        return (_stat(self._place(path)),)

    def holds(self, path: str, text: str) -> bool:
        """Whether the file now contains this text."""
        try:
            # Links were already checked when the text was read.
            file = self._place(path)
            return read_text(file, place=Roots.anywhere(file.parent).find(file.name)).text == text
        except (SpecError, OSError):
            return False

    def _place(self, path: str) -> Path:
        return Path(os.path.join(self.agent.parent, path))  # noqa: PTH118 - `..` must stay: only the kernel resolves links correctly

    def _unreadable(self, problems: tuple[Problem, ...]) -> Look:
        try:
            agent = read_text(self.agent)
        except (SpecError, OSError):
            agent = SourceText(self.agent.as_posix(), self.agent.name, "")
        sources = AgentSources(agent)
        return Look(sources, sources.sha256(), problems)


def _stat(path: Path) -> tuple[int, ...] | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino, seen.st_dev
