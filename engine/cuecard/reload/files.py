"""The files of a watched agent: looked at as texts, so that only a change of content counts as a change."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.errors import Problem, SpecError
from cuecard.outside.folder import read_agent
from cuecard.outside.reading import read_text
from cuecard.outside.roots import Roots
from cuecard.outside.yaml_files import in_folder
from cuecard.records import dataclass

Stamp = tuple[tuple[int, ...] | None, ...]
"""What the file system says of each file and folder; None for one that is not there."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the files said at one moment.

    Attributes:
        sources: the texts; the agent file's alone when `unreadable` says that no other could be found.
        sha256: the fingerprint of the texts, in hex.
        unreadable: why the agent file could not be followed to the others.
    """

    sources: AgentSources
    sha256: str
    unreadable: tuple[Problem, ...] = ()

    def same_as(self, other: Look) -> bool:
        """Whether the two saw the same texts and met the same problems."""
        mine, others = (self.sha256, self.problems), (other.sha256, other.problems)
        return mine == others

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem met while reading."""
        return (*self.unreadable, *self.sources.problems)

    @property
    def texts(self) -> Mapping[str, str]:
        """Each file's text by its path, relative to the agent file's folder."""
        return {source.path: source.text for source in self.sources.texts()}


class AgentFiles:
    """The agent file at `path` (or `agent.yaml` in that folder) and every file it names. For one thread."""

    def __init__(self, path: str | Path) -> None:
        self.agent = in_folder(Path(path).absolute(), "agent")
        self._known: tuple[Path, ...] = (self.agent,)
        self._folders = frozenset({self.agent.parent})

    def read(self) -> Look:
        """The files as they are now. It never raises: what is wrong with them is part of the answer."""
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
        """The folders in which a change may concern this agent."""
        return self._folders

    def stamp_of(self, path: str) -> Stamp:
        """The stamp of one file, named as in `SourceText.path`."""
        return (_stat(self._place(path)),)

    def holds(self, path: str, text: str) -> bool:
        """Whether the file holds this text now."""
        try:
            # Whether links may lead there was asked when the text was read.
            file = self._place(path)
            return read_text(file, place=Roots.anywhere(file.parent).find(file.name)).text == text
        except (SpecError, OSError):
            return False

    def _place(self, path: str) -> Path:
        return Path(os.path.join(self.agent.parent, path))  # noqa: PTH118 - `..` must stay: links are the kernel's business

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
