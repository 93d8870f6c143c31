"""Checks file patterns against existing files: a pattern that no file can match is reported."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice, product

from cuecard.agent.world import World
from cuecard.config.agent_file import InputSpec
from cuecard.config.sections.file_entry import FileEntry
from cuecard.config.sections.file_patterns import has_inputs
from cuecard.config.sections.file_searches import Search, known_paths, searches
from cuecard.config.sections.files_spec import FilesSpec
from cuecard.errors import Problem
from cuecard.model import Json

_CHOICES = 1_000
"""The maximum number of combinations of values to try."""

_UNSEARCHED = frozenset({"large-folder", "unreadable-file", "link-outside"})
"""The problem codes of places that could not be searched, where it is unknown which files exist."""

_HINT = "check the path; `optional: true` allows it to match nothing"


def check_matches(spec: FilesSpec, name: str, world: World) -> Iterator[Problem]:
    """Problems of entries that cannot show any file, each named by its key below `name`; supplied files are not
    known yet.
    """
    if any(problem.code in _UNSEARCHED for problem in world.sources.problems):
        return
    paths = {source.path for source in world.sources.files} | {path for path, _ in world.sources.unread}
    for index, entry in enumerate(() if spec.supplied else spec.entries):
        if not entry.optional:
            yield from _folders(entry, f"{name}.entries.{index}.path", world.sources.not_files)
            yield from _unmatched(entry, f"{name}.entries.{index}", paths, world.spec.inputs)


def _folders(entry: FileEntry, name: str, not_files: Collection[str]) -> Iterator[Problem]:
    """Problems of paths that lead to a folder, which has no text, or to nothing at all."""
    for path in entry.path:
        if not path.strip():
            yield Problem("missing-file", "a path is empty", "write the path of a file", name)
        elif path in not_files:
            folder = path.rstrip("/")
            hint = f"name a file in it, or show all of them with `glob: {folder}/**/*`"
            yield Problem("missing-file", f"`{path}` is a folder", hint, name)


def _unmatched(entry: FileEntry, name: str, paths: set[str], inputs: Mapping[str, InputSpec]) -> Iterator[Problem]:
    if entry.upward:
        if not paths & {*known_paths(entry)} and not any(
            each.holds(path) for each in searches(entry) for path in paths
        ):
            message = f"no `{entry.upward.name[0]}` from `{entry.upward.from_}` up to `{entry.upward.to}`"
            yield Problem("no-match", message, _HINT, f"{name}.upward")
        return
    key = "glob" if entry.glob else "path"
    written = entry.glob or tuple(path for path in entry.path if has_inputs(path))
    for pattern, search in zip(written, searches(entry), strict=True):
        if not any(_holds(search, path, inputs) for path in paths):
            yield Problem("no-match", f"`{pattern}` matches no file", _HINT, f"{name}.{key}")


def _holds(search: Search, path: str, inputs: Mapping[str, InputSpec]) -> bool:
    """Whether a search finds a file for any possible values of its inputs."""
    if not search.holds(path):
        return False
    pattern = search.pattern
    known = {name: spec.values for name in pattern.inputs if (spec := inputs.get(name)) and spec.values is not None}
    choices: Iterator[tuple[Json, ...]] = islice(product(*known.values()), _CHOICES + 1)
    for tried, values in enumerate(choices):
        bound = pattern.bound(dict(zip(known, values, strict=True)))
        if tried == _CHOICES or (bound and Search(bound, search.exclude).holds(path)):
            return True
    return False
