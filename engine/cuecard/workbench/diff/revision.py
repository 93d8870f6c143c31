"""Reads a revision of a git repository into a folder without touching the working tree or the index."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from cuecard.errors import InputError, Problem
from cuecard.files.safe_read import MAX_BYTES
from cuecard.records import dataclass

_AT_ONCE = 500
"""The number of files that are read from git at once."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in a tree of git: its object, its path from the top, and whether it is a link."""

    digest: str
    path: PurePosixPath
    is_link: bool


def tree_of(revision: str, at: Path = Path()) -> tuple[PurePosixPath, str]:
    """A folder as a path from the top of its repository, and what identifies the files of a revision there.

    Raises:
        InputError: as `read_revision`.
    """
    here = _git(at, "rev-parse", "--show-prefix")
    if here is None:
        hint = f"run the command in the repository that contains `{revision}`"
        raise InputError(Problem("no-repository", f"{at.resolve()} is not in a git repository", hint, revision))
    tree = None if revision.startswith("-") else _git(at, "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
    if tree is None:
        hint = "`git log` and `git branch --all` list the existing ones"
        raise InputError(Problem("unknown-revision", f"there is no revision `{revision}`", hint, revision))
    return PurePosixPath(os.fsdecode(here.strip(b"\n"))), os.fsdecode(tree.strip())


def read_revision(revision: str, into: Path, at: Path = Path()) -> PurePosixPath:
    """Write the files of a revision of the repository around a folder into the folder `into`.

    Files too large for an agent (`MAX_BYTES`) and links that lead out of the repository are left out. Attributes such
    as `export-ignore` do not matter.

    Args:
        revision: a commit, branch, tag or tree in git's notation: `HEAD~2`, `main`, `v1.0`.
        into: an empty folder.
        at: a folder in the repository; the current one by default.

    Returns:
        The folder `at`, as a path from the top of the repository.

    Raises:
        InputError: when git is not installed, this is not a repository, or it has no such revision.
    """
    here, tree = tree_of(revision, at)
    entries = tuple(_entries(at, tree))
    # Links come last: a hand-made tree may have files below a link, which would end up elsewhere.
    for kind in (False, True):
        chosen = (entry for entry in entries if entry.is_link is kind)
        while some := tuple(islice(chosen, _AT_ONCE)):
            _write(at, some, into)
    return here


def _entries(at: Path, tree: str) -> Iterator[_Entry]:
    listed = _git(at, "ls-tree", "-r", "-l", "-z", "--full-tree", tree) or b""
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, kind, digest, size = about.split()
        place = PurePosixPath(os.fsdecode(path))
        # Git itself rejects such paths, but a hand-made tree may contain them.
        safe = not place.is_absolute() and ".." not in place.parts
        if kind == b"blob" and int(size) <= MAX_BYTES and safe:
            yield _Entry(digest.decode(), place, mode == b"120000")


def _write(at: Path, entries: Sequence[_Entry], into: Path) -> None:
    contents = _contents(at, (entry.digest for entry in entries))
    for entry, content in zip(entries, contents, strict=True):
        target = into / entry.path
        with suppress(OSError, ValueError, RuntimeError):  # two entries with one name, impossible names
            if entry.is_link and not _stays(target, os.fsdecode(content), into.resolve()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if entry.is_link:
                target.symlink_to(os.fsdecode(content))
            else:
                target.write_bytes(content)


def _stays(link: Path, target: str, top: Path) -> bool:
    """Whether a link is below the top, whatever links lead to it, and its target is below the top, too."""
    return link.parent.resolve().is_relative_to(top) and (link.parent / target).resolve().is_relative_to(top)


def _contents(at: Path, digests: Iterable[str]) -> Iterator[bytes]:
    """The content of each object. `git cat-file --batch` writes a line `DIGEST blob SIZE`, the content, and a
    newline.
    """
    answer = _git(at, "cat-file", "--batch", said="".join(f"{digest}\n" for digest in digests).encode()) or b""
    position = 0
    while position < len(answer):
        end = answer.index(b"\n", position)
        size = int(answer[position:end].split()[2])
        yield answer[end + 1 : end + 1 + size]
        position = end + size + 2


def _git(at: Path, *arguments: str, said: bytes = b"") -> bytes | None:
    """The output of a git command in a folder; None if it fails."""
    try:
        done = subprocess.run(["git", "-C", os.fspath(at), *arguments], input=said, capture_output=True, check=False)
    except OSError as error:
        hint = "install git, or compare files that `cuecard render --json` has written"
        raise InputError(Problem("no-git", f"git cannot be started: {error.strerror}", hint, "git")) from None
    return done.stdout if done.returncode == 0 else None
