"""Which files each entry of a list selects in one call, among those read at open or supplied by the host.

Values select among files but never name new ones: for any value, the resulting paths match what the entry searched for
when the agent was opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cuecard.config.sections.file_entry import FileEntry, Upward
from cuecard.config.sections.file_patterns import Exclusion, FilePattern, filled, has_inputs, parts_of
from cuecard.config.sections.files_spec import FilesSpec, folders_between, known_paths, paths_in, searches
from cuecard.model import Cut, FileText, Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class FileSelection:
    """The files that a list can select from.

    Attributes:
        files: all files by path in the list.
        searched: those that patterns may find.
        values: inputs and built-in values by name.
    """

    files: Mapping[str, FileText]
    searched: Mapping[str, FileText]
    values: Mapping[str, Json]


def found_entries(spec: FilesSpec, held: FileSelection) -> tuple[tuple[FileEntry, ...], list[Cut]]:
    """The list with a separate entry for each file, and the files left out because an earlier entry shows them."""
    shown: set[str] = set()
    entries: list[FileEntry] = []
    cuts: list[Cut] = []
    for entry in spec.entries:
        for made in _plain(entry, held):
            path = next((path for path in made.path if path in held.files), "")
            if path in shown:
                cuts.append(Cut(f"file {made.title}", "already shown by an earlier entry"))
                continue
            shown |= {path} if path else set()
            entries.append(made)
    return tuple(entries), cuts


def _plain(entry: FileEntry, held: FileSelection) -> Iterator[FileEntry]:
    """The entry as entries with plain paths; one that finds nothing becomes one for a missing file."""
    if entry.upward:
        found = list(_upward(entry, entry.upward, held))
        root = len(parts_of(filled(entry.upward.to, held.values) or ""))
    elif entry.glob:
        found = [(path,) for path in _matching(entry, held)]
        root = min((len(parts_of(FilePattern.of_glob(each).folder)) for each in entry.glob), default=0)
    else:
        if not any(map(has_inputs, entry.path)):
            yield entry
            return
        paths = tuple(_paths(entry, held))
        there = next((path for path in paths if path in held.files), "")
        yield _with_paths(entry, paths, entry.name or there.rpartition("/")[2])
        return
    for paths in found:
        yield _with_paths(entry, paths, "/".join(parts_of(paths[0])[root:]))
    if not found:
        yield _with_paths(entry, ())


def _with_paths(entry: FileEntry, paths: tuple[str, ...], name: str = "") -> FileEntry:
    """The entry for one file. Without a path, it is named as written, and no file has that path."""
    title = name or entry.title
    changes = {"path": paths or _written(entry), "glob": (), "upward": None, "name": title}
    return entry.model_copy(update=changes)


def _written(entry: FileEntry) -> tuple[str, ...]:
    """What was searched for. This is never the path of a file outside what the entry may find."""
    if entry.upward:
        return tuple(f"{name} from {entry.upward.from_} up to {entry.upward.to}" for name in entry.upward.name)
    return entry.path or entry.glob


def _paths(entry: FileEntry, held: FileSelection) -> Iterator[str]:
    for path in entry.path:
        if not has_inputs(path):
            yield path
            continue
        pattern = FilePattern.of_path(path)
        bound = pattern.bound(held.values)
        only = bound.path() if bound else None
        if only is not None and pattern.anything().matches(parts_of(only)):
            yield only


def _matching(entry: FileEntry, held: FileSelection) -> list[str]:
    exclude = Exclusion(entry.exclude)
    bound = [made for written in entry.glob if (made := FilePattern.of_glob(written).bound(held.values))]
    matchers = [made.anything() for made in bound if not made.inputs]
    found = [
        path
        for path in held.searched
        if any(each.matches(parts_of(path)) for each in matchers) and parts_of(path) not in exclude
    ]
    return _sorted(found, entry.sort)


def _sorted(paths: Iterable[str], sort: str) -> list[str]:
    by_path = sorted(paths, key=parts_of)
    if sort.endswith("name"):
        by_path.sort(key=lambda path: path.rpartition("/")[2])
    return by_path[::-1] if sort.startswith("-") else by_path


def _upward(entry: FileEntry, upward: Upward, held: FileSelection) -> Iterator[tuple[str, ...]]:
    """For each folder that has the file, its path; the outermost folder first."""
    inner, outer = filled(upward.from_, held.values), filled(upward.to, held.values)
    if inner is None or outer is None:
        return
    looked, known = [*searches(entry)], {*known_paths(entry)}
    for folder in folders_between(inner, outer):
        for path in paths_in(folder, upward):
            allowed = path in known or any(search.holds(path) for search in looked)
            if path in held.searched and allowed:
                yield (path,)
                break
