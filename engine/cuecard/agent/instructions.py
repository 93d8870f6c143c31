"""Tool instruction files as one set of cards: no tool occurs twice, and unknown names are reported."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from cuecard.agent.checks.inputs import refuse_escaped
from cuecard.agent.specification import Specification
from cuecard.agent.world import Memo
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_file import ToolFile, tool_cards
from cuecard.errors import DidYouMean, Problem, SpecError
from cuecard.model import ToolCard
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """One parsed file of tool instructions, or as much of it as was readable. `lost`: not even the names were."""

    document: Document
    names: frozenset[str]
    cards: tuple[ToolCard, ...]
    problems: tuple[Problem, ...]
    lost: bool = False


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
    sources: Iterable[SourceText], memo: Memo, *, own: Iterable[str] = (), are_all: bool = True
) -> Instructions:
    """The cards in the files.

    Args:
        sources: the files.
        memo: the memo of earlier builds.
        own: the names of tools that need no entry, since the engine describes them.
        are_all: false if one of the named files is missing.
    """
    files = [memo(_read, source) for source in sources]
    cards: dict[str, ToolCard] = {}
    documents: dict[str, Document] = {}
    problems: list[Problem] = []
    for file in files:
        problems += file.problems
        for card in file.cards:
            if card.name in cards:
                problems.append(_duplicate(card.name, documents[card.name], file.document))
            else:
                cards[card.name], documents[card.name] = card, file.document
    named = frozenset[str]().union(*(file.names for file in files))
    if not are_all or any(file.lost for file in files):
        return Instructions(cards, named, problems, None)
    known = memo(KnownNames.of, named.union(own))
    unknown = (p for file in files for card, p in memo(_unknown, file, known) if cards[card.name] is card)
    return Instructions(cards, named, [*problems, *unknown], known.names)


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


def _read(source: SourceText) -> _File:
    try:
        document = read_yaml(source.text, source.name)
    except SpecError as error:
        return _File(Document(source.name, source.text, {}), frozenset(), (), error.problems, lost=True)
    found = (*document.warnings, *refuse_escaped(document))
    try:
        file = validate(document, ToolFile)
    except SpecError as error:
        lost = not any(isinstance(document.value.get(key), dict) for key in ("tools", "described"))
        return _File(document, _names(document), (), (*found, *error.problems), lost)
    found = (*found, *(_uninstructed(document, name) for name, entry in file.tools.items() if not entry.instructions))
    return _File(document, _names(document), tuple(tool_cards(file, document, source.path)), found)


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


def _unknown(file: _File, known: KnownNames) -> list[tuple[ToolCard, Problem]]:
    return [
        (
            card,
            file.document.problem(
                ("tools", card.name, field),
                "unknown-tool",
                f"`{field}` of {card.name} names `{unknown}`, which has no entry",
                DidYouMean(unknown, known.names),
                severity="warning",
            ),
        )
        for card in file.cards
        for field, unknown in unknown_names(card, known)
    ]
