"""Reads a revision of a git repository into a folder, without touching the working tree or the index."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from cuecard.errors import InputError, Problem
from cuecard.outside.reading import MAX_BYTES
from cuecard.records import dataclass

_AT_ONCE = 500
"""How many files are read from git in one go."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file in a tree of git: its object, its path from the top, and whether it is a link."""

    digest: str
    path: PurePosixPath
    is_link: bool


def read_revision(revision: str, into: Path) -> PurePosixPath:
    """Write the files of a revision of the repository around the current folder into the folder `into`.

    Files that are too large for an agent (`MAX_BYTES`) are left out, and links that lead out of the repository.
    Attributes such as `export-ignore` do not matter.

    Args:
        revision: a commit, branch, tag or tree, as git names them: `HEAD~2`, `main`, `v1.0`.
        into: an empty folder.

    Returns:
        The current folder, as a path from the top of the repository.

    Raises:
        InputError: when git is not installed, there is no repository here, or it has no such revision.
    """
    here = _git("rev-parse", "--show-prefix")
    if here is None:
        hint = f"run the command in the repository that contains `{revision}`"
        raise InputError(Problem("no-repository", f"{Path.cwd()} is not in a git repository", hint, revision))
    tree = None if revision.startswith("-") else _git("rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
    if tree is None:
        hint = "`git log` and `git branch --all` list the existing ones"
        raise InputError(Problem("unknown-revision", f"there is no revision `{revision}`", hint, revision))
    entries = tuple(_entries(os.fsdecode(tree.strip())))
    # Links come last: a tree that somebody made by hand may have files below one, which lead elsewhere through it.
    for kind in (False, True):
        chosen = (entry for entry in entries if entry.is_link is kind)
        while some := tuple(islice(chosen, _AT_ONCE)):
            _write(some, into)
    return PurePosixPath(os.fsdecode(here.strip(b"\n")))


def _entries(tree: str) -> Iterator[_Entry]:
    listed = _git("ls-tree", "-r", "-l", "-z", "--full-tree", tree) or b""
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, kind, digest, size = about.split()
        place = PurePosixPath(os.fsdecode(path))
        # Git itself refuses such paths; a tree that somebody made by hand may have them.
        safe = not place.is_absolute() and ".." not in place.parts
        if kind == b"blob" and int(size) <= MAX_BYTES and safe:
            yield _Entry(digest.decode(), place, mode == b"120000")


def _write(entries: Sequence[_Entry], into: Path) -> None:
    contents = _contents(entry.digest for entry in entries)
    for entry, content in zip(entries, contents, strict=True):
        target = into / entry.path
        with suppress(OSError, ValueError, RuntimeError):  # two entries of one name, names that no file can have
            if entry.is_link and not _stays(target, os.fsdecode(content), into.resolve()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if entry.is_link:
                target.symlink_to(os.fsdecode(content))
            else:
                target.write_bytes(content)


def _stays(link: Path, target: str, top: Path) -> bool:
    """Whether a link stands below the top, whatever links lead to it, and leads to a place below it."""
    return link.parent.resolve().is_relative_to(top) and (link.parent / target).resolve().is_relative_to(top)


def _contents(digests: Iterable[str]) -> Iterator[bytes]:
    """What each object holds. `git cat-file --batch` writes a line `DIGEST blob SIZE`, the content, and a newline."""
    answer = _git("cat-file", "--batch", said="".join(f"{digest}\n" for digest in digests).encode()) or b""
    position = 0
    while position < len(answer):
        end = answer.index(b"\n", position)
        size = int(answer[position:end].split()[2])
        yield answer[end + 1 : end + 1 + size]
        position = end + size + 2


def _git(*arguments: str, said: bytes = b"") -> bytes | None:
    """What a git command prints; None when it fails."""
    try:
        done = subprocess.run(["git", *arguments], input=said, capture_output=True, check=False)
    except OSError as error:
        hint = "install git, or compare files that `cuecard render --json` has written"
        raise InputError(Problem("no-git", f"git cannot be started: {error.strerror}", hint, "git")) from None
    return done.stdout if done.returncode == 0 else None
