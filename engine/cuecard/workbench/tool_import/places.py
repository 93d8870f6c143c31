"""Where imported tools are written, and what the agent's files and the locks of its sources contain already."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cuecard.config.documents.sources import SourceText
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.layers import lay_over
from cuecard.config.named_files import AgentPlaces
from cuecard.config.tool_file import ToolFile, tool_cards
from cuecard.config.tool_listing import Listing
from cuecard.config.tool_lock import Lock, read_lock
from cuecard.errors import CuecardError, InputError, Problem, SpecError
from cuecard.files.content import find_content, in_folder
from cuecard.files.folder import read_agent
from cuecard.files.roots import is_folder, is_there, shown
from cuecard.files.safe_read import children, read_text
from cuecard.model import ToolCard
from cuecard.sources.files import SERVERS
from cuecard.workbench.tool_import.entries import MAX_CHARACTERS, new_file, quoted, with_tools
from cuecard.workbench.tool_import.openapi import LONGEST, free_name

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""The maximum size of an OpenAPI description, a JSON file of tools or a lock, in bytes."""
LOCK: Final = ".lock.json"

_LONGEST_NAME: Final = 128
"""The maximum length of a name in files; that of an API's tools is the providers'."""
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A new text for a file, and the text it was made from; None if there was no file."""

    text: str
    before: str | None


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock, its file and its text."""

    path: Path
    text: str
    lock: Lock

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.lock.source or self.path.name.removesuffix(LOCK)


@dataclass(frozen=True, slots=True)
class ToolPlaces:
    """The files for the tools of an agent.

    Attributes:
        folder: the folder for files of tool instructions and locks.
        file: the only file that new tools go into; None if each source and tag has its own.
        root: the agent's folder; what is outside of it, other agents share.
        alone: whether the agent names only this file, so that there can be no second one next to it.
        known: the entries in all of the agent's files, by tool.
        files: the file of each entry.
        texts: the texts of the agent's files.
    """

    folder: Path
    file: Path | None = None
    root: Path | None = None
    alone: bool = False
    known: Mapping[str, ToolCard] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    texts: Sequence[SourceText] = ()

    def is_shared(self, file: Path) -> bool:
        """Whether a file is outside of the agent's folder, so that it is not for this agent alone."""
        return self.root is not None and _is_outside(file, self.root)

    def locks(self) -> list[LockFile]:
        """The locks of all sources, beside the agent's files of tool instructions.

        Raises:
            SpecError: when one of them cannot be read.
        """
        folders = dict.fromkeys((self.folder, *(path.parent for path in self.files.values())))
        found = [path for folder in folders if is_folder(folder) for path in children(folder)]
        locks: list[LockFile] = []
        problems: list[Problem] = []
        for path in dict.fromkeys(path for path in found if path.name.endswith(LOCK)):
            try:
                text = read_text(path, limit=MAX_FILE_BYTES).text
                locks.append(LockFile(path, text, read_lock(text, shown(path))))
            except SpecError as error:
                problems += error.problems
        if problems:
            raise SpecError(problems)
        return locks

    def server(self, source: str) -> Path:
        """The file with the source's own description, for sections that show it."""
        return self.folder / f"{source}{SERVERS}"

    def renamed(self, names: Mapping[str, str]) -> dict[Path, FileEdit]:
        """The texts of the files with other names for entries, and nothing else changed.

        Raises:
            SpecError: when a file cannot be read.
        """
        edits: dict[Path, FileEdit] = {}
        there = {name: after for name, after in names.items() if name in self.files and after not in self.files}
        for path in dict.fromkeys(self.files[name] for name in there):
            before = read_text(path).text
            own = {name: after for name, after in there.items() if self.files[name] == path}
            edits[path] = FileEdit(_with_names(before, own, shown(path)), before)
        return edits

    def mentions(self, name: str) -> Iterator[str]:
        """The places where the agent's files say a name, except as the name of its entry."""
        # A colon belongs to a name within it, and ends that of a key.
        word = re.compile(rf"(?<![\w.:/-]){re.escape(name)}(?![\w/-]|:\S)")
        own = self.known[name].source if name in self.known else ""
        for source in self.texts:
            for number, line in enumerate(source.text.split("\n") if name in source.text else (), 1):
                if word.search(line) and f"{source.name}:{number}" != own:
                    yield f"{source.name}:{number}"

    def written(
        self, cards: Sequence[ToolCard], source: str, category: str, edits: Mapping[Path, FileEdit]
    ) -> dict[Path, FileEdit]:
        """The texts of the files with these tools added: a file for each category, and further ones where it is full.

        Args:
            cards: the tools.
            source: the name of the source, which files are named after.
            category: the category of tools that have none.
            edits: what was changed in files already.

        Raises:
            SpecError: when they cannot be added to an existing file, or the named file has no room.
        """
        made = dict(edits)
        groups: dict[str, list[ToolCard]] = {}
        for card in cards:
            groups.setdefault("" if self.file else card.category, []).append(card)
        for tag, waiting in groups.items():
            stem = f"{source}-{slug(tag)}" if tag else source
            self._add(waiting, self.file or self.folder / f"{stem}.yaml", tag or category, made, shared=not tag)
        return made

    def _add(
        self, cards: list[ToolCard], first: Path, category: str, made: dict[Path, FileEdit], *, shared: bool
    ) -> None:
        """Add tools of a category to the first file of that name that has room and, unless shared, that category."""
        waiting, number = cards, 1
        while waiting:
            path = first if number == 1 else first.with_name(f"{first.stem}-{number}{first.suffix}")
            edit = made.get(path) or _present(path)
            text = edit.text if edit else new_file(category)
            number += 1
            if not shared and edit and read_yaml(text, shown(path)).value.get("category") != category:
                continue
            fitting = _fitting(waiting, MAX_CHARACTERS - len(text)) or (0 if edit else 1)
            if self.alone and fitting < len(waiting):
                hint = "name a folder under `tools: instructions:`, which can contain several files"
                raise SpecError(Problem("yaml-too-large", "the file has no room for the new tools", hint, shown(path)))
            if fitting:
                made[path] = FileEdit(with_tools(text, waiting[:fitting], shown(path)), edit.before if edit else None)
            waiting = waiting[fitting:]


