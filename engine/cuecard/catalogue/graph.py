"""Which tool leads to which, and its drawing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from cuecard.model import ToolCard
from cuecard.records import dataclass

Boxes: TypeAlias = Mapping[str, Sequence[str]]
"""The names in each box, by title."""

Arrow: TypeAlias = tuple[str, str, bool]
"""From one name to another; solid or dashed."""


def draw_mermaid(boxes: Boxes, arrows: Iterable[Arrow]) -> str:
    """A Mermaid flowchart. Names are used as labels, never as identifiers: `end` and `a-b` would break the diagram."""
    ids = {name: f"t{n}" for n, name in enumerate(name for names in boxes.values() for name in names)}
    lines = ["flowchart LR"]
    for n, (title, names) in enumerate(boxes.items()):
        lines.append(f'  subgraph g{n}["{_mermaid(title)}"]')
        lines += [f'    {ids[name]}["{_mermaid(name)}"]' for name in names]
        lines.append("  end")
    lines += [f"  {ids[source]} {'-->' if solid else '-.->'} {ids[target]}" for source, target, solid in arrows]
    return "\n".join(lines) + "\n"


def draw_dot(boxes: Boxes, arrows: Iterable[Arrow]) -> str:
    """A directed graph in DOT, for Graphviz."""
    lines = ["digraph tools {", "  rankdir=LR;", "  node [shape=box];"]
    for n, (title, names) in enumerate(boxes.items()):
        lines += [f"  subgraph cluster_{n} {{", f"    label={_dot(title)};"]
        lines += [f"    {_dot(name)};" for name in names]
        lines.append("  }")
    for source, target, solid in arrows:
        lines.append(f"  {_dot(source)} -> {_dot(target)}{'' if solid else ' [style=dashed]'};")
    return "\n".join([*lines, "}"]) + "\n"


def _mermaid(text: str) -> str:
    return re.sub(r"[^\w ./-]", lambda mark: f"#{ord(mark[0])};", text)


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


_WHOLE = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` is used before `target`, according to BEFORE of the target or NEXT of the source."""

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
        """The graph as Mermaid text, tools boxed by category: NEXT is a solid arrow, BEFORE alone a dashed one."""
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


def tool_graph(cards: Iterable[ToolCard], around: str = "") -> ToolGraph:
    """The graph of these tools, from the known names in their BEFORE and NEXT.

    Args:
        cards: the tools.
        around: the only tool whose edges are wanted; empty for all.
    """
    cards = tuple(cards)
    mentions = _mentions([card.name for card in cards])
    if around:  # of a thousand tools, few have its name in a text
        cards = tuple(card for card in cards if card.name == around or _holds(card, around))
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


def _holds(card: ToolCard, name: str) -> bool:
    """Whether a name stands anywhere in the texts that make edges."""
    told = card.instructions
    return told is not None and (name in told.before or name in told.next)


def _mentions(known: Collection[str]) -> Callable[[str], list[str]]:
    """Finds the known names in a text as whole words, with any characters that names may contain.

    One-word names are looked up, and only the others are tried one by one, since catalogues are large: backwards, as a
    name comes before those that it is the beginning of.
    """
    others = sorted((name for name in known if not _WHOLE.fullmatch(name)), reverse=True)
    find = re.compile(rf"(?<![\w-])(?:{'|'.join([*map(re.escape, others), _WHOLE.pattern])})(?![\w-])").findall
    names = frozenset(known)
    return lambda text: [name for name in find(text) if name in names]
