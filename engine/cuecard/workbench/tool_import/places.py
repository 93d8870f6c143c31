"""Where imported tools are written, and what the agent's files contain already."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.layers import lay_over
from cuecard.config.named_files import AgentPlaces
from cuecard.config.tool_file import ToolFile, tool_cards
from cuecard.errors import CuecardError, InputError, Problem, SpecError
from cuecard.files.content import find_content, in_folder
from cuecard.files.folder import read_agent
from cuecard.files.roots import is_there, shown
from cuecard.files.safe_read import read_text
from cuecard.model import ToolCard
from cuecard.sources.files import SERVERS
from cuecard.workbench.tool_import.entries import MAX_CHARACTERS, new_file, with_tools

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A new text for a file, and the text it was made from; None if there was no file."""

    text: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Home:
    """The files for the tools of a source.

    Attributes:
        file: the file of tool instructions that new tools go into; several sources may share one.
        source: the name of the source, as used in file names.
        alone: whether the agent names only this file, so that there can be no second one next to it.
        known: `file:line` by tool, for all of the agent's files.
    """

    file: Path
    source: str
    alone: bool
    known: Mapping[str, str]

    @property
    def lock(self) -> Path:
        """The file with the listing of the last import."""
        return self.file.with_name(f"{self.source}.lock.json")

    @property
    def said(self) -> Path:
        """The file with the source's own description, for sections that show it."""
        return self.file.with_name(f"{self.source}{SERVERS}")

    def written(self, cards: Sequence[ToolCard], category: str) -> dict[Path, FileEdit]:
        """The texts of the files with these tools added, in as few files as possible.

        Raises:
            SpecError: when they cannot be added to an existing file, or the named file has no room.
        """
        edits: dict[Path, FileEdit] = {}
        waiting, number = list(cards), 1
        while waiting:
            path = self.file if number == 1 else self.file.with_name(f"{self.file.stem}-{number}{self.file.suffix}")
            there = is_there(path)
            before = read_text(path).text if there else new_file(category)
            fitting = _fitting(waiting, MAX_CHARACTERS - len(before)) or (0 if there else 1)
            if self.alone and fitting < len(waiting):
                hint = "name a folder under `tools: instructions:`, which can contain several files"
                raise SpecError(Problem("yaml-too-large", "the file has no room for the new tools", hint, shown(path)))
            if fitting:
                edits[path] = FileEdit(with_tools(before, waiting[:fitting], shown(path)), before if there else None)
            waiting, number = waiting[fitting:], number + 1
        return edits


def find_home(agent: Path, source: str, into: Path | None, *, write: bool) -> Home:
    """Find the files for the tools of a source.

    Args:
        agent: the agent file, its folder, or the name of a shipped system.
        source: the source's name, which its file is named after.
        into: the file instead.
        write: whether anything will be written.

    Raises:
        SpecError: when the agent's files cannot be read, or do not name a place for tool instructions.
        InputError: when it is a shipped system, and something would be written.
    """
    found = find_content(agent)
    if write and found != agent and into is None:
        hint = "create your own agent: `cuecard init DIR`; or use `--check` to only compare"
        raise InputError(
            Problem("wrong-option", f"`{agent}` is shipped with cuecard and cannot be changed", hint, "AGENT")
        )
    file = in_folder(found, "agent")
    places, known = _read(file)
    if into is not None:
        # The agent may not name the file yet.
        return Home(into, slug(source), alone=False, known={**tools_of(into), **known})
    if not places:
        hint = "add `tools: {instructions: tools}` (a folder beside the agent file), or name a file with `--into`"
        raise SpecError(
            Problem("missing-key", "the agent names no folder or file for tool instructions", hint, shown(file))
        )
    target = Path(os.path.normpath(file.parent / places[0]))
    if target.suffix in {".yaml", ".yml"}:
        return Home(target, slug(source), alone=True, known=known)
    return Home(target / f"{slug(source)}.yaml", slug(source), alone=False, known=known)


def slug(name: str) -> str:
    """The name of a source as a file name."""
    return _ODD.sub("-", name).strip("-_").lower()[:48] or "tools"


def _read(file: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """The places of tool instructions that the agent names, and the tools in them."""
    sources = read_agent(file)
    layers = (*sources.layers, sources.agent)
    below = [(read_yaml(each.text, each.name), posixpath.dirname(each.path)) for each in layers]
    known: dict[str, str] = {}
    problems: list[Problem] = []
    for each in sources.instructions:
        try:
            document = read_yaml(each.text, each.name)
            known |= {card.name: card.source for card in tool_cards(validate(document, ToolFile), document, each.name)}
        except CuecardError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return AgentPlaces.of(lay_over(below).document.value).instructions, known


def tools_of(file: Path) -> dict[str, str]:
    """The tools in a file; none if the file does not exist."""
    if not is_there(file):
        return {}
    source = read_text(file)
    document = read_yaml(source.text, source.name)
    return {card.name: card.source for card in tool_cards(validate(document, ToolFile), document, source.name)}


def _fitting(cards: Sequence[ToolCard], room: int) -> int:
    """How many of the first cards fit into this number of characters."""
    for count, card in enumerate(cards):
        told = card.instructions
        texts = (told.before, told.after, told.next, told.gotcha) if told else ()
        room -= 2 * sum(map(len, (card.name, card.description, *card.phrases, *texts))) + 200
        if room < 0:
            return count
    return len(cards)
