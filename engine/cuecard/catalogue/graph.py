"""The graph of tools: what the instructions say comes before and after what, and names in them that no tool has."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.catalogue.drawing import Arrow, draw_dot, draw_mermaid
from cuecard.model import ToolCard

_WORD = re.compile(r"[^\W\d]\w*")
_WHOLE = re.compile(r"[\w-]+")
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is used before `target`: so says BEFORE of the target, or NEXT of the source."""

    source: str
    target: str
    field: Literal["before", "next"]


@dataclass(frozen=True, slots=True)
class ToolGraph:
    """Every edge once, in catalogue order, and the tools by category. A tool has no edge to itself."""

    categories: Mapping[str, Sequence[str]]
    edges: tuple[Edge, ...]

    def before(self, name: str) -> tuple[str, ...]:
        """The tools that lead to this one."""
        return tuple(dict.fromkeys(edge.source for edge in self.edges if edge.target == name))

    def after(self, name: str) -> tuple[str, ...]:
        """The tools that this one leads to."""
        return tuple(dict.fromkeys(edge.target for edge in self.edges if edge.source == name))

    def mermaid(self) -> str:
        """The graph as Mermaid text, tools boxed by category: NEXT is a solid arrow, BEFORE alone a broken one."""
        return draw_mermaid(self.categories, self._arrows())

    def dot(self) -> str:
        """The same drawing in DOT, for Graphviz."""
        return draw_dot(self.categories, self._arrows())

    def _arrows(self) -> list[Arrow]:
        solid: dict[tuple[str, str], bool] = {}
        for edge in self.edges:
            pair = (edge.source, edge.target)
            solid[pair] = solid.get(pair, False) or edge.field == "next"
        return [(source, target, by_next) for (source, target), by_next in solid.items()]


def tool_graph(cards: Iterable[ToolCard]) -> ToolGraph:
    """The graph of these tools, from the known names in their BEFORE and NEXT."""
    cards = tuple(cards)
    mentions = _mentions([card.name for card in cards])
    categories: dict[str, list[str]] = {}
    found: dict[Edge, None] = {}
    for card in cards:
        name = card.name
        categories.setdefault(card.category or "tools", []).append(name)
        if card.instructions:
            found |= {
                Edge(other, name, "before"): None for other in mentions(card.instructions.before) if other != name
            }
            found |= {Edge(name, other, "next"): None for other in mentions(card.instructions.next) if other != name}
    return ToolGraph(categories, tuple(found))


def _mentions(known: Collection[str]) -> Callable[[str], list[str]]:
    """Finds the known names in a text, as whole words, in any characters that names may have.

    Names that are one word are looked up, and only the others are tried one by one: catalogues are large.
    """
    others = sorted((name for name in known if not _WHOLE.fullmatch(name)), key=len, reverse=True)
    find = re.compile(rf"(?<![\w-])(?:{'|'.join([*map(re.escape, others), _WHOLE.pattern])})(?![\w-])").findall
    names = frozenset(known)
    return lambda text: [name for name in find(text) if name in names]


@dataclass(frozen=True, slots=True, eq=False)
class KnownNames:
    """The names of tools, and how they start: what a word that is none of them is held against."""

    names: frozenset[str]
    starts: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> KnownNames:
        """What is looked up once for all cards."""
        found = frozenset(names)
        return cls(found, frozenset(start for name in found if (start := _start(name))))


def unknown_names(card: ToolCard, known: KnownNames) -> list[tuple[str, str]]:
    """Words in a card's instructions that look like tool names but are none: the field and the word, in reading order.

    A word looks like a tool name when it starts as a known one does: `cms_getPgae` beside `cms_getPage`, `getUser`
    beside `getPage`; in `before` and `next`, which name tools, also when it holds an underscore. The tool's own
    parameters are no tool names.
    """
    told = card.instructions
    if told is None:
        return []
    parameters = card.input_schema.get("properties", {})
    fields = ("before", told.before), ("after", told.after), ("next", told.next), ("gotcha", told.gotcha)
    return [
        (field, word)
        for field, text in fields
        for word in dict.fromkeys(_compounds(text))
        if word not in known.names
        and word not in parameters
        and (_start(word) in known.starts or (field in {"before", "next"} and "_" in word.strip("_")))
    ]


def _compounds(text: str) -> Iterator[str]:
    """The words that may be names of tools: all but those in lower case alone."""
    return (word for word in _WORD.findall(text) if "_" in word or not word.islower())


def _start(name: str) -> str:
    """How a compound name begins: `cms_` of `cms_getPage`; `get` and a capital, written `getA`, of `getPage`."""
    first, underscore, rest = name.partition("_")
    if first and underscore and rest:
        return first + underscore
    hump = _HUMP.search(name)
    return f"{name[: hump.start()]}A" if hump else ""
