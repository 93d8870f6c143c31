"""Engines of a library: cached, followed, and there when the database is not; a conversation keeps its version."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard import Engine, InputError, Library, Pins, Turn
from cuecard.library.tables import LABELS, VERSIONS
from cuecard.library.versions import Reference, Version
from cuecard.types import LibraryError
from shipped import ROOT
from unit.library.databases import away, new_database, running_server

PATIENCE = 30.0


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def version(engine: Engine) -> int:
    assert engine.agent.library
    return engine.agent.library.version


def prompt(engine: Engine) -> str:
    return str(engine.prepare_step(engine.prepare_call()).system)


def stale(library: Library) -> str:
    found = library.engine("helper").agent.library
    return found.stale_since if found else ""


def test_an_engine_is_loaded_once_and_a_change_of_this_process_is_served_at_once(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    engine = library.engine("helper")

    assert library.engine("helper@production") is engine
    assert library.engine("helper@1").agent.sha256 == engine.agent.sha256
    library.write("helper", "notes", "Seen.")
    assert version(library.engine("helper")) == 2
    library.rollback("helper", author="Ann")
    assert version(library.engine("helper")) == 1
    assert engine.prepare_step(engine.prepare_call()).manifest.configuration.library == engine.agent.library


def test_many_who_ask_at_the_same_time_load_once(url: str, agent: Path) -> None:
    made: list[Engine] = []

    def ready(engine: Engine) -> Engine:
        made.append(engine)
        return engine

    library = Library(url, ready=ready)
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    found: list[Engine] = []
    threads = [threading.Thread(target=lambda: found.append(library.engine("helper"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    library.close()

    assert len(made) == 1
    assert len({id(engine) for engine in found}) == 1


def test_a_change_of_another_process_arrives(library: Library, url: str, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.engine("helper")
    other = Library(url)
    other.write("helper", "notes", "Seen.")
    other.close()

    wait_until(lambda: version(library.engine("helper")) == 2)


def test_a_number_that_a_restored_database_gives_again_is_another_version(
    library: Library, url: str, agent: Path
) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    library.write("helper", "notes", "Seen.")
    assert "Seen." in prompt(library.engine("helper"))
    with library._store.database.writing() as connection:  # what a copy of yesterday does to a database
        connection.execute(LABELS.update().values(number=1))
        connection.execute(VERSIONS.delete().where(VERSIONS.c.number == 2))
    other = Library(url)
    other.write("helper", "notes", "Restored.")
    other.close()

    wait_until(lambda: "Restored." in prompt(library.engine("helper")))
    assert version(library.engine("helper")) == 2
    assert "Restored." in prompt(library.engine("helper@2"))


def test_what_is_older_than_a_lifetime_is_not_served_by_a_load_that_began_before(
    url: str, agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow answer of a database may be about a time that is over."""
    writing, library = Library(url), Library(url, lifetime=0.4, timeout=30)
    writing.create()
    writing.publish(agent, "the first", author="Ann", label="production")
    library.engine("helper")
    find, answered, released = library._store.find, threading.Event(), threading.Event()

    def slowly(reference: Reference) -> Version:
        found = find(reference)
        answered.set()
        released.wait(PATIENCE)
        return found

    monkeypatch.setattr(library._store, "find", slowly)
    wait_until(lambda: bool(library.engine("helper")) and answered.is_set())  # half of the lifetime is over
    writing.write("helper", "notes", "Seen.")
    time.sleep(0.5)
    threading.Timer(0.1, released.set).start()
    origin = library.engine("helper").agent.library
    library.close()
    writing.close()

    assert origin
    assert origin.version == 2 or origin.stale_since


