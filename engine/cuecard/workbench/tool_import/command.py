"""Real tools imported into the files where authors describe them, and the report."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.yaml_plain import read_plain_yaml
from cuecard.config.tool_listing import Listing, lock_text, usable, with_authors_words
from cuecard.config.tool_lock import Lock, Operation
from cuecard.config.transcript_file import read_json
from cuecard.config.values import is_tool_name
from cuecard.errors import InputError, Problem, SpecError, most_telling, visible
from cuecard.files.atomic_write import rewrite, write_new
from cuecard.files.roots import Roots, is_there, shown
from cuecard.files.safe_read import read_text
from cuecard.model import Json, ToolCard
from cuecard.template import clean, without_controls
from cuecard.workbench.output import counted, json_text, require
from cuecard.workbench.tool_import.changes import Changes, tool_changes
from cuecard.workbench.tool_import.openapi import read_openapi
from cuecard.workbench.tool_import.places import (
    LOCK,
    MAX_FILE_BYTES,
    FileEdit,
    LockFile,
    ToolPlaces,
    check_clashes,
    find_home,
    find_source,
    named_as_before,
    slug,
)
from cuecard.workbench.tool_import.references import Read

_SHOWN: Final = 10
"""The maximum number of names of one kind in a report for people."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found and wrote.

    Attributes:
        listing: the source's listing.
        source: the name of the source here.
        changes: the differences.
        mapped: names that providers refuse, with those that are used instead.
        home: the files for the tools.
        lock: the file that stores the listing.
        written: the files that were written.
        check: whether writing was disabled.
    """

    listing: Listing
    source: str
    changes: Changes
    mapped: Mapping[str, str]
    home: ToolPlaces
    lock: Path
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
            "renamed": [{"tool": old, "now": new, "mentions": self._mentions(old)} for old, new in self._renamed()],
            "moved": [asdict(each) for each in changes.moved],
            "removed": [{"tool": name, "instructions": self._place(name)} for name in changes.removed],
            "kept": [name for name, kept in changes.pending.items() if kept],
            "left_out": [*changes.left_out],
            "mapped": dict(self.mapped),
            "undescribed": [*changes.undescribed],
            "dropped": [problem.to_json() for problem in self.listing.dropped],
            "instructions": self.listing.instructions,
            "differs": bool(changes),
            "lock": shown(self.lock),
            "written": [shown(path) for path in self.written],
        }

    def lines(self) -> Iterator[str]:
        """The report for people."""
        changes = self.changes
        counts = {
            "new": changes.new,
            "changed": changes.changed,
            "renamed": changes.renamed,
            "moved": changes.moved,
            "removed": changes.removed,
        }
        said = ", ".join(f"{len(each):,} {word}" for word, each in counts.items() if each) or "nothing new"
        title = self.listing.name or "tools"
        alias = "" if slug(title) == self.source else f" (`{self.source}` here)"
        yield f"{title}{alias}: {counted(len(self.listing.cards), 'tool')} listed, {said}"
        yield from (f"  new      {card.name}" for card in changes.new)
        for each in changes.changed:
            yield from (f"  changed  {each.tool}  {what}" for what in each.what)
        for old, new in self._renamed():
            yield f"  renamed  {old} -> {new}  {self._consequence(old, new)}".rstrip()
        for each in changes.moved:
            yield from (f"  moved    {each.tool}  {what}" for what in each.what)
        for name in changes.removed:
            place = self._place(name)
            yield f"  removed  {name}" + (f"  its text is still in {place}" if place else "")
        if any(map(self._place, changes.removed)):
            yield "  reported until the entry is gone; `--keep NAME` keeps it on purpose"
        yield from self._remarks()
        yield from (f"  wrote    {shown(path)}" for path in self.written)
        if self.check and changes.to_write:
            yield "  --check writes nothing; run it again without --check"

    def notes(self) -> Iterator[str]:
        """What was left out."""
        told, more = most_telling(self.listing.dropped)
        yield from (problem.picture() for problem in told)
        if more:
            yield f"... and {more:,} more"

    def _remarks(self) -> Iterator[str]:
        """What is no difference, and good to know."""
        changes = self.changes
        pairs = [f"`{said}` -> `{name}`" for said, name in self.mapped.items()]
        yield from (f"  mapped   {pair}" for pair in pairs[:_SHOWN])
        if len(pairs) > _SHOWN:
            yield f"  mapped   and {len(pairs) - _SHOWN:,} more names that providers refuse, told in {shown(self.lock)}"
        if changes.left_out:
            hint = "`cuecard tools add NAME` brings one back"
            yield f"  left out on purpose, having no entry: {_named(changes.left_out)}; {hint}"
        if changes.undescribed:
            many, text = len(changes.undescribed), "found by their names only"
            yield f"  {many} without a description in their entries, {text}: {_named(changes.undescribed)}"
        if self.listing.instructions:
            size, kept = len(self.listing.instructions), shown(self.home.server(self.source))
            yield f"  the server supplies {size:,} characters of instructions: kept as data in {kept}"

    def _renamed(self) -> Iterable[tuple[str, str]]:
        return self.changes.renamed.items()

    def _place(self, tool: str) -> str | None:
        return self.home.known[tool].source if tool in self.home.known else None

    def _mentions(self, tool: str) -> list[Json]:
        return [*self.home.mentions(tool)]

    def _consequence(self, old: str, new: str) -> str:
        """What a new name means for the entry, and for other texts."""
        place, mentions = self._place(old), [*self.home.mentions(old)]
        entry = f"its entry is {place}" if self.check else f"its entry has the new name: {place}"
        if place and new in self.home.known:
            entry = f"both have an entry: {place}, {self._place(new)}"
        named = f"{', '.join(mentions[:5])}{', ...' if mentions[5:] else ''}"
        return "; ".join(filter(None, (entry if place else "", f"still named in {named}" if mentions else "")))


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


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
        source: the name of the source here; by default that of its lock, or its title.
        prefix: what the names of its tools begin with here; by default as at the last import.
        keep: removed tools whose entries stay on purpose.
        as_json: print the report as JSON.
    """

    into: Path | None = None
    check: bool = False
    trust: Literal["data", "author"] = "data"
    source: str | None = None
    prefix: str | None = None
    keep: Sequence[str] = ()
    as_json: bool = False


