"""Tool instruction files as one set of cards: no tool twice, no unknown name unnoticed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from cuecard.errors import Problem, SpecError, did_you_mean
from cuecard.model import ToolCard
from cuecard.spec.sources import SourceText
from cuecard.spec.tool_file import ToolFile, tool_cards
from cuecard.spec.validate import validate
from cuecard.spec.yaml_text import Document, read_yaml
from cuecard.tools import unknown_names


def read_instructions(sources: Iterable[SourceText]) -> tuple[dict[str, ToolCard], frozenset[str], list[Problem]]:
    """The cards of all files in file order, every name that has an entry, be it right or wrong, and every problem."""
    cards: dict[str, ToolCard] = {}
    documents: dict[str, Document] = {}
    named: set[str] = set()
    problems: list[Problem] = []
    for source in sources:
        try:
            document = read_yaml(source.text, source.name)
            problems += document.warnings
            named |= _names(document)
            found = tool_cards(validate(document, ToolFile), document, source.path)
        except SpecError as error:
            problems += error.problems
            continue
        for card in found:
            if card.name in cards:
                problems.append(_duplicate(card.name, documents[card.name], document))
            else:
                cards[card.name], documents[card.name] = card, document
    return cards, frozenset(named), [*problems, *_unknown(cards, named, documents)]


def _names(document: Document) -> set[str]:
    tools = document.value.get("tools")
    return set(tools) if isinstance(tools, dict) else set()


def _duplicate(tool: str, first: Document, second: Document) -> Problem:
    path = ("tools", tool)
    span = first.span(path, key=True)
    hint = f"first at {first.name}:{span.line}:{span.column}; keep one"
    return second.problem(path, "duplicate-tool", f"`{tool}` has instructions in two places", hint, key=True)


def _unknown(cards: Mapping[str, ToolCard], named: Collection[str], documents: Mapping[str, Document]) -> list[Problem]:
    return [
        documents[name].problem(
            ("tools", name, field),
            "unknown-tool",
            f"`{field}` of {name} names `{unknown}`, which has no entry",
            did_you_mean(unknown, cards),
            severity="warning",
        )
        for name, card in cards.items()
        for field, unknown in unknown_names(card, named)
    ]
