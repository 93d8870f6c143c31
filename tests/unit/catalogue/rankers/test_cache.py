"""What is kept between processes: whole, this user's own, exactly what was written, and never too much."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import run
from cuecard import Engine, ToolCard
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.word_index import pack, unpack
from cuecard.files.cache import Cache, fingerprint
from cuecard.files.rankers.choice import WORTH_KEEPING, lexical_ranker
from cuecard.types import ToolInstructions
from unit.catalogue.rankers.agents import write_agent
from unit.catalogue.rankers.busy import is_right

KEY, VALUE = "key", bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "deep" / "kept")


def only_file(cache: Cache) -> Path:
    assert cache.folder
    [file] = cache.folder.iterdir()
    return file


def cards(count: int = WORTH_KEEPING) -> list[ToolCard]:
    told = ToolInstructions("", "", "tool_1", "")
    return [
        ToolCard(f"tool_{n}", f"Does {n} things with pages", phrases=(f"do {n}",), instructions=told)
        for n in range(count)
    ]


def test_what_was_kept_is_there(cache: Cache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, VALUE)

    assert cache.get(KEY) == VALUE
    assert cache.get("another") is None


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Cache().put(KEY, VALUE)

    assert Cache().get(KEY) is None
    assert list(tmp_path.iterdir()) == []


def forged(file: Path) -> None:
    """Another value with the digest that it would have under no key."""
    data = file.read_bytes()
    head = data[: data.index(b"\n") + 1]
    file.write_bytes(head + hashlib.sha256(b"other").digest() + b"other")


def linked(file: Path) -> None:
    other = file.with_name("elsewhere")
    file.rename(other)
    file.symlink_to(other)


def folder_there(file: Path) -> None:
    file.unlink()
    file.mkdir()


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "only a head": lambda file: file.write_bytes(file.read_bytes()[:20]),
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"x"),
    "one bit": lambda file: file.write_bytes(file.read_bytes()[:-1] + b"\xfe"),
    "other kind": lambda file: file.write_bytes(b"\x80\x04\x95 pickled"),
    "forged": forged,
    "writable by all": lambda file: file.chmod(0o666),
    "a link": linked,
    "a folder": folder_there,
    "a pipe": pipe,
    "unreadable": lambda file: file.write_bytes(os.urandom(5000)),
}


@pytest.mark.skipif(os.name != "posix", reason="needs links, pipes and modes")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_not_what_was_written_is_ignored(cache: Cache, damage: str) -> None:
    cache.put(KEY, VALUE)
    DAMAGES[damage](only_file(cache))

    assert cache.get(KEY) is None
    cache.put(KEY, VALUE)  # and it goes on, with or without a new file


def test_every_byte_counts(cache: Cache) -> None:
    cache.put(KEY, b"a short value")
    file = only_file(cache)
    whole = file.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        file.write_bytes(changed)
        assert cache.get(KEY) is None


def test_a_file_under_another_name_is_not_taken_for_it(cache: Cache) -> None:
    cache.put(KEY, VALUE)
    first = only_file(cache)
    cache.put("other", b"another")
    assert cache.folder
    second = next(file for file in cache.folder.iterdir() if file != first)
    first.replace(second)

    assert cache.get("other") is None


def test_a_folder_that_cannot_be_written_keeps_nothing_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = Cache(tmp_path / "file" / "kept")
    cache.put(KEY, VALUE)

    assert cache.get(KEY) is None


def test_the_folder_never_holds_more_than_its_limit_and_loses_the_oldest(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=5000)
    for n in range(8):
        cache.put(str(n), bytes(1000))
        for file in tmp_path.iterdir():  # each a second older than the one before
            seen = file.stat()
            os.utime(file, (seen.st_atime, seen.st_mtime - 1))

    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5000
    assert [n for n in range(8) if cache.get(str(n))] == [4, 5, 6, 7]
    cache.put("huge", bytes(6000))
    assert cache.get("huge") is None


def test_what_others_left_half_written_goes_when_it_is_old(tmp_path: Path) -> None:
    young, old = tmp_path / "a.new", tmp_path / "b.new"
    for file in (young, old):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    Cache(tmp_path).put(KEY, VALUE)

    assert young.exists()
    assert not old.exists()


def test_many_processes_may_share_a_folder(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert all(pool.starmap(is_right, [(str(tmp_path), seed) for seed in range(6)]))
    assert [file for file in tmp_path.iterdir() if file.suffix == ".new"] == []


def test_parts_do_not_run_into_each_other() -> None:
    assert fingerprint(["ab", "c"]) != fingerprint(["a", "bc"])
    assert fingerprint(["\ud800"]) != fingerprint([])


def test_an_index_that_is_kept_ranks_as_a_new_one(cache: Cache) -> None:
    made, kept, new = lexical_ranker(cards(), cache), lexical_ranker(cards(), cache), Bm25Ranker.build(cards())

    assert only_file(cache).is_file()
    assert kept.index == made.index == new.index == unpack(pack(new.index), [card.name for card in cards()])
    for query in ("do 17", "things with pages", "tool 5", "pagse"):
        assert kept(query, 20) == new(query, 20)


@pytest.mark.parametrize(
    "change",
    [
        lambda card: replace(card, description="Something else"),
        lambda card: replace(card, phrases=("something",)),
        lambda card: replace(card, category="other"),
        lambda card: replace(card, input_schema={"properties": {"page": {}}}),
        lambda card: replace(card, instructions=None),
        lambda card: replace(card, name="other"),
    ],
)
def test_another_card_is_another_index(cache: Cache, change: Callable[[ToolCard], ToolCard]) -> None:
    lexical_ranker(cards(), cache)
    changed = [change(cards()[0]), *cards()[1:]]

    assert lexical_ranker(changed, cache).index == Bm25Ranker.build(changed).index


def test_a_small_catalogue_is_not_worth_a_file(cache: Cache) -> None:
    lexical_ranker(cards(WORTH_KEEPING - 1), cache)

    assert cache.folder
    assert not cache.folder.exists()


def test_a_damaged_index_is_rebuilt(cache: Cache) -> None:
    lexical_ranker(cards(), cache)
    only_file(cache).write_bytes(b"no index")

    assert lexical_ranker(cards(), cache).index == Bm25Ranker.build(cards()).index
    assert only_file(cache).stat().st_size > 100


def test_opening_an_agent_neither_builds_nor_reads_an_index(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path), cache=tmp_path / "kept").with_tools(cards())

    assert not (tmp_path / "kept").exists()
    assert engine.search_tools("do 17").tools[0] == "tool_17"
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_without_more_said_the_users_cache_folder_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.files.cache.user_cache", lambda: tmp_path / "users")
    agent = write_agent(tmp_path)
    Engine.open(agent, cache=False).with_tools(cards()).search_tools("do 17")
    assert not (tmp_path / "users").exists()

    Engine.open(agent).with_tools(cards()).search_tools("do 17")
    assert len(list((tmp_path / "users").iterdir())) == 1


def write_large_agent(folder: Path) -> Path:
    agent = write_agent(folder)
    with (folder / "tools.yaml").open("a", encoding="utf-8") as file:
        for n in range(WORTH_KEEPING):
            file.write(f"  tool_{n}: {{description: Do {n}, before: Ask, after: Tell, next: None, gotcha: None}}\n")
    return agent


def test_what_is_kept_is_data_which_no_command_unpickles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, cache = write_large_agent(tmp_path), tmp_path / "kept"
    monkeypatch.setenv("CUECARD_CACHE", str(cache))
    for name in ("load", "loads", "Unpickler", "dumps", "Pickler"):
        monkeypatch.setattr(pickle, name, lambda *_, **__: pytest.fail("something was pickled"))
    commands = [("render", agent), ("tokens", agent), ("check", agent), ("tools", "search", agent, "do 17")]
    first, second = ([run(*words) for words in commands] for _ in range(2))

    assert [each.exit_code for each in first] == [0] * len(commands)
    assert second == first
    assert list(cache.iterdir())


@pytest.mark.parametrize(("setting", "kept"), [("FOLDER", True), ("off", False)])
def test_the_setting_says_where_commands_keep_indexes(
    tmp_path: Path,
    setting: str,
    kept: bool,  # noqa: FBT001 - parametrized
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = write_large_agent(tmp_path)
    folder, users = tmp_path / "kept", tmp_path / "users"
    chosen = setting.replace("FOLDER", str(folder))
    for name, value in {"CUECARD_CACHE": chosen, "XDG_CACHE_HOME": str(users), "HOME": str(users)}.items():
        monkeypatch.setenv(name, value)
    done = run("tools", "search", agent, "do 17")

    assert done.exit_code == 0, done.stderr
    assert "tool_17" in done.stdout
    assert folder.exists() is kept
    assert not users.exists()
