"""L3 and L6: processes that write to a database are killed, and many write at once. The site of the CMS stands in."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from cms.errors import TransientError
from cms.seed import open_site
from cms.tools import call
site = open_site(Path(sys.argv[1]), clock=lambda: datetime(2026, 3, 1, tzinfo=UTC), timeout=30.0)
for number in range(int(sys.argv[2])):
    try:
        made = call(site, "cms_createPost", {"title": f"{sys.argv[3]} {number}"})
    except TransientError:
        print("locked", flush=True)
    else:
        print(made["post"]["id"], flush=True)
"""
"""Writes posts, one transaction each, and says the id of each when it is written."""


@dataclass
class Kept:
    """What a database holds in the end, held against what its writers said."""

    kills: int = 0
    said: int = 0
    lost: int = 0
    halves: int = 0
    damaged: int = 0
    locked: int = 0


def kill(folder: Path, *, kills: int, seed: int = 0) -> Kept:
    """Kill writers in the midst of their work, after a drawn number of posts, and look at the site each time."""
    draw, found, said = random.Random(seed), Kept(), set[str]()  # noqa: S311 - a draw, not a secret
    for number in range(kills):
        with _writer(folder, 100_000, f"kill {number}") as process:
            assert process.stdout
            for _ in range(draw.randint(1, 30)):
                said.add(process.stdout.readline().strip())
            process.kill()
            # What it had said before the end counts, too; a line that was cut does not.
            said.update(line.strip() for line in process.stdout if line.endswith("\n"))
        found.kills += 1
        _look(folder, said, found)
    return found


def write_at_once(folder: Path, *, processes: int, posts: int) -> Kept:
    """Let many processes write posts into one site."""
    found, said, total = Kept(), set[str](), 0
    _writer(folder, 0, "first").communicate()
    running = [_writer(folder, posts, f"process {number}") for number in range(processes)]
    for process in running:
        lines = process.communicate()[0].split()
        found.locked += lines.count("locked")
        said.update(lines)
        total += len(lines)
    _look(folder, said - {"locked"}, found)
    found.halves += total - found.locked - found.said  # an id that was given twice
    return found


def _writer(folder: Path, posts: int, title: str) -> subprocess.Popen[str]:
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'examples' / 'cms')!r})\n"
    command = [sys.executable, "-c", path + WRITER, str(folder), str(posts), title]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _look(folder: Path, said: set[str], found: Kept) -> None:
    """Whole, with every post that was said to be written, and no number given for a post that is not there."""
    import sqlite3  # noqa: PLC0415 - what a command only needs here

    connection = sqlite3.connect(folder / "cms.sqlite3")
    try:
        found.damaged += connection.execute("PRAGMA integrity_check").fetchone() != ("ok",)
        posts = {row[0] for row in connection.execute("SELECT id FROM posts")}
        (given,) = connection.execute("SELECT last FROM counters WHERE kind = 'post'").fetchone()
    finally:
        connection.close()
    found.said = len(said)
    found.lost += len({each for each in said if each.startswith("post-")} - posts)
    found.halves += given - len(posts)