def import_tools(agent: Path, source: ImportSource, options: ImportOptions) -> int:
    """List the tools of a source, and write the new ones; returns the exit code.

    Raises:
        InputError: when not exactly one source is named, an option is wrong, or the agent is a shipped one.
        SpecError: when a file cannot be read, another source has a tool of the same name, or new tools cannot be added.
        ToolServerError: when a server cannot be started or spoken to.
    """
    home = find_home(agent, options.into, write=not options.check)
    locks, listing = home.locks(), _listed(source)
    if options.trust == "author":
        listing = with_authors_words(listing)
    name, locked = find_source(listing, locks, options.source)
    if locked and home.file is None:
        home = replace(home, folder=locked.path.parent)
    before = locked.lock if locked else None
    prefix = (before.prefix if before else "") if options.prefix is None else options.prefix
    listing = named_as_before(listing, before, prefix)
    _check_prefix(listing, prefix)
    others = [each for each in locks if each is not locked]
    check_clashes(listing, others)
    elsewhere = {each.name for other in others for each in other.lock.tools}
    changes = tool_changes(listing, before, home.known, elsewhere, options.keep)
    _check_kept(options.keep, changes)
    path = locked.path if locked else home.folder / f"{name}{LOCK}"
    text = lock_text(listing, name, prefix, changes.left_out, changes.pending)
    server = home.server(name)
    said = read_text(server, limit=MAX_FILE_BYTES).text if is_there(server) else None
    listed = _is_other(text, locked) or (said or "") != listing.instructions
    changes = replace(changes, listed=listed)
    lists = {server: FileEdit(listing.instructions, said)} if (said or "") != listing.instructions else {}
    if locked is None or json.loads(locked.text) != json.loads(text):
        lists[path] = FileEdit(_bounded(text, path), locked.text if locked else None)
    written = () if options.check else _write(home, listing, changes, name, lists)
    mapped = _mapped(listing, before)
    _show(ImportReport(listing, name, changes, mapped, home, path, written, options.check), as_json=options.as_json)
    return 1 if options.check and changes else 0


def _is_other(text: str, locked: LockFile | None) -> bool:
    """Whether the source declares something else than in the lock, whatever authors decided meanwhile."""
    return locked is None or _declared(text) != _declared(locked.text)


def _declared(text: str) -> Json:
    value = json.loads(text)
    tools = [{key: each for key, each in tool.items() if key != "left_out"} for tool in value["tools"]]
    return {**value, "tools": tools, "gone": None}


def _bounded(text: str, path: Path) -> str:
    """The text of a lock, if the next import can read it."""
    if (size := len(text.encode("utf-8", "replace"))) > MAX_FILE_BYTES:
        message = f"the definitions of the tools have {size:,} bytes; at most {MAX_FILE_BYTES:,}"
        hint = "import the source in several parts"
        raise SpecError(Problem("large-file", message, hint, shown(path)))
    return text


def _check_prefix(listing: Listing, prefix: str) -> None:
    if any(not is_tool_name(card.name) for card in listing.cards):
        hint = "letters, digits, `_`, `-`, `.`, `:` or `/`"
        raise InputError(
            Problem("wrong-option", f"`{visible(prefix)}` makes names that are not valid", hint, "--prefix")
        )