def _with_names(text: str, names: Mapping[str, str], name: str) -> str:
    """The text of a file with other names for these entries, and nothing else changed."""
    document = read_yaml(text, name)
    rows = text.split("\n")
    places = [(document.keys.get((key, old)), new) for old, new in names.items() for key in ("tools", "described")]
    found = [(span.line - 1, span.column - 1, span.length, new) for span, new in places if span]
    for line, at, length, new in sorted(found, reverse=True):
        rows[line] = f"{rows[line][:at]}{quoted(new)}{rows[line][at + length :]}"
    return "\n".join(rows)


def _present(path: Path) -> FileEdit | None:
    if not is_there(path):
        return None
    text = read_text(path).text
    return FileEdit(text, text)


def find_home(agent: Path, into: Path | None, *, write: bool) -> ToolPlaces:
    """Find the files for the tools of an agent.

    Args:
        agent: the agent file, its folder, or the name of a shipped system.
        into: the file for new tools, if one was named.
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
    places, known, files, texts = _read(file)
    if into is not None:
        # The agent may not name the file yet.
        own = tools_of(into)
        return ToolPlaces(
            into.parent, into, known={**own, **known}, files=dict.fromkeys(own, into) | files, texts=texts
        )
    if not places:
        hint = "add `tools: {instructions: tools}` (a folder beside the agent file), or name a file with `--into`"
        raise SpecError(
            Problem("missing-key", "the agent names no folder or file for tool instructions", hint, shown(file))
        )
    root = Path(os.path.normpath(file.parent))
    found_in = [Path(os.path.normpath(root / place)) for place in places]
    target = next((place for place in found_in if not _is_outside(place, root)), found_in[0])
    if target.suffix in {".yaml", ".yml"}:
        return ToolPlaces(target.parent, target, root, alone=True, known=known, files=files, texts=texts)
    return ToolPlaces(target, root=root, known=known, files=files, texts=texts)


def _is_outside(path: Path, folder: Path) -> bool:
    return Path(os.path.relpath(path, folder)).parts[:1] == ("..",)


def find_source(listing: Listing, locks: Sequence[LockFile], named: str | None) -> tuple[str, LockFile | None]:
    """The name of a source, and its lock if there is one; a new title does not make another source of it.

    Raises:
        InputError: when its title is that of a source that has no tool in common with it.
    """
    title = slug(named or listing.name)
    by_name = {each.source: each for each in locks}
    if named is not None or not locks:
        return title, by_name.get(title)
    now = _requests(listing)
    shared = {name: len(now & _locked(each.lock)) for name, each in by_name.items()}
    names = {card.name for card in listing.cards}
    titled = by_name.get(title)
    if titled and (not titled.lock.tools or shared[title] or names & {each.name for each in titled.lock.tools}):
        return title, titled
    best = max(shared, key=lambda name: shared[name])
    if shared[best] * 2 >= len(by_name[best].lock.tools) and shared[best] * 4 > len(names):
        return best, by_name[best]
    if titled:
        hint = f"if it is another source, name it: `--source NAME`; if all of its tools are new: `--source {title}`"
        message = f"its title is that of {shown(titled.path)}, but they have no tool in common"
        raise InputError(Problem("wrong-option", message, hint, "--source"))
    return title, None


def named_as_before(listing: Listing, before: Lock | None, prefix: str) -> Listing:
    """The listing with the names that its tools had at the last import, and the prefix in front of others.

    A request whose `operationId` is the same keeps its name, even if a number in it was due to one that is gone.
    """
    kept: dict[str, str] = {}
    if before is not None and before.prefix == prefix:
        old = {(each.operation.key, each.operation.id): each.name for each in before.tools if each.operation}
        now = listing.operations.items()
        kept = {name: old[each.key, each.id] for name, each in now if (each.key, each.id) in old}
    taken = set(kept.values())
    names: dict[str, str] = {}
    for card in listing.cards:
        longest = LONGEST if card.name in listing.operations else _LONGEST_NAME
        names[card.name] = kept.get(card.name) or free_name(f"{prefix}{card.name}", taken, longest)
        taken.add(names[card.name])
    return listing.renamed(names)


def check_clashes(listing: Listing, others: Iterable[LockFile]) -> None:
    """Refuse tools that another source has under the same name, of which a call could only mean one.

    Raises:
        SpecError: with each of them.
    """
    own = {card.name for card in listing.cards}
    hint = "give the names of one source a prefix: `--prefix NAME_`; or change the name where it comes from"
    clashes = [
        Problem(
            "duplicate-tool", f"`{each.name}` is a tool of the source `{lock.source}` already", hint, shown(lock.path)
        )
        for lock in others
        for each in lock.lock.tools
        if each.name in own and not each.left_out
    ]
    if clashes:
        raise SpecError(clashes)


def slug(name: str) -> str:
    """The name of a source as a file name."""
    return _ODD.sub("-", name).strip("-_").lower()[:48] or "tools"


def _requests(listing: Listing) -> frozenset[tuple[str, str]]:
    """What identifies the tools of a listing, in the formats of all locks: requests, or names with descriptions."""
    made = {(name, f"{each.method} {each.path}") for name, each in listing.operations.items()}
    requests = {each.key for each in listing.operations.values()}
    return frozenset({(card.name, card.description) for card in listing.cards} | made | requests)


def _locked(lock: Lock) -> frozenset[tuple[str, str]]:
    return frozenset(each.operation.key if each.operation else (each.name, each.description) for each in lock.tools)


def _read(file: Path) -> tuple[tuple[str, ...], dict[str, ToolCard], dict[str, Path], tuple[SourceText, ...]]:
    """The places of tool instructions that the agent names, the entries in them, their files, and all texts."""
    sources = read_agent(file)
    layers = (*sources.layers, sources.agent)
    below = [(read_yaml(each.text, each.name), posixpath.dirname(each.path)) for each in layers]
    known: dict[str, ToolCard] = {}
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    for each in sources.instructions:
        try:
            cards = _cards(each)
        except CuecardError as error:
            problems += error.problems
        else:
            known |= {card.name: card for card in cards}
            files |= dict.fromkeys((card.name for card in cards), Path(os.path.normpath(file.parent / each.path)))
    if problems:
        raise SpecError(problems)
    core = (sources.template,) if sources.template else ()
    texts = (*layers, *core, *sources.partials, *sources.instructions, *sources.sections)
    return tuple(file for _, file in AgentPlaces.of(lay_over(below).document.value).instructions), known, files, texts


def tools_of(file: Path) -> dict[str, ToolCard]:
    """The entries in a file; none if the file does not exist."""
    return {card.name: card for card in _cards(read_text(file))} if is_there(file) else {}


def _cards(source: SourceText) -> list[ToolCard]:
    document = read_yaml(source.text, source.name)
    return tool_cards(validate(document, ToolFile), document, source.name)


def _fitting(cards: Sequence[ToolCard], room: int) -> int:
    """How many of the first cards fit into this number of characters."""
    for count, card in enumerate(cards):
        told = card.instructions
        texts = (told.before, told.after, told.next, told.gotcha) if told else ()
        room -= 2 * sum(map(len, (card.name, card.description, *card.phrases, *texts))) + 200
        if room < 0:
            return count
    return len(cards)
