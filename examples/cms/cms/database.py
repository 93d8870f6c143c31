"""The database: one SQLite file, all-or-nothing transactions, ids that can be read, and a clock that can be set."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from cms.errors import ConstraintError, TransientError

Json: TypeAlias = dict[str, Any]
"""A JSON object."""

Clock: TypeAlias = Callable[[], datetime]
"""What time it is, with a zone."""

_SCHEMA = Path(__file__).with_name("schema.sql")
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@dataclass(frozen=True, slots=True)
class Database:
    """An open site: its connection, the folder of its pictures, and its clock."""

    connection: sqlite3.Connection
    uploads: Path
    clock: Clock

    def rows(self, sql: str, *values: object) -> list[Json]:
        """Every row of a query."""
        return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> Json | None:
        """The first row of a query, if there is one."""
        found: Json | None = self.connection.execute(sql, values).fetchone()
        return found

    def run(self, sql: str, *values: object) -> None:
        """A statement without an answer."""
        self.connection.execute(sql, values)

    def insert(self, table: str, **values: object) -> None:
        """A new row. Table and columns are names of the schema, never input."""
        marks = ", ".join("?" * len(values))
        self.run(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", *values.values())  # noqa: S608 - our own names

    def update(self, table: str, id_: str, **values: object) -> None:
        """Other values in the row with that id. Table and columns are names of the schema, never input."""
        pairs = ", ".join(f"{column} = ?" for column in values)
        self.run(f"UPDATE {table} SET {pairs} WHERE id = ?", *values.values(), id_)  # noqa: S608 - our own names

    def new_id(self, kind: str) -> str:
        """The next id of a kind, such as `page-4`. An id is never given twice, not even after a deletion."""
        sql = "INSERT INTO counters VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET last = last + 1 RETURNING last"
        (counted,) = self.rows(sql, kind)
        return f"{kind}-{counted['last']}"

    def now(self) -> str:
        """The time in UTC, such as `2026-01-05T09:00:00Z`."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[None]:
        """Everything inside happens, or nothing does.

        Raises:
            TransientError: another process holds the database.
            ConstraintError: a rule of the schema was about to break.
        """
        try:
            self.connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            with self.connection:  # commits, or rolls back when something is raised
                yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY:  # the low byte is the class of the error
                raise
            raise TransientError("The database is busy.", "Wait a moment and make the same call again.") from error
        except sqlite3.IntegrityError as error:
            raise ConstraintError(f"A rule of the site would break: {error}.", "Change the value it names.") from error


def open_database(folder: Path, *, clock: Clock, timeout: float = 5.0) -> Database:
    """Open the site in a folder; what is missing is created. `timeout`: seconds to wait for another process."""
    uploads = folder / "uploads"
    uploads.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "cms.sqlite3", timeout=timeout, isolation_level=None)
    connection.row_factory = _as_json
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(_SCHEMA.read_text(encoding="utf-8"))
    except sqlite3.Error:
        connection.close()
        raise
    return Database(connection, uploads, clock)


def _as_json(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> Json:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
