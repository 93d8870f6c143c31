"""Real tools imported into the files where authors describe them, and the report."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.tool_listing import Listing, listing_text, read_listing, usable, with_authors_words
from cuecard.config.transcript_file import read_json
from cuecard.errors import InputError, Problem, SpecError, most_telling, visible
from cuecard.files.atomic_write import rewrite, write_new
from cuecard.files.roots import is_there, shown
from cuecard.files.safe_read import read_text
from cuecard.model import Json
from cuecard.workbench.output import json_text
from cuecard.workbench.run.sources import server_command
from cuecard.workbench.tool_import.changes import Changes, tool_changes
from cuecard.workbench.tool_import.openapi import read_openapi
from cuecard.workbench.tool_import.places import FileEdit, Home, find_home

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""The maximum size of an OpenAPI description or a JSON file of tools, in bytes."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found and wrote.

    Attributes:
        listing: the source's listing.
        changes: the differences.
        home: the files for the tools.
        written: the files that were written.
        check: whether writing was disabled.
    """

    listing: Listing
    changes: Changes
    home: Home
    written: tuple[Path, ...]
    check: bool

    def to_json(self) -> dict[str, Json]:
        """The report as plain JSON."""
        changes = self.changes
        return {
            "source": self.listing.name,
            "tools": len(self.listing.cards),
            "new": [card.name for card in changes.new],
            "changed": [asdict(each) for each in changes.changed],
            "removed": [{"tool": name, "instructions": self.home.known.get(name)} for name in changes.removed],
            "dropped": [problem.to_json() for problem in self.listing.dropped],
            "instructions": self.listing.instructions,
            "differs": bool(changes),
            "lock": shown(self.home.lock),
            "written": [shown(path) for path in self.written],
        }

    def lines(self) -> Iterator[str]:
        """The report for people."""
        changes = self.changes
        counts = {"new": changes.new, "changed": changes.changed, "removed": changes.removed}
        said = ", ".join(f"{len(each)} {word}" for word, each in counts.items() if each) or "nothing new"
        yield f"{self.listing.name or 'tools'}: {len(self.listing.cards)} tools listed, {said}"
        yield from (f"  new      {card.name}" for card in changes.new)
        for each in changes.changed:
            yield from (f"  changed  {each.tool}  {what}" for what in each.what)
        for name in changes.removed:
            place = self.home.known.get(name)
            yield f"  removed  {name}" + (f"  its text is still in {place}" if place else "")
        if self.listing.instructions:
            size, kept = len(self.listing.instructions), shown(self.home.said)
            yield f"  the server supplies {size:,} characters of instructions: kept as data in {kept}"
        yield from (f"  wrote    {shown(path)}" for path in self.written)
        if self.check and changes:
            yield "  --check writes nothing; run it again without --check"

    def notes(self) -> Iterator[str]:
        """What was left out."""
        told, more = most_telling(self.listing.dropped)
        yield from (problem.picture() for problem in told)
        if more:
            yield f"... and {more:,} more"


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The source of the tools; exactly one must be given.

    Attributes:
        mcp: the command of a server, in shell syntax.
        url: the address of a server.
        openapi: an OpenAPI description.
        json: a JSON file of tools.
        timeout: the timeout of a server in seconds.
    """

    mcp: str | None = None
    url: str | None = None
    openapi: Path | None = None
    json: Path | None = None
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import.

    Attributes:
        into: the file for new tools.
        check: write nothing; the exit code is 1 if there are differences.
        trust: whether the server's own instructions for its tools are trusted.
        as_json: print the report as JSON.
    """

    into: Path | None = None
    check: bool = False
    trust: Literal["data", "author"] = "data"
    as_json: bool = False


def import_tools(agent: Path, source: ImportSource, options: ImportOptions) -> int:
    """List the tools of a source, and write the new ones; returns the exit code.

    Raises:
        InputError: when not exactly one source is named, or the agent is a shipped one.
        SpecError: when a file cannot be read, or new tools cannot be added to it.
        ToolServerError: when a server cannot be started or spoken to.
    """
    listing = asyncio.run(_listed(source))
    if options.trust == "author":
        listing = with_authors_words(listing)
    home = find_home(agent, listing.name, options.into, write=not options.check)
    text = listing_text(listing)
    before = read_text(home.lock, limit=MAX_FILE_BYTES).text if is_there(home.lock) else None
    old = read_listing(before, home.lock.name) if before is not None else None
    said = read_text(home.said, limit=MAX_FILE_BYTES).text if is_there(home.said) else None
    changes = tool_changes(listing, old, home.known, listed=(text, listing.instructions) != (before, said or ""))
    lists = {home.lock: FileEdit(text, before)}
    if (said or "") != listing.instructions:
        lists[home.said] = FileEdit(listing.instructions, said)
    written = () if options.check else _write(home, listing, changes, lists)
    _show(ImportReport(listing, changes, home, written, options.check), as_json=options.as_json)
    return 1 if options.check and changes else 0


async def _listed(source: ImportSource) -> Listing:
    named = [each for each in (source.mcp, source.url, source.openapi, source.json) if each is not None]
    if len(named) != 1:
        told = f"{len(named)} tool sources are named" if named else "no tool source is named"
        hint = "name one: --mcp COMMAND, --mcp-url URL, --openapi FILE, or a JSON file"
        raise InputError(Problem("wrong-option", told, hint, "tools import"))
    if path := source.openapi or source.json:
        return file_listing(path, openapi=source.openapi is not None)
    if not find_spec("mcp"):
        hint = 'pip install "cuecard[mcp]"'
        raise InputError(Problem("not-installed", "tool servers need the package mcp", hint, "tools import"))
    if source.url is not None:
        from cuecard.adapters.mcp_client.http import open_http_server

        async with open_http_server(source.url, source.timeout) as server:
            return await server.listing()
    from cuecard.adapters.mcp_client.client import open_server

    async with open_server(server_command(source.mcp or "", source.timeout)) as server:
        return await server.listing()


def _write(home: Home, listing: Listing, changes: Changes, lists: Mapping[Path, FileEdit]) -> tuple[Path, ...]:
    edits = home.written(changes.new, listing.name or "tools")
    edits |= lists if changes.listed else {}
    for path, edit in edits.items():
        if edit.before is None:
            write_new(path, edit.text)
        else:
            rewrite(path, edit.text, edit.before)
    return tuple(edits)


def _show(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print(json_text(report.to_json()))
        return
    for line in report.notes():
        sys.stderr.write(f"{line}\n")
    for line in report.lines():
        print(visible(line))


def file_listing(path: Path, *, openapi: bool) -> Listing:
    """The listing in a file: an OpenAPI description, or tools as JSON in any of the usual formats.

    Raises:
        SpecError: when it cannot be read, or is neither.
    """
    source = read_text(path, limit=MAX_FILE_BYTES)
    if not openapi:
        return usable(path.name.partition(".")[0], tuple(read_catalogue(source.text, source.name)))
    looks_like_json = source.text.lstrip()[:1] in {"{", "["}
    value = read_json(source.text, source.name) if looks_like_json else read_yaml(source.text, source.name).value
    if not isinstance(value, dict):
        hint = "an OpenAPI description must be an object"
        raise SpecError(Problem("wrong-openapi", "this is not an OpenAPI description", hint, source.name))
    described = read_openapi(value, source.name)
    found = usable(described.title or path.stem, tuple(described.cards))
    return Listing(found.name, found.cards, dropped=(*described.problems, *found.dropped))
