"""The report on tools and searches, as tables and as a page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from rich.table import Table
from rich.text import Text

from cuecard.errors import InputError, Problem, pictures, visible
from cuecard.files.roots import is_folder, shown
from cuecard.files.safe_read import MAX_LOG_BYTES, children, decoded, read_bytes
from cuecard.recording.records import read_records
from cuecard.workbench.field.findings import FieldReport, ToolUse, field_report, search_advice, tool_advice
from cuecard.workbench.output import json_text, write_output
from cuecard.workbench.replay.page import STYLE, document
from cuecard.workbench.step import open_engine

_LINES = (".jsonl", ".ndjson")


def report(paths: Sequence[Path], *, agent: Path | None, as_json: bool, html: Path | None) -> None:
    """Print the report, or write it as a page; unreadable records are reported and left out.

    Raises:
        InputError: when a path does not exist, or there is no readable record.
        SpecError: when a file cannot be read, or the agent is wrong.
    """
    engine = open_engine(agent) if agent else None
    requests, problems = read_records(record_texts(paths), engine.name if engine else "")
    if problems:
        sys.stderr.write(f"{pictures(problems)}\n\n")
    if not requests:
        hint = (
            "`cuecard run AGENT --manifests DIR` writes some; "
            'in your program, `cuecard.recording.Recorder("records.jsonl").instrument(engine)` does'
        )
        raise InputError(Problem("no-records", "there is no request record", hint, ", ".join(map(str, paths))))
    cards = engine.tools if engine else None
    found = field_report(requests, engine.search_tool if engine else "tool_search", cards)
    if as_json:
        print(json_text(_as_json(found)))
    elif html:
        _write(html, found)
    else:
        _show(found)


def record_texts(paths: Sequence[Path]) -> list[tuple[str, str]]:
    """The names and the texts of files of records.

    Raises:
        SpecError: when a file cannot be read.
    """
    return [(shown(path), decoded(read_bytes(path, limit=MAX_LOG_BYTES), shown(path))) for path in _files(paths)]


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files themselves; for a folder, its JSONL files or, if there are none, its manifests, by name."""
    for path in paths:
        inside = children(path) if is_folder(path) else []
        lines = [file for file in inside if file.suffix in _LINES]
        yield from (lines or [file for file in inside if file.suffix == ".json"]) if is_folder(path) else [path]


def _as_json(found: FieldReport) -> dict[str, object]:
    tools = [{**asdict(use), "advice": [*tool_advice(use, with_calls=found.with_calls)]} for use in found.tools]
    searches = [{**asdict(use), "advice": search_advice(use)} for use in found.searches]
    return {**asdict(found), "tools": tools, "searches": searches}


def _show(found: FieldReport) -> None:
    from rich.console import Console

    console = Console()
    for table in tables(found):
        console.print(table)


def _write(path: Path, found: FieldReport) -> None:

    write_output(path, page(found), "--html")
    sys.stderr.write(f"wrote {shown(path)}\n")


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


_WIDE = """\
.wide { overflow-x: auto; } .bar { width: 100px; height: 8px; fill: var(--append); }
@media (max-width: 640px) {
  .wide thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }
  .wide table, .wide tbody { display: block; }
  .wide tr { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .wide th, .wide td { border: 0; padding: 0; min-width: 0; overflow-wrap: anywhere; }
  .wide tbody th, .wide td:last-child { flex: 0 0 100%; }
  .wide td:empty, .wide td:has(.bar) { display: none; }
  .wide td[data-name]:not(:empty)::before { content: attr(data-name) " "; color: var(--soft); }
}
"""
"""On a small screen, each row is a block: the first cell on top, the numbers with their names, the text below."""


def page(found: FieldReport) -> str:
    """The whole page."""
    main = "\n".join(_sections(found))
    return document("Tools in the field", STYLE + _WIDE, main)


def _sections(found: FieldReport) -> Iterator[str]:
    yield "<header>\n<p class='over'>cuecard tools report</p>\n<h1>Tools in the field</h1>"
    yield f"<p>{_text(headline(found))}</p>\n</header>"
    most = max((use.tokens for use in found.tools), default=1) or 1
    yield _table(
        TOOLS,
        ("tool", "called in", "calls", "errors", "tokens", "", "what stands out"),
        (
            (
                f"<code>{_text(use.name)}</code>",
                called_in(use),
                *(f"{number:,}" for number in (use.calls, use.errors, use.tokens)),
                _bar(use.tokens / most),
                _text("; ".join(tool_advice(use, with_calls=found.with_calls))),
            )
            for use in found.tools
        ),
    )
    if found.searches:
        yield _table(
            SEARCHES,
            ("query", "times", "found", "what to do"),
            (
                (
                    _text(use.query),
                    f"{use.times:,}",
                    _text(", ".join(use.found) or "nothing"),
                    _text(search_advice(use)),
                )
                for use in found.searches
            ),
        )


def _bar(share: float) -> str:
    return f"<svg class='bar' aria-hidden='true'><rect width='{100 * share:.0f}' height='8' rx='4'/></svg>"


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col' role='columnheader'>{name}</th>" for name in columns)
    body = "\n".join(
        f"<tr role='row'><th scope='row' role='rowheader'>{first}</th>{_cells(columns[1:], rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f"<section>\n<h2>{_text(title)}</h2>\n<div class='wide' tabindex='0' role='region' aria-label='{_text(title)}'>"
        f"<table role='table'>\n<thead role='rowgroup'><tr role='row'>{head}</tr></thead>\n"
        f"<tbody role='rowgroup'>\n{body}\n</tbody>\n</table></div>\n</section>"
    )


def _cells(names: Sequence[str], cells: Sequence[str]) -> str:
    """Roles are explicit because changing `display` on small screens removes them in some browsers."""
    named = zip(names, cells, strict=True)
    return "".join(f"<td role='cell' data-name='{name}'>{cell}</td>" for name, cell in named)


def _text(text: str) -> str:
    return escape(visible(text), quote=True)
