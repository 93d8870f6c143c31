"""A PostgreSQL server of one's own, for as long as a test takes: in a folder, without a port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
"""PostgreSQL does not run as root."""


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; None where it is not installed, or nobody can be made its owner."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    there = found[-1].parent if found else next((Path(at).parent for at in [shutil.which("initdb")] if at), None)
    return there if os.name == "posix" and (os.geteuid() or shutil.which("setpriv")) else None


@contextmanager
def server(bin_: Path) -> Iterator[Path]:
    """A running server; `ask` asks it. It neither flushes nor listens on a port."""
    with tempfile.TemporaryDirectory(prefix="cuecard-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if not os.geteuid():
            os.chown(folder, NOBODY, NOBODY)
        _run(bin_ / "initdb", "-D", folder / "data", "-U", "cuecard", "-E", "UTF8", "--locale=C", "--no-sync")
        control = (bin_ / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log")
        _run(*control, "-o", f"-k {folder} -c listen_addresses= -c fsync=off", "start")
        try:
            yield folder
        finally:
            _run(*control, "-m", "immediate", "stop")


def ask(bin_: Path, folder: Path, query: str) -> str:
    """What a query answers, as text."""
    command = (bin_ / "psql", "-h", folder, "-U", "cuecard", "-d", "postgres", "-XAtq", "-v", "ON_ERROR_STOP=1")
    return _run(*command, said=query).removesuffix("\n")


def _run(*command: str | Path, said: str = "") -> str:
    as_nobody: Sequence[str] = () if os.geteuid() else ("setpriv", f"--reuid={NOBODY}", "--clear-groups")
    done = subprocess.run(
        [*as_nobody, *map(str, command)], input=said, check=True, capture_output=True, encoding="utf-8", cwd="/"
    )
    return done.stdout
