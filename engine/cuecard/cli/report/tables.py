"""The report as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from cuecard.analysis.field import FieldReport, ToolUse
from cuecard.analysis.field.advice import search_advice, tool_advice
from cuecard.errors import visible

TOOLS = "Tools, most expensive first: the tokens of their instructions over all requests"
SEARCHES = "Searches that did not help"


def tables(found: FieldReport) -> Iterator[Table | Text]:
    """Print tools, then searches that did not help."""
    yield Text(headline(found))
    yield _tools(found)
    if found.searches:
        yield _searches(found)


def headline(found: FieldReport) -> str:
    """The amount of data read."""
    what = "" if found.with_calls else "; no calls were recorded, so only costs are shown"
    return f"{_plural(found.conversations, 'conversation')}, {_plural(found.requests, 'request')}{what}"


def called_in(use: ToolUse) -> str:
    """The number of conversations that called it, out of those that discovered it; core tools are never discovered."""
    return f"{use.called:,} of {use.found:,}" if use.found else f"{use.called:,}"


def _tools(found: FieldReport) -> Table:
    table = Table(title=TOOLS, title_justify="left")
    table.add_column("tool", overflow="fold")
    for column in ("called in", "calls", "errors", "tokens"):
        table.add_column(column, justify="right")
    table.add_column("what stands out", overflow="fold")
    for use in found.tools:
        numbers = (f"{number:,}" for number in (use.calls, use.errors, use.tokens))
        advice = "; ".join(tool_advice(use, with_calls=found.with_calls))
        table.add_row(Text(visible(use.name)), called_in(use), *numbers, Text(advice))
    return table


def _searches(found: FieldReport) -> Table:
    table = Table(title=SEARCHES, title_justify="left")
    table.add_column("query", overflow="fold")
    table.add_column("times", justify="right")
    table.add_column("found", overflow="fold")
    table.add_column("what to do", overflow="fold")
    for use in found.searches:
        names = ", ".join(map(visible, use.found)) or "nothing"
        table.add_row(Text(visible(use.query)), f"{use.times:,}", Text(names), Text(visible(search_advice(use))))
    return table


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
