"""The table of a soak: what was tried, what must hold, what was measured."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "tests" / "README.md"
BEGIN, END = "<!-- made: soak -->", "<!-- end -->"


@dataclass(frozen=True)
class Row:
    """One line: a test by its name in the table of load and faults, and whether it held."""

    name: str
    tried: str
    holds: str
    measured: str
    held: bool = True

    @property
    def number(self) -> int:
        """Its place in the table."""
        return int(self.name[1:].partition(",")[0])

    @property
    def mark(self) -> str:
        """What is said where it has not."""
        return "" if self.held else " **(not held)**"


def machine() -> str:
    """Where it was measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, Python {python}"


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    return "\n".join(["| | tried | must hold | measured |", "|---|---|---|---|", *map(_line, rows)])


def write(rows: Sequence[Row], minutes: float, *, whole: bool = True) -> None:
    """Put the table into tests/README.md, or only these rows in place of those with their numbers."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    before, _, tail = rest.partition(END)
    if whole:
        made = f"{minutes:g} minute{'s' * (minutes != 1)} on {machine()}:\n\n{table(rows)}"
    else:
        new = {row.number for row in rows}
        kept = [(_number(line), line) for line in before.strip().splitlines()]
        kept = [(number, line) for number, line in kept if number not in new]
        kept += [(row.number, _line(row)) for row in rows]
        made = "\n".join(line for _, line in sorted(kept, key=lambda each: each[0]))
    PAGE.write_text(f"{head}{BEGIN}\n\n{made}\n\n{END}{tail}", encoding="utf-8")


def _line(row: Row) -> str:
    return f"| {row.name} | {row.tried} | {row.holds} | {row.measured}{row.mark} |"


def _number(line: str) -> int:
    found = re.match(r"\| L(\d+)", line)
    return int(found[1]) if found else 0
