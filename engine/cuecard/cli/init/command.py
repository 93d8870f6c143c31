"""`cuecard init`: a folder with a working agent, and turns that test it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from cuecard.cli.json_text import json_text
from cuecard.cli.step import open_engine
from cuecard.errors import InputError, Problem, visible
from cuecard.outside.paths import is_there, shown
from cuecard.outside.starters import BESIDE, KINDS, Kind, starter
from cuecard.testing.turns import find_turns, run_file

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

_NEXT = {
    "render": "print its prompt",
    "test": "check the prompts of turns/ against their expectations",
    "watch": "follow the files while you edit them",
}

_ABOUT: Mapping[Kind, str] = {
    "minimal": "one XML template, two tools, a working memory",
    "sections": "a list of Markdown sections, two tools",
    "cms": "the whole CMS assistant: 48 tools and their instructions",
}


def init(folder: Path, *, kind: Kind | None, name: str | None, yes: bool, as_json: bool) -> None:
    """Write the files and the snapshots of the turns, and print the next steps.

    Args:
        folder: the destination; created if it is missing.
        kind: which starter; on a terminal, the user is asked, otherwise it is `minimal`.
        name: the agent's name; by default, the name of the folder.
        yes: ask nothing.
        as_json: print the paths for machines.

    Raises:
        InputError: when a file of the agent exists already, the name is invalid, or the folder is not writable; nothing
            is then written. An existing README or settings are kept.
    """
    called = _checked(name or _name_of(folder), given=name is not None)
    asks = kind is None and not yes and not as_json and sys.stdin.isatty()
    everything = starter(kind or (_ask() if asks else "minimal"), called)
    kept = sorted(path for path in everything if path in BESIDE and is_there(folder / path))
    files = {path: text for path, text in everything.items() if path not in kept}
    _write(folder, files)
    engine = open_engine(folder)
    snapshots = [each.snapshot for path in find_turns(folder) for each in run_file(engine, path, update=True)]
    written = sorted([*files, *(path.relative_to(folder).as_posix() for path in snapshots if path)])
    if as_json:
        print(json_text({"ok": True, "agent": called, "folder": str(folder), "files": written, "kept": kept}))
        return
    here = visible(shown(folder))
    print("".join(f"  {path}\n" for path in written if not path.startswith(".schemas/")), end="")
    print("".join(f"  {path} already exists and was kept\n" for path in kept), end="")
    print(f"wrote the agent `{called}` into {here}, with schemas for your editor\n")
    for command, what in _NEXT.items():
        print(f"  {f'cuecard {command} {here}':<24}  {what}")


def _ask() -> Kind:
    for kind in KINDS:
        print(f"  {kind:<9} {_ABOUT[kind]}")
    while True:
        answer = input("Begin with [minimal]: ").strip() or "minimal"
        for kind in KINDS:
            if answer == kind:
                return kind
        print(f"  `{visible(answer)}` is not one of them")


def _name_of(folder: Path) -> str:
    """The folder's name, converted into a valid agent name."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(os.path.realpath(folder)).name).strip("-_")
    return (name if name[:1].isalpha() else f"agent-{name}".rstrip("-"))[:64]


def _checked(name: str, *, given: bool) -> str:
    if not _NAME.fullmatch(name):
        hint = "use a letter, then letters, digits, `_` or `-`; at most 64 characters"
        where = "--name" if given else "the folder"
        raise InputError(Problem("wrong-option", f"`{name}` is not a valid agent name", hint, where))
    return name


def _write(folder: Path, files: Mapping[str, str]) -> None:
    there = [folder / path for path in files if os.path.lexists(folder / path)]
    if there:
        hint = "name another folder, or move the file; nothing was written"
        raise InputError(Problem("file-exists", "the file already exists", hint, shown(path)) for path in there)
    try:
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        message = f"cannot be written to: {error.strerror}"
        raise InputError(Problem("wrong-option", message, "name a folder you can write to", shown(folder))) from None
