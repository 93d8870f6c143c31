"""What leads to what: the NEXT of tools as a drawing of at most two steps, and the same as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.catalogue.graph import ToolGraph
from cuecard.records import dataclass

MAX_ROWS = 6
"""The number of tools in a column of the drawing; the list has all of them."""

_WIDE, _HIGH, _RIGHT, _DOWN = 160, 44, 200, 72
_STEPS = 2
_LETTERS = 18


@dataclass(frozen=True, slots=True)
class Node:
    """A tool in the drawing.

    Attributes:
        tool: its name.
        label: the name, as far as it fits.
        x: its place from the left.
        y: its place from the top.
    """

    tool: str
    label: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Wire:
    """An arrow: its line and its head, as paths."""

    line: str
    head: str


@dataclass(frozen=True, slots=True)
class NextView:
    """What a tool leads to.

    Attributes:
        root: the tool that was chosen.
        nodes: the tools of the drawing.
        wires: the arrows between them.
        listed: each tool that leads to others, with those, in the order of the drawing.
        hidden: how many tools have no room in the drawing.
    """

    root: str
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    listed: tuple[tuple[str, tuple[str, ...]], ...]
    hidden: int

    @property
    def width(self) -> int:
        """The width of the drawing."""
        return max(node.x for node in self.nodes) + _WIDE + 20

    @property
    def height(self) -> int:
        """Its height, with room for arrows that lead back below the tools."""
        back = any("C" in wire.line and wire.head.endswith("l-4 7h8z") for wire in self.wires)
        return max(node.y for node in self.nodes) + _HIGH + (30 if back else 2)


def next_of(graph: ToolGraph) -> Mapping[str, Sequence[str]]:
    """The tools that the NEXT of each tool names, in its order."""
    found: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.field == "next":
            found.setdefault(edge.source, []).append(edge.target)
    return found


def next_view(after: Mapping[str, Sequence[str]], root: str) -> NextView:
    """The drawing from a tool on."""
    columns = _columns(after, root)
    listed = tuple((tool, (*after[tool],)) for tools in columns[:_STEPS] for tool in tools if tool in after)
    shown = [tools[:MAX_ROWS] for tools in columns]
    nodes = {
        tool: Node(tool, tool if len(tool) <= _LETTERS else f"{tool[: _LETTERS - 1]}…", at * _RIGHT, row * _DOWN)
        for at, tools in enumerate(shown)
        for row, tool in enumerate(tools)
    }
    pairs = ((source, target) for source in nodes for target in after.get(source, ()) if target in nodes)
    hidden = sum(map(len, columns)) - len(nodes)
    return NextView(root, (*nodes.values(),), (*(_wire(nodes[a], nodes[b]) for a, b in pairs),), listed, hidden)


def _columns(after: Mapping[str, Sequence[str]], root: str) -> list[list[str]]:
    """The tools by how many steps they are away."""
    columns, seen = [[root]], {root}
    for _ in range(_STEPS):
        later = dict.fromkeys(each for tool in columns[-1] for each in after.get(tool, ()) if each not in seen)
        seen |= later.keys()
        columns += [[*later]] if later else []
    return columns


def _wire(source: Node, target: Node) -> Wire:
    """An arrow to the right, within a column, or back below the tools."""
    if target.x > source.x:
        x, y, to, down = source.x + _WIDE, source.y + _HIGH // 2, target.x, target.y + _HIGH // 2
        middle = (x + to) // 2
        return Wire(f"M{x} {y}C{middle} {y} {middle} {down} {to - 5} {down}", f"M{to} {down}l-7 -4v8z")
    if target.x == source.x:
        return _within(source, target)
    x, y, to, down = source.x + 60, source.y + _HIGH, target.x + 100, target.y + _HIGH
    low = max(y, down) + 22
    return Wire(f"M{x} {y}C{x} {low} {to} {low} {to} {down + 5}", f"M{to} {down}l-4 7h8z")


def _within(source: Node, target: Node) -> Wire:
    x = source.x + _WIDE // 2
    if target.y - source.y == _DOWN:
        return Wire(f"M{x} {source.y + _HIGH}V{target.y - 5}", f"M{x} {target.y}l-4 -7h8z")
    if source.y - target.y == _DOWN:
        return Wire(f"M{x + 20} {source.y}V{target.y + _HIGH + 5}", f"M{x + 20} {target.y + _HIGH}l-4 7h8z")
    right, y, to = source.x + _WIDE, source.y + _HIGH // 2, target.y + _HIGH // 2
    return Wire(f"M{right} {y}H{right + 14}V{to}H{right + 5}", f"M{right} {to}l7 -4v8z")
