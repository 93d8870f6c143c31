"""An agent's tools: listed, shown, searched, drawn; and a result as the model reads it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.catalogue.explanation import Explanation, QueryWord, RankedTool
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.search import GAP
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, visible
from cuecard.files.safe_read import read_text
from cuecard.model import CountTokens, Json, RenderedResult, ToolCard, ToolResult
from cuecard.model.tools import Categories
from cuecard.workbench.output import json_text
from cuecard.workbench.step import known_definitions, open_engine, unknown_tool

_INDENT = " " * 6


def explanation_lines(found: Explanation, tools: Mapping[str, ToolCard]) -> Iterator[str]:
    """The words of the query, the returned tools with the reasons for each, and the tools left out."""
    if found.words:
        yield "words: " + ", ".join(map(_word, found.words))
    returned = [each for each in found.ranked if each.returned]
    for each in returned:
        yield _head(each, tools)
        yield from _reasons(each)
    if rest := found.ranked[len(returned) :]:
        yield f"---- {_end(found)}"
        yield from (_head(each, tools) for each in rest)
    if found.categories:
        yield "what the model is told there is:"
        yield from (f"{_INDENT}{visible(line)}" for line in _categories(found.categories))


def _categories(said: Categories) -> Iterator[str]:
    if isinstance(said, tuple):
        yield ", ".join(said)
        return
    yield from (f"{category}: {', '.join(tools)}" for category, tools in said.items())


def _word(seen: QueryWord) -> str:
    known = f"{seen.tools} {'tool' if seen.tools == 1 else 'tools'}" if seen.tools else "no tool"
    taken = f", read as {', '.join(seen.taken_for)}" if seen.taken_for else ""
    return f"{visible(seen.word)} ({known}{taken})"


def _head(each: RankedTool, tools: Mapping[str, ToolCard]) -> str:
    return visible(f"{each.score:.2f}  {each.tool}  {' '.join(tools[each.tool].description.split())}".rstrip())


def _reasons(each: RankedTool) -> Iterator[str]:
    if each.named:
        yield f"{_INDENT}the query names it, or its category"
    if each.reasons.nearest:
        yield f'{_INDENT}nearest: "{visible(" ".join(each.reasons.nearest.split()))}" ({each.reasons.nearness:.2f})'
    for match in each.reasons.matches:
        yield f"{_INDENT}{match.part:4.0%} {visible(match.word)}: {', '.join(match.fields)}"


def _end(found: Explanation) -> str:
    match found.end:
        case "confidence":
            return f"nothing is returned: the confidence is {found.confidence:.2f}, but {found.needed:g} is required"
        case "cut":
            bar = found.cut * found.confidence
            return f"cut at {bar:.2f}, {found.cut:g} of the best score: the hits below are not returned"
        case "gap":
            return f"gap: sure answer, and the next hit scores less than {GAP:g} of the last: the rest is not returned"
        case _:
            return f"limit of {found.limit}: the hits below are not returned"


def list_tools(agent: Path, *, as_json: bool, allow_code: bool) -> None:
    """Print every tool by category, with the tokens of its instructions and, as far as known, of its definition."""
    engine, definitions = open_engine(agent, allow_code=allow_code), known_definitions(agent)
    if as_json:
        print(json_text([_card(engine, card, definitions) for card in engine.tools.values()]))
        return
    table = Table("tool", "what it does", "tokens", *(["definition"] if definitions else []))
    for column in table.columns[2:]:
        column.justify = "right"
    for category, cards in groupby(engine.tools.values(), key=lambda card: card.category):
        table.add_section()
        table.add_row(Text(visible(category or "no category"), "bold"))
        for card in cards:
            defined = engine.count(definitions[card.name]) if card.name in definitions else ""
            cells = [str(_cost(engine, card)), *([str(defined)] if definitions else [])]
            table.add_row(card.name, Text(visible(card.description)), *cells)
    Console().print(table)


def show_tool(agent: Path, name: str, *, as_json: bool, allow_code: bool) -> None:
    """Print one tool: what the model reads about it, how it is found, and the tools before and after it."""
    engine = open_engine(agent, allow_code=allow_code)
    if name not in engine.tools:
        raise InputError(unknown_tool(name, engine, "tools show"))
    card, definitions = engine.tools[name], known_definitions(agent)
    if as_json:
        print(json_text(_card(engine, card, definitions)))
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
        *_definition_lines(engine.count, definitions.get(name, "")),
    ]
    print("\n".join(visible(line) for text in lines for line in text.split("\n")))


_LARGEST = 5


def _definition_lines(count: CountTokens, definition: str) -> Iterator[str]:
    """The tokens of a definition, and of its largest properties."""
    if not definition:
        yield "definition: not known here: your program passes it"
        return
    yield f"definition: {count(definition):,} tokens"
    costs = _property_costs(count, definition)
    for name, tokens in costs[:_LARGEST]:
        yield f"  {name}: {tokens:,}"
    if rest := costs[_LARGEST:]:
        told = "1 more property" if len(rest) == 1 else f"{len(rest)} more properties"
        yield f"  {told}: {sum(tokens for _, tokens in rest):,}"


def _property_costs(count: CountTokens, definition: str) -> list[tuple[str, int]]:
    """The tokens of each property, the largest first."""
    properties = json.loads(definition)["input_schema"].get("properties")
    texts = {
        name: json.dumps({name: value}, ensure_ascii=False, separators=(",", ":"))
        for name, value in (properties if isinstance(properties, dict) else {}).items()
    }
    return sorted(((name, count(text)) for name, text in texts.items()), key=lambda each: (-each[1], each[0]))


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


def draw_graph(agent: Path, form: Literal["mermaid", "dot", "json"], *, allow_code: bool) -> None:
    """Print the graph of BEFORE and NEXT."""
    graph = tool_graph(open_engine(agent, allow_code=allow_code).tools.values())
    if form == "json":
        print(json_text(asdict(graph)))
    else:
        print(graph.mermaid() if form == "mermaid" else graph.dot())


def _card(engine: Engine, card: ToolCard, definitions: Mapping[str, str]) -> dict[str, Json]:
    text = definitions.get(card.name)
    defined: Json = None
    if text is not None:
        defined = {"tokens": engine.count(text), "properties": dict(_property_costs(engine.count, text))}
    core = card.name in engine.core_tools
    return {**asdict(card), "core": core, "tokens": _cost(engine, card), "definition": defined}


def _cost(engine: Engine, card: ToolCard) -> int:
    return engine.count(engine.instructions.get(card.name, ""))


_STDIN = Path("-")


def show_result(agent: Path, tool: str, file: Path, *, failed: bool, as_json: bool, allow_code: bool) -> None:
    """Print the text of this result, and on standard error how it was rendered.

    Raises:
        CuecardError: with every problem of the agent or the file.
    """
    engine = open_engine(agent, allow_code=allow_code)
    made = engine.render_result(ToolResult(tool, _result(file), is_error=failed))
    if as_json:
        print(json_text(made.to_json()))
        return
    # A result without a template is sent as it is, but its control characters must not reach a terminal.
    text = re.sub(r"[^\n\t]+", lambda piece: visible(piece.group()), made.text)
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stderr.write("".join(f"{visible(line)}\n" for line in _told(made)))


def _result(file: Path) -> Json:
    """The content of a file: JSON if possible, otherwise a text."""
    if file == _STDIN:
        return sys.stdin.read()
    text = read_text(file).text
    if file.suffix != ".json":
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "rename it, if it is a text"
        raise InputError(Problem("wrong-file", f"this is no JSON: {error}", hint, str(file))) from None


def _told(made: RenderedResult) -> list[str]:
    rule = f"told by `{made.rule}` ({made.source})" if made.rule else "no template: the result as it is"
    cut = [f"left out: {made.left_out:,} of {made.whole:,} {made.unit}"] if made.left_out else []
    changed = [f"neutralised: {kind}: {number}" for kind, number in made.trust.items()]
    return [rule, *cut, *changed, *(f"{each.code}: {each.message}" for each in made.diagnostics)]
