"""The database of a library: connections, transactions, migrations, and what goes wrong with them in words."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from cuecard.errors import InputError, LibraryError, Problem, visible
from cuecard.library.tables import REVISION, REVISIONS

CHANNEL = "cuecard_library"
"""The channel on which PostgreSQL tells other processes that an agent has changed."""

_LOCK = 0x63756563
"""The advisory lock of migrations in PostgreSQL."""

_WRITES = "cuecard_writes"
_FULL = ("database or disk is full", "53100", "53200")
_DAMAGED = ("file is not a database", "malformed")
_UNWRITABLE = ("readonly", "read-only", "25006")


class Database:
    """One database, given by its URL, which may hold a secret: errors and `str()` show what is left without it."""

    def __init__(self, url: str, *, timeout: float = 5.0) -> None:
        """Nothing is connected yet.

        Args:
            url: such as `sqlite:///prompts.db` or `postgresql://user@host/name`.
            timeout: seconds to wait for a connection, a lock, and each statement of PostgreSQL.

        Raises:
            InputError: when it is not the URL of a SQLite file or of PostgreSQL.
        """
        self._url, self._timeout = _read_url(url), timeout
        self.is_sqlite: bool = self._url.get_backend_name() == "sqlite"
        self._engines: dict[int, sa.Engine] = {}
        self._usable = False

    def __str__(self) -> str:
        if self.is_sqlite:
            return f"sqlite:///{self._url.database}"
        port = f":{self._url.port}" if self._url.port else ""
        return f"postgresql://{self._url.host or ''}{port}/{self._url.database or ''}"

    @property
    def file(self) -> Path:
        """The file of SQLite."""
        return Path(self._url.database or "")

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection on which each statement sees one state.

        Raises:
            LibraryError: when there is no library, it is of another version, or the database fails.
        """
        with self._told(), self._connected() as connection:
            self._check(connection)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it is written, or nothing; in SQLite, one writes at a time.

        Raises:
            LibraryError: as `reading`, or when it cannot be written.
        """
        with self.reading() as connection, self._begun(connection):
            yield connection

    def upgrade(self, *, create: bool = False) -> str:
        """Run the migrations that are missing; the revision that was there before, empty if there was none.

        Raises:
            LibraryError: when there is no library and none is to be created, or it is of a newer version.
        """
        from alembic import command  # noqa: PLC0415 - it takes a tenth of a second, and only this needs it
        from alembic.config import Config  # noqa: PLC0415 - the same

        config = Config()
        home = str(Path(__file__).parent / "migrations").replace("%", "%%")
        config.set_main_option("script_location", home)
        config.set_main_option("path_separator", "os")
        with self._told(), self._connected(create=create) as connection, self._begun(connection):
            if not self.is_sqlite:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            found = _revision(connection)
            if found > REVISION:
                raise LibraryError(self._of_another(found))
            if not (found or create):
                raise LibraryError(self._missing())
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
        return found

    def notify(self, connection: sa.Connection, agent: str) -> None:
        """Tell other processes, when this transaction has ended, that an agent has changed."""
        if not self.is_sqlite:
            connection.execute(sa.text("SELECT pg_notify(:channel, :agent)"), {"channel": CHANNEL, "agent": agent})

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        if engine := self._engines.pop(os.getpid(), None):
            engine.dispose()

    def raw(self) -> Any:
        """A connection of the driver's own, apart from the pool, on which every statement is a transaction."""
        with self._told():
            made: Any = self._engine.raw_connection()
            driver = made.driver_connection
            made.detach()
            if not self.is_sqlite:
                driver.rollback()
                driver.autocommit = True
            return driver

    @property
    def _engine(self) -> sa.Engine:
        """The connections of this process; those of a parent are neither used nor let go of in the child of a fork."""
        pid = os.getpid()
        return self._engines.get(pid) or self._engines.setdefault(pid, self._made())

    def _made(self) -> sa.Engine:
        given: dict[str, Any] = {"timeout": self._timeout, "check_same_thread": False}
        if not self.is_sqlite:
            limit = ceil(self._timeout * 1000)
            options = f"-c statement_timeout={limit} -c lock_timeout={limit}"
            given = {"connect_timeout": max(1, ceil(self._timeout)), "options": options, "application_name": "cuecard"}
            given |= {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": limit}
        engine = sa.create_engine(
            self._url, connect_args=given, pool_timeout=self._timeout, pool_pre_ping=not self.is_sqlite, pool_size=8
        )
        if not self.is_sqlite:
            event.listen(engine, "do_connect", _impatient(self._timeout))
        else:
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
        return engine

    @contextmanager
    def _connected(self, *, create: bool = False) -> Iterator[sa.Connection]:
        if self.is_sqlite and not create and not self.file.is_file():
            raise LibraryError(self._missing())
        engine = self._engine
        pool = engine.pool
        try:
            with engine.connect() as connection:
                yield connection.execution_options(isolation_level="AUTOCOMMIT")
        finally:
            if self._engines.get(os.getpid()) is not engine:
                pool.dispose()  # closed meanwhile: nobody else would close what was given back just now

    @contextmanager
    def _begun(self, connection: sa.Connection) -> Iterator[None]:
        if connection.in_transaction():
            connection.rollback()  # of what was only read
        level = "SERIALIZABLE" if self.is_sqlite else "READ COMMITTED"
        connection.execution_options(isolation_level=level, **{_WRITES: True})
        with connection.begin():
            yield

    def _check(self, connection: sa.Connection) -> None:
        """Refuse what this version of cuecard cannot use; asked once."""
        if self._usable:
            return
        found = _revision(connection)
        if not found:
            raise LibraryError(self._missing())
        if found != REVISION:
            raise LibraryError(self._of_another(found))
        self._usable = True

    def _missing(self) -> Problem:
        return Problem("no-library", "there is no library here", "make one: `cuecard library init`", str(self))

    def _of_another(self, found: str) -> Problem:
        if found > REVISION:
            told = f"the library has revision {found}; this version of cuecard knows revisions up to {REVISION}"
            return Problem("library-version", told, "update cuecard", str(self))
        told = f"the library has revision {found}; this version of cuecard needs {REVISION}"
        return Problem("library-version", told, "run `cuecard library upgrade`", str(self))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, NoConnectionError, OSError) as error:
            raise LibraryError(self._problem(error)) from None

    def _problem(self, error: Exception) -> Problem:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        text = f"{getattr(cause, 'sqlstate', '') or ''} {cause}"
        if any(word in text for word in _FULL):
            told, hint = "the database is full: nothing was written, and what was there is whole", "give it more room"
            return Problem("library-away", told, hint, str(self))
        if any(word in text for word in _DAMAGED):
            told = "the file is damaged, or not a database"
            return Problem("damaged-library", told, "restore it from a copy, or import an export", str(self))
        if any(word in text for word in _UNWRITABLE):
            return Problem("library-away", "the database can only be read", "check who may write it", str(self))
        if isinstance(error, NoConnectionError):
            text = f"no connection became free within {self._timeout:g} s"
        hint = "check that the database runs and can be reached; what serves goes on with what it has"
        return Problem("library-away", f"the database does not answer: {self._without_secrets(text)}", hint, str(self))

    def _without_secrets(self, text: str) -> str:
        """The first line of what a driver says; no part of the URL that may be a secret is in it."""
        line = text.strip().splitlines()[0] if text.strip() else "no reason given"
        secrets = (self._url.password, *(value for value in self._url.query.values()))
        for secret in secrets:
            line = line.replace(str(secret), "***") if secret else line
        return visible(line)[:300]


