"""Starter agents, and the command that writes them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Literal, TypeAlias, get_args

from cuecard.config.json_schema import schemas
from cuecard.errors import InputError, Problem, visible
from cuecard.files.content import content_root
from cuecard.files.roots import is_there, shown
from cuecard.workbench.output import json_text
from cuecard.workbench.step import open_engine
from cuecard.workbench.testing.turns import find_turns, run_file

Kind: TypeAlias = Literal["minimal", "sections", "cms"]
"""One template and two tools; a list of sections and two tools; the whole content management system."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_RENAMED = {"editor.json": ".vscode/settings.json", "pre-commit.yml": ".pre-commit-config.yaml"}
"""The names of dotfiles, and the names under which a wheel contains them."""

BESIDE = frozenset({"AGENTS.md", "README.md", *_RENAMED.values()})
"""Files that a project may already have, and that the agent does not need."""

_AGENT_NAME = re.compile(r"^agent: \S+$", re.MULTILINE)
_ADVICE = re.compile(r"^(?:#.*\n)?delivery: append$", re.MULTILINE)
"""The delivery, and the comment above it that says when another one is cheaper."""

_ATTRIBUTES = "# Prompts, results and snapshots have the same bytes on every machine.\n* text=auto eol=lf\n"

_MODELINE = re.compile(r"^# yaml-language-server: .*\n", re.MULTILINE)


def starter(kind: Kind, name: str) -> Mapping[str, str]:
    """The files of a starter, as paths and texts.

    Args:
        kind: which one.
        name: the agent's name.
    """
    root = content_root()
    folder = root / "examples" / "starters"
    files = {**_texts(folder / "common"), **_texts(folder / kind)}
    if kind == "cms":
        cms = root / "prompts" / "cms"
        tools = _texts(root / "tool_instructions" / "cms", "tool_instructions/")
        files |= {"agent.xml": (cms / "agent.xml").read_text(encoding="utf-8"), **tools}
        agent = (cms / "agent.yaml").read_text(encoding="utf-8")
        advice = _ADVICE.search((folder / "minimal" / "agent.yaml").read_text(encoding="utf-8"))
        agent = _ADVICE.sub(advice[0] if advice else "", agent, count=1)
        files["agent.yaml"] = agent.replace("../../tool_instructions/cms", "tool_instructions")
    files["agent.yaml"] = _AGENT_NAME.sub(f"agent: {name}", files["agent.yaml"], count=1)
    written = {_RENAMED.get(path, path): _MODELINE.sub("", text) for path, text in files.items()}
    written[".gitattributes"] = _ATTRIBUTES
    return {**written, **{f".schemas/{path}": text for path, text in schemas().items()}}


def _texts(folder: Path, under: str = "") -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "snapshots" not in path.parts)
    return {f"{under}{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8") for path in files}


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

_NEXT = {
    "studio": "see its prompt in the browser, and follow the files",
    "render": "print its prompt",
    "test": "check the prompts of turns/ against their expectations",
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
            is then written. An existing README, AGENTS.md or settings are kept.
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
    typed = {f"cuecard {command} {quote(here)}": what for command, what in _NEXT.items()}
    for command, what in typed.items():
        print(f"  {command:<{max(24, *map(len, typed))}}  {what}")


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
        hint = "name another folder, or move what is there; nothing was written"
        told = f"the agent's files exist already: {', '.join(f'`{each.relative_to(folder)}`' for each in there)}"
        raise InputError(Problem("file-exists", told, hint, shown(folder)))
    try:
        for path, text in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        message = f"cannot be written to: {error.strerror}"
        raise InputError(Problem("wrong-option", message, "name a folder you can write to", shown(folder))) from None
