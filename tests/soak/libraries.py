"""L4, L5, L7 and L28 to L30: a library of prompts under load, killed, away and full, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cuecard import CuecardError, Engine, Library
from cuecard.library.folders import read_folder
from cuecard.library.store import AuditEntry
from cuecard.library.tables import VERSIONS
from cuecard.library.versions import VersionContent
from cuecard.types import LibraryError

AGENT = """\
agent: helper
writable: {notes: {section: notes}}
sections:
  - {id: rules, text: "State 0."}
  - {id: notes, text: "Nothing."}
  - {id: again, text: "State 0."}
"""
LIFETIME, GRACE = 2.0, 0.5
"""How long a label serves without being asked again, and how long a caller then waits for it."""

_CHANGE = AuditEntry("publish", "soak", "a state")


@dataclass
class Load:
    """What readers saw while a writer wrote."""

    prompts: int = 0
    texts: int = 0
    selects: int = 0
    writes: int = 0
    half: int = 0
    stale: int = 0
    raised: list[str] = field(default_factory=list)
    seconds: float = 1.0


def agent_in(folder: Path) -> VersionContent:
    """A small agent that names its state twice."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(AGENT)
    return read_folder(folder)


def load(url: str, folder: Path, *, agents: int, readers: int, seconds: float) -> Load:
    """Many agents, readers of their prompts and texts, and a writer in another library object."""
    found, content = Load(seconds=seconds), agent_in(folder)
    reading, writing = Library(url, lifetime=LIFETIME), Library(url)
    writing.create()
    names = [f"a{number}" for number in range(agents)]
    for name in names:
        _put(writing, content, name, 0)
    committed: dict[str, list[tuple[float, int]]] = {name: [(0.0, 0)] for name in names}
    end = time.monotonic() + seconds

    def write() -> None:
        draw, number = random.Random(1), 0  # noqa: S311 - a draw, not a secret
        while time.monotonic() < end:
            name, number = draw.choice(names[:100] if number % 2 else names), number + 1
            _put(writing, content, name, number)
            committed[name].append((time.monotonic(), number))
            found.writes += 1

    def read(seed: int) -> None:
        draw, prompts, texts = random.Random(seed), 0, 0  # noqa: S311 - the same
        while time.monotonic() < end:
            name = draw.choice(names[:100] if draw.random() < 0.9 else names)  # most are cached, as in a service
            try:
                begun = time.monotonic()
                known = [number for at, number in committed[name] if at < begun - LIFETIME - GRACE]
                engine = reading.engine(name)
                states, origin = _states(_prompt(engine)), engine.agent.library
                prompts += 1
                written = _states(reading.texts(name)["agent.yaml"])
                texts += 1
                found.half += (len(set(states)) != 1) + (len(set(written)) != 1)
                found.stale += states[0] < max(known) and not (origin and origin.stale_since)  # what is told is no lie
            except CuecardError as error:
                found.raised.append(str(error))
        found.prompts, found.texts = found.prompts + prompts, found.texts + texts

    _together([write, *(lambda seed=each: read(seed) for each in range(readers))])
    found.selects = _selects(reading, readers, min(seconds, 5.0))
    reading.close()
    writing.close()
    return found


