"""Load and faults for some minutes: `python tests/soak/run.py --minutes 10`, or `make soak MINUTES=10`.

Prints the table of tests/README.md; `--write` puts it there. The exit code is 1 when something did not hold.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "examples" / "cms"), str(ROOT / "tests")]

from fuzz.run import SEEDS  # noqa: E402 - the folders of the repository come first
from soak import fuzzing, libraries, reloads, rows, service, stores, storm  # noqa: E402 - the same
from soak.rows import Row  # noqa: E402 - the same

KINDS = ("sqlite", "postgresql")
New = Callable[[str, str], str]
"""The URL of a new database: its kind, its name."""


def main() -> int:
    """Run everything in the given time; 1 when something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, all in all (default: 10)")
    parser.add_argument("--only", default="", metavar="ROWS", help="such as L4,L28: these, and what comes with them")
    parser.add_argument("--write", action="store_true", help="put the rows into tests/README.md")
    chosen = parser.parse_args()
    sys.setswitchinterval(5e-4)  # as the page on many threads tells hosts
    logging.disable()  # every fifth save is broken, and told
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="cuecard-soak-") as folder:
        for row in soak(Path(folder), chosen.minutes * 60, set(filter(None, chosen.only.split(",")))):
            found.append(row)
            print(f"{row.name:4} {row.tried}: {row.measured}{row.mark}", flush=True)
    found.sort(key=lambda row: row.number)
    print(f"\n{rows.machine()}\n\n{rows.table(found)}")
    if chosen.write:
        rows.write(found, chosen.minutes, whole=not chosen.only)
    return int(not all(row.held for row in found))


def soak(folder: Path, seconds: float, only: Collection[str] = ()) -> Iterator[Row]:
    """Each part in turn, or those with a row in `only`; the storm has a third of the time, attacks a fifth."""
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "L1 L2": lambda: _storm(folder / "storm", seconds * 0.35),
        " ".join(f"L{each}" for each in (*range(14, 28), 31)): lambda: service.rows(folder / "service", seconds * 0.2),
        "L3 L6": lambda: _kills(folder, seconds * 0.1),
        "L4 L5 L7 L28 L29 L30": lambda: library_rows(folder / "library", seconds, only),
        "L8 L9 L10 L11": lambda: _reloads(folder),
        "L13": lambda: iter([fuzzing.fuzz(seconds * 0.25 / len(SEEDS))]),
    }
    for names, part in parts.items():
        if not only or set(names.split()) & set(only):
            yield from part()


def _storm(folder: Path, seconds: float) -> Iterator[Row]:
    saves = int(seconds / 0.055)
    cores = os.cpu_count() or 1
    found = storm.storm(folder, saves=saves, threads=8, busy=cores)
    prompts = f"{len(found.times):,} prompts of {len(found.states)} states, {len(found.mixed)} mixed or torn"
    told = f"{prompts}, {len(found.raised)} exceptions, p99 {found.late * 1e3:.0f} ms"
    held = not (found.mixed or found.raised)
    yield Row(
        "L1", f"{saves:,} saves, every fifth broken, as 8 threads render", "0 mixed or torn, 0 exceptions", told, held
    )
    served = found.adopted <= 2.0
    yield Row(
        "L2",
        f"the last save, with 8 threads that render and {cores} busy processes",
        "served within 2 s",
        f"{found.adopted:.1f} s",
        served,
    )


def _reloads(folder: Path) -> Iterator[Row]:
    took = reloads.jump(folder / "jump")
    yield Row("L8", "the clock 6 h back, then 6 h ahead", "a change is served", f"after {took:.1f} s")
    forked = reloads.fork(folder / "fork")
    yield Row("L9", "a fork after the start", "both sides follow", "both follow" if forked else "not both", forked)
    took = reloads.vanish(folder / "vanish", times=5)
    yield Row("L10", "the folder removed and made anew, 5 times", "seen within 3 s", f"{took:.1f} s", took <= 3.0)
    started = reloads.restart(folder / "restart")
    yield Row("L11", "a start on broken files", "last good, and said", "served and said" if started else "no", started)


def _kills(folder: Path, seconds: float) -> Iterator[Row]:
    end, total = time.monotonic() + seconds, stores.Kept()
    while total.kills == 0 or time.monotonic() < end:
        found = stores.kill(folder / "kills" / str(total.kills), kills=5, seed=total.kills)
        for name in ("kills", "said", "lost", "halves", "damaged"):
            setattr(total, name, getattr(total, name) + getattr(found, name))
    told = f"{total.kills} kills, {total.said:,} posts: {total.damaged} damaged, {total.lost} lost, {total.halves} half"
    held = not (total.lost or total.halves or total.damaged)
    yield Row("L3", "kill -9 while the site of the CMS is written", "0 damaged, lost or half", told, held)
    many = stores.write_at_once(folder / "many", processes=8, posts=100)
    told = f"{many.said} written, {many.locked} locked, {many.lost} lost, {many.halves} given twice"
    held = not (many.locked or many.lost or many.halves or many.damaged)
    yield Row("L6", "8 processes, 100 posts each", "0 locked, 0 lost", told, held)


