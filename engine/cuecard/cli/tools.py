"""`cuecard tools`: inspect an agent's catalogue."""

from __future__ import annotations

import sys
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.catalogue.graph import tool_graph
from cuecard.cli.explanation import explanation_lines
from cuecard.cli.json_text import json_text
from cuecard.cli.step import open_engine, unknown_tool
from cuecard.engine import Engine
from cuecard.errors import InputError, visible
from cuecard.model import Json, ToolCard


def list_tools(agent: Path, *, as_json: bool, allow_code: bool) -> None:
    """Print every tool by category, with the tokens of its protocol."""
    engine = open_engine(agent, allow_code=allow_code)
    if as_json:
        print(json_text([_card(engine, card) for card in engine.tools.values()]))
        return
    table = Table("tool", "what it does", "tokens")
    table.columns[2].justify = "right"
    for category, cards in groupby(engine.tools.values(), key=lambda card: card.category):
        table.add_section()
        table.add_row(Text(visible(category or "no category"), "bold"))
        for card in cards:
            table.add_row(card.name, Text(visible(card.description)), str(_cost(engine, card)))
    Console().print(table)


def show_tool(agent: Path, name: str, *, as_json: bool, allow_code: bool) -> None:
    """Print one tool: what the model reads about it, how it is found, and the tools before and after it."""
    engine = open_engine(agent, allow_code=allow_code)
    if name not in engine.tools:
        raise InputError(unknown_tool(name, engine, "tools show"))
    card = engine.tools[name]
    if as_json:
        print(json_text(_card(engine, card)))
        return
    graph = tool_graph(engine.tools.values())
    lines = [
        f"{card.name} ({card.category}) {card.source}",
        card.description,
        "",
        engine.instructions[name].rstrip() if name in engine.instructions else "no instructions",
        "",
        f"found by: {', '.join(card.phrases) or 'its name'}",
        f"comes after: {', '.join(graph.before(name)) or 'nothing'}",
        f"leads to: {', '.join(graph.after(name)) or 'nothing'}",
        f"tokens: {_cost(engine, card)}",
    ]
    print("\n".join(visible(line) for text in lines for line in text.split("\n")))


def search_tools(agent: Path, query: str, *, limit: int | None, as_json: bool, allow_code: bool) -> None:
    """Print what the agent's search tool would answer, and why."""
    engine = open_engine(agent, allow_code=allow_code)
    found = engine.explain_search(query, limit)
    if as_json:
        print(json_text(found.to_json()))
        return
    for line in explanation_lines(found, engine.tools):
        print(line)
    sys.stderr.write(f"{visible(found.message)} (confidence {found.confidence:.2f})\n")
    for diagnostic in found.diagnostics:
        sys.stderr.write(f"{diagnostic.code}: {visible(diagnostic.message)}\n")


def draw_graph(agent: Path, form: Literal["mermaid", "dot"], *, allow_code: bool) -> None:
    """Print the graph of BEFORE and NEXT."""
    graph = tool_graph(open_engine(agent, allow_code=allow_code).tools.values())
    print(graph.mermaid() if form == "mermaid" else graph.dot())


def _card(engine: Engine, card: ToolCard) -> dict[str, Json]:
    return {**asdict(card), "core": card.name in engine.core_tools, "tokens": _cost(engine, card)}


def _cost(engine: Engine, card: ToolCard) -> int:
    return engine.count(engine.instructions.get(card.name, ""))
