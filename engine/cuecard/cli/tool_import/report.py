"""The report of an import, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from cuecard.cli.tool_import.places import Home
from cuecard.config.tool_changes import Changes
from cuecard.config.tool_listing import Listing
from cuecard.errors import most_telling
from cuecard.model import Json
from cuecard.outside.paths import shown


@dataclass(frozen=True, slots=True)
class Report:
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