def kill(url: str, folder: Path, *, kills: int) -> tuple[int, int, int]:
    """Kill processes that move a label; how often, how many moves there were, and how many states were half."""
    library = Library(url)
    library.create()
    for number in (1, 2):
        _put(library, agent_in(folder), "helper", number)
    for number in (1, 2):
        library.label(f"helper@{number}", "production", author="soak")
    draw, half = random.Random(0), 0  # noqa: S311 - a draw, not a secret
    for _ in range(kills):
        told, tells = os.pipe()
        child = os.fork()
        if not child:
            with suppress(BaseException):
                mover = Library(url)
                mover._clean.update(library._clean)  # its checks are not what is tried
                while True:
                    other = 3 - mover.show("helper").number
                    mover.label(f"helper@{other}", "production", author="soak")
                    os.write(tells, b".")
            os._exit(1)
        os.read(told, 1)
        time.sleep(draw.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(tells)
        fresh = Library(url)
        last = [move.after for move in fresh.moves("helper") if move.label == "production"][-1]
        half += fresh.show("helper").number != last or fresh.texts("helper")["agent.yaml"].count(f"State {last}.") != 2
        fresh.close()
    moves = len(library.moves("helper"))
    library.close()
    return kills, moves, half


@dataclass
class Away:
    """What a library did while its database was away."""

    prompts: int = 0
    failed: list[str] = field(default_factory=list)
    told: float = float("inf")
    back: float = float("inf")
    write: float = 0.0


def away(url: str, folder: Path, gone: Callable[[], Any], seconds: float) -> Away:
    """Four threads ask for prompts while the database goes, and comes back; a write meanwhile ends by itself."""
    found, library = Away(), Library(url, timeout=2.0)
    library.create()
    _put(library, agent_in(folder), "helper", 1)
    _prompt(library.engine("helper"))
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            try:
                _prompt(library.engine("helper"))
                found.prompts += 1
            except Exception as error:  # noqa: BLE001 - it is what is counted
                found.failed.append(str(error))
            time.sleep(0.001)

    def stale() -> bool:
        origin = library.engine("helper").agent.library
        return bool(origin and origin.stale_since)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    with gone():
        begun = time.monotonic()
        found.told = _wait(stale, seconds)
        asked = time.monotonic()
        with suppress(LibraryError):
            library.write("helper", "notes", "Lost.")
        found.write = time.monotonic() - asked
        time.sleep(max(0.0, begun + seconds - time.monotonic()))
    found.back = _wait(lambda: not stale(), 30.0)
    ended.set()
    for thread in threads:
        thread.join()
    library.close()
    return found


def lock(url: str, folder: Path) -> float:
    """How long a write waits for another that holds the agent, with a time limit of one second."""
    library = Library(url, timeout=1.0)
    library.create()
    _put(library, agent_in(folder), "helper", 1)
    with library._database.writing() as connection:
        connection.execute(sa.text("SELECT id FROM cuecard_agents FOR UPDATE"))
        begun = time.monotonic()
        with suppress(LibraryError):
            library.write("helper", "notes", "Wait.")
        took = time.monotonic() - begun
    library.close()
    return took


def full(folder: Path, disk: Path | None = None) -> tuple[int, bool]:
    """Write until a small disk is full, or the file may not grow: how many versions, and whether all are whole."""
    file, content = (disk or folder) / "full.db", agent_in(folder / "agent")
    library = Library(f"sqlite:///{file}")
    library.create()
    if disk is None:
        sa.event.listen(library._database._engine, "engine_connect", _limited)
    told = ""
    for number in range(1, 10_000):
        try:
            _put(library, content, "helper", number)
        except LibraryError as error:
            told = error.problems[0].message
            break
    versions = library.versions("helper")
    whole = all(len(set(_states(library.texts(str(each))["agent.yaml"]))) == 1 for each in versions)
    with closing(sqlite3.connect(file)) as connection:
        whole &= connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    newest = _states(_prompt(library.engine("helper")))[0]
    library.close()
    return len(versions), whole and "full" in told and newest == len(versions)


def news(url: str, folder: Path, *, writes: int) -> list[float]:
    """The seconds from a write in one library to its prompt in another."""
    reading, writing = Library(url), Library(url)
    writing.create()
    content, times = agent_in(folder), []
    _put(writing, content, "helper", 0)
    reading.engine("helper")
    time.sleep(1.0)
    for number in range(1, writes + 1):
        _put(writing, content, "helper", number)
        times.append(_wait(partial(_serves, reading, number), 10.0))
    reading.close()
    writing.close()
    return sorted(times)


@contextmanager
def databases(folder: Path) -> Iterator[tuple[Any, Callable[[str, str], str]]]:
    """A PostgreSQL, and the URL of a new database of a kind."""
    from unit.library.databases import new_database, running_server  # noqa: PLC0415 - it starts a server

    with running_server() as server:
        made = lambda kind, name: f"sqlite:///{folder}/{name}.db" if kind == "sqlite" else new_database(server, name)  # noqa: E731 - handed on at once
        yield server, made


def _put(library: Library, content: VersionContent, name: str, number: int) -> None:
    """A version that is known to be right, without the time of its check."""
    text = content.sources.agent.text.replace("helper", name).replace("State 0.", f"State {number}.")
    sources = replace(content.sources, agent=replace(content.sources.agent, text=text))
    library._store.add(name, replace(content, sources=sources), _CHANGE, parent=None, labels=("latest", "production"))
    library._changed(name)


def _prompt(engine: Engine) -> str:
    return engine.prepare_step(engine.prepare_call()).system


def _states(text: str) -> list[int]:
    return [int(part.partition(".")[0]) for part in text.split("State ")[1:]]


def _serves(library: Library, number: int) -> bool:
    return _states(_prompt(library.engine("helper")))[0] == number


def _together(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _selects(library: Library, readers: int, seconds: float) -> int:
    """How many bare SELECTs of one content as many threads do in a second."""
    end, counts = time.monotonic() + seconds, list[int]()
    asked = sa.select(VERSIONS.c.content).where(VERSIONS.c.agent == 1).limit(1)

    def select() -> None:
        count = 0
        while time.monotonic() < end:
            with library._database._engine.connect() as connection:
                connection.execute(asked).scalar()
            count += 1
        counts.append(count)

    _together([select] * readers)
    return round(sum(counts) / seconds)


def _wait(holds: Callable[[], bool], seconds: float) -> float:
    begun = time.monotonic()
    while not holds():
        if time.monotonic() - begun > seconds:
            return float("inf")
        time.sleep(0.002)
    return time.monotonic() - begun


def _limited(connection: Any) -> None:
    connection.connection.execute("PRAGMA max_page_count = 60")
