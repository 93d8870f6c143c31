"""Tool instruction files as one set of cards: no tool occurs twice, and unknown names are reported."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from cuecard.agent.checks.inputs import refuse_escaped
from cuecard.agent.specification import Specification
from cuecard.agent.world import Memo
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.config.documents.document import Document, Path, inline_problem
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_file import ToolFile, laid_over, tool_cards
from cuecard.config.tools_spec import CUES
from cuecard.errors import DidYouMean, Problem, SpecError
from cuecard.model import Json, ToolCard
from cuecard.records import dataclass
from cuecard.template.syntax.source import TemplateSource


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """One parsed file of tool instructions, or as much of it as was readable.

    `given` are the fields of each entry, with those that null removes; `lost`: not even the names were readable.
    """

    document: Document
    names: frozenset[str]
    cards: tuple[ToolCard, ...]
    problems: tuple[Problem, ...]
    lost: bool = False
    given: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Instructions:
    """The cards of all files in file order, every name with an entry, valid or not, and every problem.

    `known` are these names and those that need no entry, unless a file cannot be read: it is then unclear which tools
    exist, so none is reported as unknown.
    """

    cards: dict[str, ToolCard]
    names: frozenset[str]
    problems: list[Problem]
    known: frozenset[str] | None


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
        read.item = items[at] if at < len(items) else 0
        below = frozenset(name for name, item in read.items.items() if item < read.item)
        read.take(memo(_read, source, below))
    named = frozenset[str]().union(*(file.names for file in read.files))
    problems = [*read.problems, *read.silent()]
    if not are_all or any(file.lost for file in read.files):
        return Instructions(read.cards, named, problems, None)
    known = memo(KnownNames.of, named.union(own))
    unknown = (told for file in read.files for told in memo(_unknown, file, known))
    problems += (problem for card, cue, problem in unknown if read.said[card.name].get(cue, card) is card)
    return Instructions(read.cards, named, problems, known.names)


class _Entries:
    """The entries of all files so far: cards, and which card each of their texts comes from."""

    def __init__(self) -> None:
        self.item = 0
        self.files: list[_File] = []
        self.cards: dict[str, ToolCard] = {}
        self.items: dict[str, int] = {}
        self.said: dict[str, dict[str, ToolCard]] = {}
        self.problems: list[Problem] = []
        self._documents: dict[str, Document] = {}

    def take(self, file: _File) -> None:
        """Add the entries of a file, over those of earlier items."""
        self.files.append(file)
        self.problems += file.problems
        for card in file.cards:
            name, given = card.name, file.given.get(card.name, frozenset(CUES))
            if self.items.get(name) == self.item:
                self.problems.append(_duplicate(name, self._documents[name], file.document))
                continue
            over = name in self.cards
            self.cards[name] = laid_over(card, self.cards[name], given) if over else card
            self.said[name] = {cue: card if cue in given or not over else self.said[name][cue] for cue in CUES}
            self.items[name], self._documents[name] = self.item, file.document

    def silent(self) -> Iterator[Problem]:
        """A warning for each entry under `tools:` without instructions, of its own or of those below it."""
        for name, card in self.cards.items():
            document = self._documents[name]
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


def _read(source: SourceText, below: frozenset[str]) -> _File:
    """A file; null removes a text where its tool is among those of earlier items."""
    try:
        document = read_yaml(source.text, source.name)
    except SpecError as error:
        return _File(Document(source.name, source.text, {}), frozenset(), (), error.problems, lost=True)
    found = (*document.warnings, *refuse_escaped(document))
    given = {name: frozenset(entry) for name, entry in _entries(document) if name in below}
    try:
        file = validate(_without_nulls(document, below) if given else document, ToolFile)
    except SpecError as error:
        lost = not any(isinstance(document.value.get(key), dict) for key in ("tools", "described"))
        return _File(document, _names(document), (), (*found, *error.problems), lost)
    return _File(document, _names(document), tuple(tool_cards(file, document, source.path)), found, given=given)


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
    path = _path(second, tool)
    span = first.span(_path(first, tool), key=True)
    hint = f"first at {first.name}:{span.line}:{span.column}; keep one"
    return second.problem(path, "duplicate-tool", f"`{tool}` has instructions in two places", hint, key=True)


def _path(document: Document, tool: str) -> Path:
    return next((key, tool) for key in ("tools", "described") if tool in (document.value.get(key) or ()))


def _unknown(file: _File, known: KnownNames) -> list[tuple[ToolCard, str, Problem]]:
    return [
        (card, field, _named(file.document, (*_path(file.document, card.name), field), unknown, known))
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
    told = TemplateSource(document.name, found.string).problem(*found.span(), "unknown-tool", message)
    return replace(inline_problem(document, path, told), advice=hint, severity="warning")
