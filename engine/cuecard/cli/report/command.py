"""`cuecard tools report`: what recorded conversations say about tools, instructions and searches."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from cuecard.analysis.field import FieldReport, field_report, read_records
from cuecard.analysis.field.advice import search_advice, tool_advice
from cuecard.cli.json_text import json_text
from cuecard.cli.outputs import write_output
from cuecard.cli.step import open_engine
from cuecard.errors import InputError, Problem, pictures
from cuecard.outside.paths import is_folder, shown
from cuecard.outside.reading import MAX_LOG_BYTES, children, decoded, read_bytes

_LINES = (".jsonl", ".ndjson")


def report(paths: Sequence[Path], *, agent: Path | None, as_json: bool, html: Path | None) -> None:
    """Print the report, or write it as a page; unreadable records are reported and left out.

    Raises:
        InputError: when a path does not exist, or there is no readable record.
        SpecError: when a file cannot be read, or the agent is wrong.
    """
    engine = open_engine(agent) if agent else None
    texts = [(shown(path), decoded(read_bytes(path, limit=MAX_LOG_BYTES), shown(path))) for path in _files(paths)]
    requests, problems = read_records(texts)
    if problems:
        sys.stderr.write(f"{pictures(problems)}\n\n")
    if not requests:
        hint = "`cuecard run AGENT --manifests DIR` writes some; docs/field.md explains how a host does"
        raise InputError(Problem("no-records", "there is no request record", hint, ", ".join(map(str, paths))))
    cards = engine.tools if engine else None
    found = field_report(requests, engine.search_tool if engine else "tool_search", cards)
    if as_json:
        print(json_text(_as_json(found)))
    elif html:
        _write(html, found)
    else:
        _show(found)


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

    from cuecard.cli.report.tables import tables

    console = Console()
    for table in tables(found):
        console.print(table)


def _write(path: Path, found: FieldReport) -> None:
    from cuecard.cli.report.page import page

    write_output(path, page(found), "--html")
    sys.stderr.write(f"wrote {shown(path)}\n")
