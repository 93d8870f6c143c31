"""`cuecard tools add`: a new entry among the tool instructions of an agent, for its author to write."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from cuecard.agent.checks.tool_texts import TODO
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.file_kinds import kind_of
from cuecard.config.values import is_tool_name
from cuecard.errors import InputError, Problem, visible
from cuecard.files.atomic_write import rewrite, write_new
from cuecard.files.content import ENDINGS, find_content, yaml_files
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.files.safe_read import read_text
from cuecard.model import ToolCard, ToolInstructions
from cuecard.workbench.output import json_text
from cuecard.workbench.tool_import.entries import new_file, with_instructions, with_tools
from cuecard.workbench.tool_import.openapi import first_sentence
from cuecard.workbench.tool_import.places import ToolPlaces, find_home, tools_of

_TEXTS = ToolInstructions(
    before=f"{TODO}: what to have or to check first",
    after=f"{TODO}: what to do or say after it has succeeded",
    next=f"{TODO}: the tools that usually follow",
    gotcha=f"{TODO}: what goes wrong, and how to avoid it",
)


def add_tool(name: str, agent: Path, *, as_json: bool) -> None:
    """Add the entry, or give a described tool its instructions, and print what to do next.

    Args:
        name: the tool's name.
        agent: an agent, its folder, or a file of tool instructions, which may be a new one.
        as_json: print what was done for machines.

    Raises:
        InputError: when the name is invalid or taken, or the file's folder does not exist.
        SpecError: when a file of the agent cannot be read, or the entry cannot be added or moved.
    """
    if not is_tool_name(name):
        hint = "letters, digits, `_`, `.`, `:`, `/` and `-`; at most 128"
        raise InputError(Problem("wrong-option", f"`{visible(name)}` is not a valid tool name", hint, "NAME"))
    alone = _is_tool_file(agent)
    home = _file_home(agent) if alone else find_home(agent, None, write=True)
    known = home.known.get(name)
    asks = not as_json and sys.stdin.isatty()
    if known is None:
        file, card = _new_home(name, home, asks=asks), _card(name, home)
        line = _write(file, card)
    elif known.instructions is None and home.is_shared(home.files[name]):
        file = _new_home(name, home, asks=asks)
        line = _write(file, ToolCard(name, instructions=_TEXTS))
    else:
        file = home.files[name]
        line = _move(file, known)
    if as_json:
        print(json_text({"ok": True, "tool": name, "file": shown(file), "line": line}))
        return
    print(f"{f'gave `{name}` texts to fill in at' if known else f'added `{name}` to'} {visible(shown(file))}:{line}\n")
    print("  1. write its description, its phrases, and what the model must know: before, after, next, gotcha;")
    print("     leave out what would say nothing")
    checked = "AGENT" if alone else quote(visible(shown(agent)))
    print(f"  2. cuecard check {checked}  warns while a text begins with {TODO}")
    print(f'  3. cuecard tools search {checked} "what it does"  shows whether it is found')


def _is_tool_file(path: Path) -> bool:
    """Whether it is a file of tool instructions, or should become one."""
    if is_folder(path) or not any(path.match(ending) for ending in ENDINGS):
        return False
    if not is_there(path):
        return not is_there(find_content(path))
    source = read_text(path)
    return kind_of(read_yaml(source.text, source.name).value) != "agent"


def _file_home(file: Path) -> ToolPlaces:
    if not is_folder(file.parent):
        hint = "create it, or name a file in another folder"
        raise InputError(Problem("missing-file", "no such folder", hint, shown(file.parent)))
    # It is not known which agent uses the file, so only its own tools count.
    known = tools_of(file)
    return ToolPlaces(file.parent, file, alone=True, known=known, files=dict.fromkeys(known, file))


def _new_home(name: str, home: ToolPlaces, *, asks: bool) -> Path:
    """The file for a new entry: where there are several, the one that its name speaks of, or the one chosen."""
    if not is_folder(home.folder):
        hint = "create it: the agent names it under `tools: instructions:`"
        raise InputError(Problem("missing-file", "no such folder", hint, shown(home.folder)))
    there = [*yaml_files(home.folder)]
    own = (file for file in home.files.values() if not home.is_shared(file))
    files = sorted({*own, *there}) if home.file is None else [home.file]
    if len(files) < 2:
        return files[0] if files else home.folder / "tools.yaml"
    return _of_source(name, home) or _spoken_of(name, home, files) or _chosen(name, files, asks=asks)


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def _of_source(name: str, home: ToolPlaces) -> Path | None:
    """Where the other tools stand of the source that has this tool, if it was left out of an import."""
    locks = [each.lock.tools for each in home.locks() if any(tool.name == name for tool in each.lock.tools)]
    places = Counter(home.files[tool.name] for tools in locks for tool in tools if tool.name in home.files)
    return max(places, key=places.__getitem__, default=None)


def _spoken_of(name: str, home: ToolPlaces, files: Sequence[Path]) -> Path | None:
    """The file whose own name, or a category of whose tools, the tool's name has; of several, the one named last, as
    what a tool is about stands behind what it does.
    """
    found: Path | None = None
    for word in _words(name):
        told = [file for file in files if word in {*_words(file.stem), *_words(*_categories(home, file))}]
        found = told[0] if len(told) == 1 else found
    return found


def _categories(home: ToolPlaces, file: Path) -> set[str]:
    return {card.category for name, card in home.known.items() if home.files[name] == file}


def _words(*names: str) -> list[str]:
    return [word.lower().removesuffix("s") for name in names for word in _WORD.findall(name)]


def _chosen(name: str, files: Sequence[Path], *, asks: bool) -> Path:
    """The file that the author chooses.

    Raises:
        InputError: when there is nobody to ask.
    """
    if not asks:
        hint = f"name the file, such as: cuecard tools add {name} {quote(shown(files[0]))}"
        told = f"`{name}` could go into any of {len(files)} files: {', '.join(shown(file) for file in files)}"
        raise InputError(Problem("wrong-option", told, hint, "AGENT"))
    for number, file in enumerate(files, 1):
        print(f"  {number}  {visible(shown(file))}")
    while True:
        answer = input(f"Which file is `{name}` for? [1-{len(files)}]: ").strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(files):
            return files[int(answer) - 1]


def _card(name: str, home: ToolPlaces) -> ToolCard:
    """The card of a new tool, with what a source says of it if it was left out of an import."""
    tools = (tool for lock in home.locks() for tool in lock.lock.tools if tool.name == name)
    said = next((line for tool in tools if (line := first_sentence(tool.description))), "")
    return ToolCard(name, said or f"{TODO}: what it does, in one line", instructions=_TEXTS)


def _write(file: Path, card: ToolCard) -> int:
    """Add the entry to the file, and return its line."""
    there = is_there(file)
    before = read_text(file).text if there else new_file(file.stem)
    text = with_tools(before, [card], shown(file))
    if there:
        rewrite(file, text, before)
    else:
        write_new(file, text)
    return _line(file, text, card.name)


def _move(file: Path, card: ToolCard) -> int:
    """Give the described tool its instructions, and return the line of its entry."""
    before = read_text(file).text
    if ("described", card.name) not in read_yaml(before, shown(file)).keys:
        hint = f"it is defined in {card.source}; choose another name, or edit that entry"
        raise InputError(Problem("duplicate-tool", f"there is already a tool named `{card.name}`", hint, "NAME"))
    text = with_instructions(before, replace(card, instructions=_TEXTS), shown(file))
    rewrite(file, text, before)
    return _line(file, text, card.name)


def _line(file: Path, text: str, tool: str) -> int:
    return read_yaml(text, shown(file)).span(("tools", tool), key=True).line
