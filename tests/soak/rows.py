"""The table of a soak: what was tried, what must hold, what was measured."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "robustness.md"
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
    lines = (
        f"| {row.name} | {row.tried} | {row.holds} | {row.measured}{'' if row.held else ' **(not held)**'} |"
        for row in rows
    )
    return "\n".join(["| | tried | must hold | measured |", "|---|---|---|---|", *lines])


def write(rows: Iterable[Row], minutes: float) -> None:
    """Put the table into docs/robustness.md."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    text = f"{minutes:g} minute{'s' * (minutes != 1)} on {machine()}:\n\n{table(rows)}"
    PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")
