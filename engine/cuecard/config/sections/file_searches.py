"""Where the files of an entry are searched when the agent is opened; the files of a call are among those found."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from cuecard.config.sections.file_entry import FileEntry, Upward
from cuecard.config.sections.file_patterns import Exclusion, FilePattern, has_inputs, parts_of
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Search:
    """All files that match a pattern, whatever its inputs are, and are not excluded."""

    pattern: FilePattern
    exclude: Exclusion = Exclusion()

    def holds(self, path: str) -> bool:
        """Whether it would find a file at this path."""
        parts = parts_of(path)
        return self.pattern.anything().matches(parts) and parts not in self.exclude

    def leads(self, parts: Sequence[str]) -> bool:
        """Whether it searches this folder."""
        return self.pattern.anything().leads(parts) and parts not in self.exclude


def searches(entry: FileEntry) -> Iterator[Search]:
    """The searches of an entry; none for known paths."""
    yield from (Search(FilePattern.of_path(path)) for path in entry.path if has_inputs(path))
    yield from (Search(FilePattern.of_glob(written), Exclusion(entry.exclude)) for written in entry.glob)
    if entry.upward and has_inputs(entry.upward.from_):
        for name in entry.upward.name:
            yield Search(FilePattern.below(posixpath.normpath(entry.upward.to), posixpath.normpath(name)))


def known_paths(entry: FileEntry) -> Iterator[str]:
    """The paths of an entry that do not depend on inputs."""
    yield from (path for path in entry.path if not has_inputs(path))
    if entry.upward and not has_inputs(entry.upward.from_):
        for folder in folders_between(entry.upward.from_, entry.upward.to):
            yield from paths_in(folder, entry.upward)


def paths_in(folder: str, upward: Upward) -> tuple[str, ...]:
    """The paths that the file of a folder may have."""
    return tuple(posixpath.normpath(posixpath.join(folder, name)) for name in upward.name)


def folders_between(inner: str, outer: str) -> tuple[str, ...]:
    """The folders from the outer to the inner one; none if the inner one is not the same or below."""
    above, below = parts_of(posixpath.normpath(outer)), parts_of(posixpath.normpath(inner))
    rest = below[len(above) :]
    if below[: len(above)] != above or {"", ".."} & {*rest}:
        return ()
    ends = range(len(above), len(below) + 1)
    return tuple(
        posixpath.join("/", *below[:end]) if below[:1] == ("",) else "/".join(below[:end]) or "." for end in ends
    )
