"""Rows 61 to 64 of the acceptance table for robustness: what is kept, by those who keep something.

cuecard has no database of conversations: hosts store what `dump` gives. What it keeps itself are states of agents, and
a cache of what can be made anew; both are folders that processes share.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cuecard import Conversation, Engine, InputError, ToolCard, ToolResult, Turn
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.files.atomic_write import rewrite
from cuecard.files.cache import Cache
from cuecard.reload.states import NoState
from cuecard.types import Json, States
from forked import ended, start
from unit.robustness import postgresql
from unit.robustness.agents import AGENT, NOW, write_agent

KEY = "a key of thirty-two letters; fine"
TEXTS = ("agent: first\n", "agent: second and longer\n")


def state(text: str) -> AgentSources:
    return AgentSources(SourceText("agent.yaml", "agent.yaml", text))


def keep_state(folder: Path, text: str) -> None:
    States(folder / "states").save(state(text))


def keep_value(folder: Path, text: str) -> None:
    Cache(folder / "cache").put("key", text.encode())


def keep_text(folder: Path, text: str) -> None:
    file = folder / "agent.yaml"
    file.touch()
    rewrite(file, text, file.read_text(encoding="utf-8"))


KEEPERS: dict[str, Callable[[Path, str], None]] = {"a state": keep_state, "a cache": keep_value, "a file": keep_text}
CALLS = ("write", "fsync", "replace", "rename", "open", "mkdir")


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("keeper", KEEPERS)
@pytest.mark.parametrize("cancelled", [KeyboardInterrupt, asyncio.CancelledError])
def test_row_61_a_writer_that_is_stopped_leaves_the_old_file(
    keeper: str, cancelled: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each call of the system that a writer makes."""
    keep, stopped = KEEPERS[keeper], 0
    for name in CALLS:
        folder = tmp_path / name
        folder.mkdir()
        keep(folder, TEXTS[0])
        before = content(folder)

        def stop(*_: Any, **__: Any) -> None:
            raise cancelled

        with monkeypatch.context() as here:
            here.setattr(os, name, stop)
            try:
                keep(folder, TEXTS[1])
            except cancelled:
                stopped += 1
                assert content(folder) == before, name
        keep(folder, TEXTS[1])
        assert content(folder) != before

    assert stopped


def test_row_61_a_thousand_cancelled_searches_leave_nothing_of_theirs_to_others(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path), cache=False)
    names = [f"tool_{number}" for number in range(50)]
    engine = engine.with_tools([ToolCard(name, f"Does {name}.") for name in names])
    chance = random.Random(7)  # noqa: S311 - which searches are cancelled, and when

    async def ranker(query: str, _limit: int) -> list[tuple[str, float]]:
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        return [(query, 1.0)]

    async def search(number: int) -> bool:
        asked = asyncio.create_task(engine.asearch_tools(names[number % 50], 1, ranker=ranker))
        if number % 2:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            asked.cancel()
        try:
            return list((await asked).tools) == [names[number % 50]]
        except asyncio.CancelledError:
            return True

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*map(search, range(2_000)))

    assert all(asyncio.run(all_of_them()))