def _check_kept(names: Sequence[str], changes: Changes) -> None:
    hint = "name a tool that the source no longer has and that has an entry"
    wrong = [
        Problem("wrong-option", f"`{visible(name)}` is not a removed tool with an entry", hint, "--keep")
        for name in names
        if name not in changes.pending
    ]
    if wrong:
        raise InputError(wrong)


def _mapped(listing: Listing, before: Lock | None) -> dict[str, str]:
    """The names of operations and arguments that are others here than in the source, unless they were told before."""
    told = (
        set(_other_names({each.name: each.operation for each in before.tools if each.operation})) if before else set()
    )
    return dict(pair for pair in _other_names(listing.operations) if pair not in told)


def _other_names(operations: Mapping[str, Operation]) -> Iterator[tuple[str, str]]:
    for tool, operation in operations.items():
        if operation.id not in {"", tool}:
            yield operation.id, tool
        yield from ((place.name, name) for name, place in operation.arguments.items() if place.name)


def _listed(source: ImportSource) -> Listing:
    named = [each for each in (source.mcp, source.url, source.openapi, source.json) if each is not None]
    if len(named) != 1:
        told = f"{len(named)} tool sources are named" if named else "no tool source is named"
        hint = "name one: --mcp COMMAND, --mcp-url URL, --openapi FILE, or a JSON file"
        raise InputError(Problem("wrong-option", told, hint, "tools import"))
    if path := source.openapi or source.json:
        return file_listing(path, openapi=source.openapi is not None)
    require("cuecard tools import", "mcp", {"mcp": "mcp"})
    return asyncio.run(_asked(source))


async def _asked(source: ImportSource) -> Listing:
    """The listing of a server."""
    if source.url is not None:
        from cuecard.adapters.mcp_client.http import open_http_server

        async with open_http_server(source.url, source.timeout) as server:
            return await server.listing()
    from cuecard.adapters.mcp_client.client import open_server
    from cuecard.files.server_process import server_command

    async with open_server(server_command(source.mcp or "", source.timeout)) as server:
        return await server.listing()


def _write(
    home: ToolPlaces, listing: Listing, changes: Changes, source: str, lists: Mapping[Path, FileEdit]
) -> tuple[Path, ...]:
    entries = [_as_entry(card, listing) for card in changes.new]
    edits = home.written(entries, source, listing.name or "tools", home.renamed(changes.renamed))
    edits |= lists
    for path, edit in edits.items():
        if edit.before is None:
            write_new(path, edit.text)
        else:
            rewrite(path, edit.text, edit.before)
    return tuple(edits)


def _as_entry(card: ToolCard, listing: Listing) -> ToolCard:
    """What an entry says of a tool: one line, under the category of its first tag."""
    tag = card.category if card.name in listing.operations else ""
    return replace(card, description=listing.lines.get(card.name, card.description), category=tag)


def _show(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        print(json_text(report.to_json()))
        return
    for line in report.notes():
        sys.stderr.write(f"{line}\n")
    for line in report.lines():
        print(visible(line))


_DESCRIPTION = re.compile(r"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.""", re.MULTILINE)


def file_listing(path: Path, *, openapi: bool) -> Listing:
    """The listing in a file: an OpenAPI description, or tools as JSON in any of the usual formats.

    Raises:
        SpecError: when it cannot be read, or is neither.
    """
    source = read_text(path, limit=MAX_FILE_BYTES)
    if not openapi:
        try:
            return usable(path.name.partition(".")[0], tuple(read_catalogue(source.text, source.name)))
        except SpecError as error:
            if not _DESCRIPTION.search(source.text):
                raise
            hint = f"write `--openapi {source.name}`"
            raise SpecError(Problem("wrong-openapi", "this is an OpenAPI description", hint, source.name)) from error
    value = _value(source.text, source.name)
    if not isinstance(value, dict):
        hint = "an OpenAPI description must be an object"
        raise SpecError(Problem("wrong-openapi", "this is not an OpenAPI description", hint, source.name))
    described = read_openapi(value, source.name, _beside(path))
    found = usable(described.title or path.stem, tuple(described.cards))
    lines = {name: clean(without_controls(line))[0] for name, line in described.lines.items()}
    dropped = (*described.problems, *found.dropped)
    return replace(found, dropped=dropped, operations=described.operations, lines=lines)


def _value(text: str, name: str) -> Json:
    return read_json(text, name) if text.lstrip()[:1] in {"{", "["} else read_plain_yaml(text, name)


def _beside(description: Path) -> Read:
    """Reads the other files of a description, which are in its folder or below."""
    roots, left = Roots.of(description.parent), MAX_FILE_BYTES

    def read(path: str) -> Json:
        nonlocal left
        source = read_text(description.parent / path, limit=max(left, 1), place=roots.find(path))
        left -= len(source.text)
        return _value(source.text, source.name)

    return read