def _read_url(url: str) -> URL:
    """The URL, with the driver that cuecard uses and an absolute file."""
    hint = "write `sqlite:///prompts.db`, or `postgresql://USER:PASSWORD@HOST/NAME`"
    try:
        made = make_url(url)
        backend = made.get_backend_name()
    except (ArgumentError, ValueError, SQLAlchemyError):
        raise InputError(Problem("wrong-argument", "this is not the URL of a database", hint, "library")) from None
    if backend == "postgres" or backend.startswith("postgresql"):
        if "@" in (made.host or ""):  # a part of the password, which errors would show
            told, more = "the URL has two `@`", "in the password, write `%40` for `@`"
            raise InputError(Problem("wrong-argument", told, more, "library"))
        return made.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        told = f"a library is kept in SQLite or PostgreSQL, not in `{visible(backend[:40])}`"
        raise InputError(Problem("wrong-argument", told, hint, "library"))
    if not made.database or made.database == ":memory:":
        told = "a library in memory would be gone with this process"
        raise InputError(Problem("wrong-argument", told, hint, "library"))
    return made.set(drivername="sqlite+pysqlite", database=os.path.abspath(made.database))  # noqa: PTH100 - links stay


def _revision(connection: sa.Connection) -> str:
    """The migration that was run last; empty if none was."""
    if not sa.inspect(connection).has_table(REVISIONS):
        return ""
    found = connection.execute(sa.text(f"SELECT version_num FROM {REVISIONS}")).scalar()  # noqa: S608 - a constant
    return str(found or "")


def _prepare(connection: Any, _record: object) -> None:
    """Readers and the writer of SQLite do not wait for each other, and what was acknowledged is on the disk."""
    connection.isolation_level = None  # transactions are begun below, not by the driver
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _impatient(seconds: float) -> Any:
    """Makes connections of PostgreSQL that wait for no answer longer than this.

    The server's own limits end a statement that takes too long; a server that is frozen keeps no limit at all.
    """
    import psycopg  # noqa: PLC0415 - whoever has a file of SQLite needs no driver of PostgreSQL

    class Impatient(psycopg.Connection[Any]):
        def wait(self, gen: Generator[Any, Any, Any], *given: Any, **more: Any) -> Any:
            return super().wait(self._within(gen, time.monotonic() + seconds), *given, **more)

        def _within(self, gen: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    if not ready and time.monotonic() > end:
                        self.pgconn.finish()  # what it would still answer, nobody would know how to read
                        raise psycopg.OperationalError(f"no answer within {seconds:g} s")
                    wanted = gen.send(ready)
            except StopIteration as ended:
                return ended.value

    def connect(_dialect: Any, _record: Any, given: Any, more: Any) -> Any:
        return Impatient.connect(*given, **more)

    return connect


def _begin(connection: sa.Connection) -> None:
    """A transaction that writes takes its lock at once: one that read first could fail later, whatever it waits."""
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