def instead(file: Path, kind: str) -> None:
    """Something else under the name of a file."""
    file.unlink()
    if kind == "folder":
        file.mkdir()
        return
    database = sqlite3.connect(file)
    database.execute("create table t (x)")
    database.commit()
    database.close()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "garbage": lambda file: file.write_bytes(b"\x00\xff" * 500),
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "a database": partial(instead, kind="database"),
    "a later format": lambda file: file.write_text(file.read_text("utf-8").replace('"format": 1', '"format": 2')),
    "a folder": partial(instead, kind="folder"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_row_62_a_damaged_state_does_not_count_and_stays_unchanged(damage: str, tmp_path: Path) -> None:
    states = States(tmp_path)
    digest = states.save(state(TEXTS[0]))
    file = tmp_path / f"{digest}.json"
    DAMAGE[damage](file)
    before = content(tmp_path)

    with pytest.raises(NoState) as caught:
        states.load(digest, tmp_path)
    assert caught.value.damaged
    assert content(tmp_path) == before


@pytest.mark.parametrize("damage", [name for name in DAMAGE if name != "a later format"])
def test_row_62_cache_files_of_others_are_not_used(damage: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("key", b"value")
    (file,) = tmp_path.iterdir()
    DAMAGE[damage](file)

    assert cache.get("key") is None


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
def test_row_62_a_cache_takes_no_file_of_another_user_and_none_that_others_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache")
    cache.put("key", b"value")
    (file,) = (tmp_path / "cache").iterdir()
    assert cache.get("key") == b"value"
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0
    for mode in (0o620, 0o602, 0o666):
        file.chmod(mode)
        assert cache.get("key") is None
    file.chmod(0o600)
    with monkeypatch.context() as here:
        here.setattr(os, "getuid", lambda: 12345)
        assert cache.get("key") is None
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert cache.get("key") is None
    file.unlink()
    os.mkfifo(file)
    assert cache.get("key") is None  # and does not wait for a writer


FULL = """
import resource, signal, sys
from pathlib import Path
from cuecard.files.cache import Cache
from cuecard.files.atomic_write import rewrite
from cuecard.errors import InputError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
cache, file = Cache(folder / "cache"), folder / "agent.yaml"
cache.put("key", b"value")
file.write_text("agent: a\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
cache.put("key", b"x" * 5000)
try:
    rewrite(file, "x" * 5000, "agent: a\\n")
except InputError as error:
    print(error.problems[0].code)
print(cache.get("key"), file.read_text().strip(), sum(1 for path in folder.rglob("*") if path.is_file()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such limit")
def test_row_62_a_full_disk_leaves_cache_and_files_unchanged(tmp_path: Path) -> None:
    done = ended(tmp_path, program=FULL)

    assert done.stdout == "unreadable-file\nb'value' agent: a 2\n"


def test_row_62_where_nothing_can_be_written_an_agent_opens_and_prints_the_same(tmp_path: Path) -> None:
    folder = write_agent(tmp_path / "agent")
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    opened = [Engine.open(folder, cache=place) for place in (False, tmp_path / "file", tmp_path / "file" / "below")]

    assert len({engine.prepare_step(engine.prepare_call(Turn(now=NOW))).system for engine in opened}) == 1
    assert (tmp_path / "file").read_text(encoding="utf-8") == "no folder"


BEGUN = """
import sys
from dataclasses import replace
from datetime import UTC, datetime
from cuecard import Turn, watch
from cuecard.files.tokens import TokenCounter
with watch(sys.argv[1], states=sys.argv[2], cache=sys.argv[3]) as watcher:
    engine = watcher.current
    # Unpacking the table of tokens would take as long as all the rest.
    engine = replace(engine, count=TokenCounter(engine.count.source, len))
    print(engine.prepare_step(engine.prepare_call(Turn(now=datetime(2026, 11, 20, tzinfo=UTC)))).manifest.sha256)
"""


def test_row_63_processes_that_begin_at_once_with_empty_folders_all_serve_the_same(tmp_path: Path) -> None:
    folder = write_agent(tmp_path / "agent")
    words = folder, tmp_path / "states", tmp_path / "cache"
    running = [start(*words, program=BEGUN, pipes="stdout", text=True) for _ in range(3)]
    said = {each.communicate(timeout=300)[0] for each in running}

    assert [each.returncode for each in running] == [0] * 3
    assert len(said) == 1
    assert not [path.name for path in tmp_path.rglob("*") if path.name.endswith((".new", ".unfinished"))]
    assert len([path for path in (tmp_path / "states").iterdir() if len(path.stem) == 64]) == 1


def as_jsonb(text: str) -> str:
    """JSON as PostgreSQL's `jsonb` gives it back: numbers in digits, keys by length, no NUL and no half characters."""
    return _jsonb(json.loads(text, parse_float=Decimal))


def _jsonb(value: Any) -> str:
    if isinstance(value, Decimal):
        digits = format(value, "f")
        return digits.removeprefix("-") if value == 0 else digits
    if isinstance(value, str):
        assert "\0" not in value, "unsupported Unicode escape sequence"
        return json.dumps(value.encode("utf-8").decode("utf-8"), ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_jsonb, value))}]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key), key))
        return f"{{{', '.join(f'{_jsonb(key)}: {_jsonb(value[key])}' for key in keys)}}}"
    return json.dumps(value)


