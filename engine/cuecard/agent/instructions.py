"""Tool instruction files as one set of cards: no tool occurs twice, and unknown names are reported."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from cuecard.agent.specification import Specification
from cuecard.agent.world import Memo
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.config.documents.document import Document, Path, inline_problem
from cuecard.config.documents.sources import AgentSources, SourceText, refuse_escaped
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml_changes import read_lately
from cuecard.config.tool_file import ToolFile, laid_over, tool_cards
from cuecard.config.tools_spec import CUES
from cuecard.errors import DidYouMean, Problem, SpecError
from cuecard.model import Json, ToolCard
from cuecard.records import dataclass
from cuecard.template.syntax.source import TemplateSource


@dataclass(frozen=True, slots=True, eq=False)
class InstructionFile:
    """One parsed file of tool instructions, or as much of it as was readable.

    `given` are the fields of each entry, with those that null removes; `lost`: not even the names were readable.
    """

    document: Document
    names: frozenset[str]
    cards: tuple[ToolCard, ...]
    problems: tuple[Problem, ...]
    lost: bool = False
    given: Mapping[str, frozenset[str]] = field(default_factory=dict)


_TEXTS: Final = ("description", *CUES)
"""The fields of an entry that models read."""


@dataclass(frozen=True, slots=True, eq=False)
class Instructions:
    """The cards of all files in file order, every name with an entry, valid or not, and every problem.

    `known` are these names and those that need no entry, unless a file cannot be read: it is then unclear which tools
    exist, so none is reported as unknown. `hidden` are the texts of each file that nobody reads, by tool and field,
    because other entries of the tool stand over them.
    """

    cards: dict[str, ToolCard]
    names: frozenset[str]
    problems: list[Problem]
    known: frozenset[str] | None
    files: tuple[InstructionFile, ...] = ()
    hidden: Mapping[InstructionFile, frozenset[tuple[str, str]]] = field(default_factory=dict)


def read_instructions(
    sources: Sequence[SourceText],
    memo: Memo,
    items: Sequence[int] = (),
    *,
    own: Iterable[str] = (),
    are_all: bool = True,
) -> Instructions:
    """Read the files.

    Args:
        sources: the files, in order.
        memo: the memo of earlier builds.
        items: the item that each belongs to, where a later one is laid over those before it.
        own: the names of tools that need no entry, since the engine describes them.
        are_all: false if one of the named files is missing.
    """
    read = _Entries()
    for at, source in enumerate(sources):
        read.begin(items[at] if at < len(items) else 0)
        read.take(memo(_read, source, read.below))
    named = frozenset[str]().union(*(file.names for file in read.files))
    problems = [*read.problems, *read.silent(), *read.misspelt()]
    hidden = {file: frozenset(texts) for file, texts in read.hidden.items()}
    made = Instructions(read.cards, named, problems, None, tuple(read.files), hidden)
    if not are_all or any(file.lost for file in read.files):
        return made
    known = memo(KnownNames.of, named.union(own))
    told = ((file, *each) for file in read.files for each in memo(_unknown, file, known))
    problems += (problem for file, tool, cue, problem in told if (tool, cue) not in read.hidden.get(file, ()))
    return replace(made, known=known.names)


class _Entries:
    """The entries of all files so far, with the file that each was last in; `below` are those of earlier items."""

    def __init__(self) -> None:
        self.item = 0
        self.below = frozenset[str]()
        self.files: list[InstructionFile] = []
        self.cards: dict[str, ToolCard] = {}
        self.items: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.hidden: defaultdict[InstructionFile, set[tuple[str, str]]] = defaultdict(set)
        self._last: dict[str, InstructionFile] = {}
        self._said: dict[tuple[str, str], InstructionFile] = {}

    def begin(self, item: int) -> None:
        """Go on with the files of an item."""
        if item != self.item:
            self.item = item
            self.below = frozenset(name for name, at in self.items.items() if at < item)

    def take(self, file: InstructionFile) -> None:
        """Add the entries of a file, over those of earlier items."""
        self.files.append(file)
        self.problems += file.problems
        for card in file.cards:
            name = card.name
            if self.items.get(name) == self.item:
                self.problems.append(_duplicate(name, self._last[name].document, file.document))
                self.hidden[file].update((name, key) for key in _TEXTS)
                continue
            if name in self.cards:
                self._lay_over(card, file)
            else:
                self.cards[name] = card
            self.items[name], self._last[name] = self.item, file

    def _lay_over(self, card: ToolCard, file: InstructionFile) -> None:
        """Put an entry over that of an earlier item, whose texts it hides as far as it has its own."""
        name = card.name
        given = file.given[name]
        for key in _TEXTS:
            below = self._said.get((name, key), self._last[name])
            self.hidden[below if key in given else file].add((name, key))
            self._said[name, key] = file if key in given else below
        self.cards[name] = laid_over(card, self.cards[name], given)

    def misspelt(self) -> Iterator[Problem]:
        """A warning for each entry over earlier items that is none of theirs and tells no search what it does, where
        one of theirs has all but its name: it would change nothing. Programs describe tools, too.
        """
        below = KnownNames.of(self.below)
        for name, card in self.cards.items() if below.names else ():
            is_bare = name not in below.names and not (card.description or card.phrases)
            if is_bare and (meant := below.missed(name)):
                document = self._last[name].document
                told, hint = f"`{name}` changes no entry of an earlier item", f"did you mean `{meant}`?"
                path = entry_path(document, name)
                yield document.problem(path, "unknown-tool", told, hint, key=True, severity="warning")

    def silent(self) -> Iterator[Problem]:
        """A warning for each entry under `tools:` without instructions, of its own or of those below it."""
        for name, card in self.cards.items():
            document = self._last[name].document
            if card.instructions is None and name in (document.value.get("tools") or ()):
                yield _uninstructed(document, name)


def lost_instructions(sources: AgentSources, specification: Specification | None) -> bool:
    """Whether a file of tool instructions that the agent file names could not be read."""
    spec = specification.spec if specification else None
    if spec is None:
        return False
    top = posixpath.dirname(sources.agent.name)
    folders = [posixpath.normpath(posixpath.join(top, place)) for place in spec.tools.instructions]
    missing = tuple(f"`{place}` " for place in spec.tools.instructions)
    return any(
        problem.message.startswith(missing)
        or any(f"{posixpath.normpath(problem.name)}/".startswith(f"{folder}/") for folder in folders)
        for problem in sources.problems
    )


def _read(source: SourceText, below: frozenset[str]) -> InstructionFile:
    """A file; null removes a text where its tool is among those of earlier items."""
    try:
        document = read_lately(source.text, source.name)
    except SpecError as error:
        return InstructionFile(Document(source.name, source.text, {}), frozenset(), (), error.problems, lost=True)
    found = (*document.warnings, *refuse_escaped(document))
    given = {name: frozenset(entry) for name, entry in _entries(document) if name in below}
    try:
        file = validate(_without_nulls(document, below) if given else document, ToolFile)
    except SpecError as error:
        lost = not any(isinstance(document.value.get(key), dict) for key in ("tools", "described"))
        return InstructionFile(document, _names(document), (), (*found, *error.problems), lost)
    return InstructionFile(
        document, _names(document), tuple(tool_cards(file, document, source.path)), found, given=given
    )


def _entries(document: Document) -> Iterator[tuple[str, dict[str, Json]]]:
    for key in ("tools", "described"):
        tools = document.value.get(key)
        for name, entry in tools.items() if isinstance(tools, dict) else ():
            if isinstance(entry, dict):
                yield name, entry


def _without_nulls(document: Document, names: frozenset[str]) -> Document:
    """The document without the texts that entries of these tools remove."""
    value = dict(document.value)
    for key in ("tools", "described"):
        if isinstance(tools := value.get(key), dict):
            value[key] = {name: _told(entry) if name in names else entry for name, entry in tools.items()}
    return replace(document, value=value)


def _told(entry: Json) -> Json:
    return {key: told for key, told in entry.items() if told is not None} if isinstance(entry, dict) else entry


def _uninstructed(document: Document, tool: str) -> Problem:
    message = f"`{tool}` has none of `before`, `after`, `next` and `gotcha`"
    hint = "a tool without instructions belongs under `described:`"
    return document.problem(("tools", tool), "no-instructions", message, hint, key=True, severity="warning")


def _names(document: Document) -> frozenset[str]:
    found = (document.value.get(key) for key in ("tools", "described"))
    return frozenset(name for tools in found if isinstance(tools, dict) for name in tools)


def _duplicate(tool: str, first: Document, second: Document) -> Problem:
    before, path = entry_path(first, tool), _entry_paths(second, tool)[-1]
    if first is second:
        before, path = sorted((before, path), key=lambda each: first.span(each, key=True).line)
    span = first.span(before, key=True)
    hint = f"first at {first.name}:{span.line}:{span.column}; keep one"
    if (first.name, before) == (second.name, path):
        hint = "`tools: instructions:` names this file twice, by itself or by its folder; keep one"
    return second.problem(path, "duplicate-tool", f"`{tool}` has instructions in two places", hint, key=True)


def entry_path(document: Document, tool: str) -> Path:
    """Where a document has the entry of a tool."""
    return _entry_paths(document, tool)[0]


def _entry_paths(document: Document, tool: str) -> list[Path]:
    """Where it has entries of a tool: one, or by mistake two."""
    return [(key, tool) for key in ("tools", "described") if tool in (document.value.get(key) or ())]


def _unknown(file: InstructionFile, known: KnownNames) -> list[tuple[str, str, Problem]]:
    """What the cues of a file name that has no entry: the tool, the cue and the problem."""
    return [
        (card.name, field, _named(file.document, (*entry_path(file.document, card.name), field), unknown, known))
        for card in file.cards
        for field, unknown in unknown_names(card, known)
    ]


def _named(document: Document, at: Path, word: str, known: KnownNames) -> Problem:
    """The problem of a name in a text of an entry, or in one of its items, where the name stands."""
    value = document.at(at)
    texts = [((*at, number), text) for number, text in enumerate(value)] if isinstance(value, list) else [(at, value)]
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?!\w)")
    path, found = next(((path, found) for path, text in texts if (found := whole.search(text))), (at, None))
    message = f"`{at[-1]}` of {at[-2]} names `{word}`, which has no entry"
    hint = DidYouMean(word, known.names)
    if found is None:
        return document.problem(at, "unknown-tool", message, hint, severity="warning")
    source = TemplateSource(document.name, found.string)
    told = source.problem(*found.span(), "unknown-tool", message, hint, severity="warning")
    return inline_problem(document, path, told)