def library_rows(folder: Path, seconds: float, only: Collection[str] = ()) -> Iterator[Row]:
    """The library on both databases: from ten minutes on, in the numbers that its page promises."""
    folder.mkdir(parents=True, exist_ok=True)
    share = min(1.0, seconds / 600)
    parts: dict[str, Callable[[Any, New], Iterator[Row]]] = {
        "L4": lambda server, new: _away(folder, server, new, 30 * share),
        "L5": lambda _, new: _locked(folder, new),
        "L7": lambda _, __: _full(folder),
        "L28": lambda _, new: _loaded(folder, new, max(20, round(1000 * share)), 30 * share),
        "L29": lambda _, new: _killed(folder, new, max(5, round(200 * share))),
        "L30": lambda _, new: _told(folder, new, max(20, round(200 * share))),
    }
    with libraries.databases(folder) as (server, new):
        for name, part in parts.items():
            if not only or name in only:
                yield from part(server, new)


def _away(folder: Path, server: Any, new: New, lasts: float) -> Iterator[Row]:
    from unit.library.databases import away  # noqa: PLC0415 - it needs a driver of PostgreSQL

    for fault in ("stopped", "frozen"):
        found = libraries.away(new("postgresql", fault), folder / fault, partial(away, server, fault), lasts)
        told = f"{found.prompts:,} prompts, {len(found.failed)} failed; told after {found.told:.1f} s, "
        told += f"a write refused after {found.write:.1f} s, back after {found.back:.1f} s"
        held = not found.failed and found.told < lasts and found.back <= 5.0
        tried = f"PostgreSQL {fault} for {lasts:.0f} s under load"
        yield Row("L4", tried, "0 failed prompts, told, back within 5 s", told, held)


def _locked(folder: Path, new: New) -> Iterator[Row]:
    took = libraries.lock(new("postgresql", "lock"), folder / "lock")
    yield Row("L5", "a write behind one that never ends, `timeout=1`", "1 s", f"{took:.1f} s", took < 2.0)


def _full(folder: Path) -> Iterator[Row]:
    from unit.library.databases import small_disk  # noqa: PLC0415 - it needs a driver of PostgreSQL

    found = {"whose file may not grow": libraries.full(folder / "full")}
    with suppress(pytest.skip.Exception), small_disk(1024) as disk:
        found["on a file system of 1 MiB"] = libraries.full(folder / "small", disk)
    for where, (count, held) in found.items():
        told = f"{count} versions, {'whole and served' if held else 'not whole'}; states: in the tests"
        yield Row("L7", f"a library {where}", "one error, what was there stays whole", told, held)


def _loaded(folder: Path, new: New, agents: int, lasts: float) -> Iterator[Row]:
    for kind in KINDS:
        tried = f"{kind}: {agents:,} agents, 8 readers, 1 writer, {lasts:.0f} s"
        seen = libraries.load(new(kind, "load"), folder / kind, agents=agents, readers=8, seconds=lasts)
        told = f"{seen.half} half, {seen.stale} stale, {len(seen.raised)} errors, {seen.writes:,} writes; a second: "
        told += (
            f"{seen.prompts / lasts:,.0f} prompts, {seen.texts / lasts:,.0f} contents, {seen.selects:,} bare SELECTs"
        )
        held = not (seen.half or seen.stale or seen.raised)
        yield Row("L28", tried, "0 half, 0 stale beyond the lifetime", told, held)


def _killed(folder: Path, new: New, wanted: int) -> Iterator[Row]:
    for kind in KINDS:
        kills, moves, half = libraries.kill(new(kind, "kill"), folder / kind, kills=wanted)
        told = f"{kills} kills, {moves:,} moves, {half} half"
        yield Row("L29", f"{kind}: kill -9 while a label moves", "0 half", told, not half)


def _told(folder: Path, new: New, writes: int) -> Iterator[Row]:
    for kind in KINDS:
        times = libraries.news(new(kind, "news"), folder / kind, writes=writes)
        late = times[min(len(times) - 1, round(len(times) * 0.99))]
        told = f"p50 {times[len(times) // 2] * 1e3:.0f} ms, p99 {late * 1e3:.0f} ms"
        yield Row("L30", f"{kind}: a change of another process, to its prompt", "p99 .5 s", told, late <= 0.5)


if __name__ == "__main__":
    sys.exit(main())
