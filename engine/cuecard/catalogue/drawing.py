"""Boxes and arrows as text that Mermaid and Graphviz draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

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
    return "".join(c if c.isalnum() or c in " _-./" else f"#{ord(c)};" for c in text)


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