STORED: dict[str, tuple[Json, tuple[ToolResult, ...]]] = {
    "a large number": (1e22, ()),
    "a very large one": ([1e300, -1e300, 2**1000], ()),
    "a small one": (1e-7, ()),
    "minus nothing": (-0.0, ()),
    "a sum": (0.1 + 0.2, ()),
    "a megabyte": ("é\u2028" * 250_000, ()),
    "names that nobody can store": ("x", (ToolResult("tool_search", {"tools": ["a\0b", "\ud800", "c\x1b"]}, "1"),)),
    "a body that nobody can store": ("x", (ToolResult("get", {"id": "p\0", "name": "\ud800"}, "1"),)),
}


def talked(name: str, folder: Path) -> tuple[Engine, Conversation, str]:
    """An engine, a conversation in which something odd was said, and what the host stores of it."""
    value, results = STORED[name]
    agent = AGENT.replace(
        "{type: string, default: Ann}", "{type: string, default: Ann}, any: {type: list, default: []}"
    )
    template = "<agent>\n<a>\n{{json any}}{{{user}}}\n</a>\n<b>\n{{{activeProtocols}}}\n</b>\n</agent>\n"
    engine = Engine.open(write_agent(folder, {"agent.yaml": agent, "agent.xml": template}), key=KEY, cache=False)
    chat = engine.conversation()
    chat.user(Turn({"any": value if isinstance(value, list) else [value]}, now=NOW), results)
    chat.step([])
    return engine, chat, engine.dump(chat)


@pytest.mark.parametrize("name", STORED)
def test_row_64_a_conversation_comes_back_from_sqlite_and_as_jsonb(name: str, tmp_path: Path) -> None:
    """What is signed is what was said, however a database writes it; and nothing gets in that one of them refuses."""
    engine, chat, dumped = talked(name, tmp_path)
    with sqlite3.connect(":memory:") as database:
        (kept,) = database.execute("select ?", [dumped]).fetchone()
    database.close()

    assert kept == dumped
    assert dumped.isascii()
    assert engine.load(kept).state == chat.state
    back = engine.load(as_jsonb(dumped))
    assert back.step([]).system == chat.step([]).system


@pytest.mark.skipif(postgresql.programs() is None, reason="PostgreSQL is not installed, or nobody can be its owner")
def test_row_64_a_conversation_comes_back_from_a_real_postgresql(tmp_path: Path) -> None:
    programs = postgresql.programs()
    assert programs
    with postgresql.server(programs) as database:
        for number, name in enumerate(STORED):
            engine, chat, dumped = talked(name, tmp_path / str(number))
            quoted = dumped.replace("'", "''")
            query = f"select '{quoted}'::jsonb::text; select '{quoted}'::text"
            kept, same = postgresql.ask(programs, database, query).split("\n")

            assert same == dumped
            assert json.loads(as_jsonb(dumped)) == json.loads(kept), "what stands for PostgreSQL elsewhere is like it"
            assert engine.load(kept).step([]).system == chat.step([]).system


def test_row_64_what_could_not_be_loaded_again_is_not_dumped(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path), key=KEY, cache=False)
    chat = engine.conversation()
    chat.user(Turn({"user": "é" * 500_000}, now=NOW))

    with pytest.raises(InputError, match="characters of 16,777,216 at most"):
        engine.dump(chat)


@pytest.mark.parametrize("mark", ["\0", "\ud800", "\x1b"])
def test_row_64_names_and_ids_that_no_database_stores_are_refused_with_their_places(mark: str, tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path), cache=False)
    result = ToolResult(f"a{mark}", "fine", f"call{mark}", batch=f"b{mark}")
    places = ["[1].tool", "[1].call_id", "[1].batch"]
    chat = engine.conversation()
    refused: dict[str, Callable[[], object]] = {
        "history": lambda: engine.prepare_call(Turn(now=NOW), [ToolResult("x", 1), result]),
        "results": lambda: chat.user(Turn(now=NOW), [ToolResult("x", 1), result]),
    }
    for name, act in refused.items():
        with pytest.raises(InputError) as caught:
            act()
        assert [(problem.code, problem.name) for problem in caught.value.problems] == [
            ("control-character", f"{name}{place}") for place in places
        ]
    with pytest.raises(InputError) as caught:
        chat.user(Turn(now=NOW), calls={f"call{mark}": "get"})
    assert [problem.code for problem in caught.value.problems] == ["control-character"]