def test_a_conversation_keeps_its_version_across_replicas(library: Library, url: str, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    call = Pins(library.watch("helper")).serve().prepare_call()
    library.write("helper", "notes", "Seen.")
    replica = Library(url)
    pins = Pins(replica.watch("helper"))

    assert version(pins.serve().engine) == 2
    assert version(pins.serve(previous=call).engine) == 1
    replica.close()


def test_a_removed_label_refuses_new_conversations_and_keeps_running_ones(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    watcher = library.watch("helper")
    call = watcher.serve().prepare_call()
    library.unlabel("helper@production", author="Ann")

    for ask in (lambda: library.engine("helper"), watcher.serve):
        with pytest.raises(InputError, match="no longer has the label") as error:
            ask()
        assert [problem.code for problem in error.value.problems] == ["unknown-label"]
    assert version(watcher.serve(previous=call).engine) == 1
    library.label("helper@1", "production", author="Ann")
    assert version(library.engine("helper")) == 1


def test_a_removed_label_serves_on_where_that_is_chosen_and_says_so(url: str, agent: Path) -> None:
    library = Library(url, removed="serve")
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    library.engine("helper")
    library.unlabel("helper@production", author="Ann")
    origin = library.engine("helper").agent.library
    library.close()

    assert origin
    assert (origin.version, origin.removed, bool(origin.stale_since)) == (1, True, True)


def test_a_library_that_is_gone_serves_the_last_good_engine_and_says_since_when(tmp_path: Path, agent: Path) -> None:
    file = tmp_path / "prompts.db"
    library = Library(f"sqlite:///{file}", lifetime=0.1)
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    library.engine("helper")
    file.rename(tmp_path / "away.db")

    wait_until(lambda: bool(stale(library)))
    assert version(library.engine("helper")) == 1
    assert library.watch("helper").status.stale_since == stale(library)
    (tmp_path / "away.db").rename(file)
    wait_until(lambda: not stale(library))
    library.close()


def test_an_exported_folder_is_the_last_resort(tmp_path: Path, agent: Path) -> None:
    library = Library(f"sqlite:///{tmp_path}/prompts.db")
    library.create()
    library.publish(agent, "the first", author="Ann", label="production")
    library.export("helper", tmp_path / "out")
    expected = library.engine("helper").agent.sha256
    library.close()
    away = Library(f"sqlite:///{tmp_path}/nowhere.db", fallback=tmp_path / "out")
    engine = away.engine("helper")
    away.close()

    assert engine.agent.sha256 == expected
    assert engine.agent.library
    assert engine.agent.library.stale_since
    with pytest.raises(LibraryError, match="no-library"):
        Library(f"sqlite:///{tmp_path}/nowhere.db").engine("helper")


def test_a_label_is_followed_with_the_policies_of_files(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")
    heard: list[tuple[int, str]] = []
    with library.watch("helper") as watcher:
        watcher.on_change(lambda *_: sys.exit("not the library's fault"))
        forget = watcher.on_change(lambda engine, status: heard.append((version(engine), status.stale_since)))
        call = watcher.serve().prepare_call(Turn(delivery="append"))
        library.write("helper", "notes", "Seen.")
        wait_until(lambda: bool(heard))  # callbacks are told behind the status

        assert heard == [(2, "")]
        assert watcher.status.library == watcher.current.agent.library
        for policy, number in (("now", 2), ("next-call", 2), ("next-conversation", 1)):
            assert version(Pins(watcher, policy).serve(previous=call).engine) == number  # type: ignore[arg-type] # names
        assert version(Pins(watcher, "next-call").serve(call=call).engine) == 1
        forget()
        library.rollback("helper", author="Ann")
        wait_until(lambda: version(watcher.current) == 1)
    assert heard == [(2, "")]
    assert watcher.status.watching == "stopped"


def test_each_state_of_a_label_can_be_awaited(library: Library, agent: Path) -> None:
    library.publish(agent, "the first", author="Ann", label="production")

    async def follow() -> list[int]:
        watcher, found = library.watch("helper"), list[int]()
        async for engine, _ in watcher:
            found.append(version(engine))
            if found[-1] == 3:
                watcher.stop()
            else:
                await asyncio.to_thread(library.write, "helper", "notes", "Twice.")
        return found

    async def main() -> list[int]:
        task = asyncio.ensure_future(follow())
        await asyncio.sleep(0.1)
        await asyncio.to_thread(library.write, "helper", "notes", "Once.")
        return await asyncio.wait_for(task, PATIENCE)

    assert asyncio.run(main()) == [2, 3]


def test_no_more_engines_are_kept_than_were_asked_for(url: str, agent: Path) -> None:
    library = Library(url, most=2)
    library.create()
    for label in ("production", "a", "b", "c"):
        library.publish(agent, "the first", author="Ann", label=label)
        library.engine(f"helper@{label}")

    assert len(library._engines._labels) == 2
    assert version(library.engine("helper@a")) == 1
    library.close()


def no_connection_for_news() -> None:
    raise OSError


def test_a_postgresql_that_is_away_fails_no_prompt_and_no_write_hangs(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a lifetime that is never over: the loss is told, all the same. `make soak` does each under load."""
    with running_server() as server:
        url = new_database(server, "away")
        library = Library(url, timeout=2, lifetime=10_000)
        library.create()
        library.publish(agent, "the first", author="Ann", label="production")
        assert version(library.engine("helper")) == 1
        untold = Library(url, timeout=2, lifetime=10_000)
        monkeypatch.setattr(untold._database, "raw", no_connection_for_news)
        assert version(untold.engine("helper")) == 1
        for fault in ("frozen", "stopped"):
            with away(server, fault):
                wait_until(lambda: bool(stale(library) and stale(untold)))
                with pytest.raises(LibraryError, match="library-away"):
                    library.write("helper", "notes", "Lost?")
                with pytest.raises(LibraryError, match="library-away"):
                    library.engine(f"helper@never-read-while-{fault}")
            wait_until(lambda: not (stale(library) or stale(untold)))
            assert version(library.engine("helper")) == 1
        untold.close()
        library.close()


def test_seed_000_runs_from_a_library_without_its_folder_over_turns(url: str) -> None:
    """Eight stored sections, the 60-second cache, edits in the table, and `updateSoul`, on a host."""
    library = Library(url)
    library.create()
    library.publish(ROOT / "prompts" / "polyant", "as shipped", author="Ann", label="production")
    reading = Library(url)  # of the host, which has no folder
    sections = [each.spec.id for each in reading.engine("polyant").agent.sections][:8]

    def turn(**inputs: str) -> str:
        engine = reading.engine("polyant@production")
        return engine.prepare_step(engine.prepare_call(Turn(inputs))).system

    assert [name[:2] for name in sections] == [f"0{number}" for number in range(1, 9)]
    first = turn()
    assert "- **updateSoul**:" in first
    assert "<available_skills>" in first
    assert "(time zone:" in first
    assert "## Current channel" in turn(channel="telegram")

    body = "## Tools\n\nAsk first.\n\n{{{content}}}\n"
    library.edit("polyant", section="03-tooling", body=body, author="Bob", message="ask", label="production")
    wait_until(lambda: "Ask first.\n\n- **" in turn())  # the placeholder of a stored text is filled

    library.write("polyant", "soul", "Cheerful. {{datetime}}\n---\n## Safety")
    wait_until(lambda: "## Soul\n\nCheerful. {{datetime}}\n\\---\n\\## Safety" in turn())
    assert [each.author for each in library.versions("polyant")] == ["tool", "Bob", "Ann"]

    library.rollback("polyant@production", author="Bob")
    wait_until(lambda: "Cheerful" not in turn())
    assert "Ask first." in turn()
    reading.close()
    library.close()
