"""What is kept on disk is this user's own data: nobody else's is used, and none of it changes the text of a prompt."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.fields import WEIGHTS
from cuecard.catalogue.search import SearchIndex
from cuecard.catalogue.word_index import WordIndex, pack, unpack
from cuecard.files.cache import Cache
from cuecard.files.rankers.choice import WORTH_KEEPING
from cuecard.files.tokens import key_of
from forked import ended
from unit.catalogue.rankers.agents import write_agent
from unit.catalogue.rankers.test_cache import cards

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs owners and modes")
RULE = "Never delete a page without a second question."
AGENT = f"""\
agent: keeper
sections:
  - {{id: role, text: You help.}}
  - {{id: rules, priority: 1, text: {RULE}}}
budget: {{total: 30}}
"""


def cuecard(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with this cache."""
    own = {"CUECARD_CACHE": str(folder / "kept"), "CUECARD_STATES": str(folder / "states"), "HOME": str(folder)}
    return ended(*words, **own)


def large_agent(folder: Path) -> Path:
    agent = write_agent(folder)
    with (folder / "tools.yaml").open("a", encoding="utf-8") as file:
        for n in range(WORTH_KEEPING):
            file.write(f"  tool_{n}: {{description: Do {n}, before: Ask, after: Tell, next: None, gotcha: None}}\n")
    return agent


def linked(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


def everybody(path: Path) -> None:
    path.chmod(0o777)


def the_group(path: Path) -> None:
    path.chmod(0o770)


def foreign(path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(path, 4711, 4711)


FOLDERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "everybody": (everybody, "others can write to it"),
    "the group": (the_group, "others can write to it"),
    "another owner": (foreign, "it belongs to another user"),
    "a link": (linked, "it is a symbolic link"),
}


@pytest.mark.parametrize("way", FOLDERS)
def test_a_cache_folder_that_others_can_write_is_refused_with_one_line(tmp_path: Path, way: str) -> None:
    spoil, why = FOLDERS[way]
    agent, kept = large_agent(tmp_path), tmp_path / "kept"
    search = ("tools", "search", agent, "do 17")
    first = cuecard(tmp_path, *search)
    [file] = kept.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    before = file.stat()
    spoil(kept)
    second = cuecard(tmp_path, *search)

    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert second.stderr.startswith(f"{kept} is not used, because {why}")
    assert second.stderr.split("\n", 1)[1] == first.stderr
    after = next(iter(kept.iterdir())).stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize("way", ["everybody", "the group", "another owner", "a link"])
def test_a_cache_file_that_others_can_write_is_refused_with_one_line(tmp_path: Path, way: str) -> None:
    spoil, why = FOLDERS[way]
    agent = large_agent(tmp_path)
    search = ("tools", "search", agent, "do 17")
    first = cuecard(tmp_path, *search)
    [file] = (tmp_path / "kept").iterdir()
    spoil(file)
    second = cuecard(tmp_path, *search)

    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert second.stderr.startswith(f"{file} is not used, because {why}")
    assert second.stderr.split("\n", 1)[1] == first.stderr


@pytest.mark.parametrize("way", FOLDERS)
def test_a_state_from_a_folder_that_others_can_write_serves_nobody(tmp_path: Path, way: str) -> None:
    """The pointer to the last good state would be followed on a start with broken files: to whatever it names."""
    spoil, why = FOLDERS[way]
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    good = cuecard(tmp_path, "mcp", agent)
    agent.write_text("agent: [\n", encoding="utf-8")
    restored = cuecard(tmp_path, "mcp", agent)
    spoil(tmp_path / "states")
    refused = cuecard(tmp_path, "mcp", agent)

    assert (good.returncode, good.stderr) == (0, "")
    assert restored.returncode == 0
    assert refused.returncode == 1
    told = [line for line in refused.stderr.splitlines() if "is not used" in line]
    assert told == [f"{tmp_path / 'states'} is not used, because {why}{told[0].partition(why)[2]}"]


@pytest.mark.parametrize("tokens", [1, len(RULE), 1_000_000])
def test_no_count_in_a_cache_decides_what_a_prompt_contains(tmp_path: Path, tokens: int) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    first = cuecard(tmp_path, "render", agent)
    cuecard(tmp_path, "tokens", agent)
    cache, key = Cache(tmp_path / "kept"), key_of("o200k_base")
    known = json.loads(cache.get(key) or b"")
    cache.put(key, json.dumps(dict.fromkeys(known, tokens)).encode())
    shown = [cuecard(tmp_path, *words, agent) for words in (["render"], ["render", "--json"])]

    assert known
    assert RULE in first.stdout
    assert shown[0].stdout == first.stdout
    assert RULE in json.loads(shown[1].stdout)["system"]


def test_a_count_that_no_text_can_have_is_counted_anew(tmp_path: Path) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    first = cuecard(tmp_path, "tokens", agent, "--json")
    [file] = (tmp_path / "kept").iterdir()
    cache, key = Cache(tmp_path / "kept"), key_of("o200k_base")
    for wrong in (0, -5, 10**9):
        cache.put(key, json.dumps(dict.fromkeys(json.loads(cache.get(key) or b""), wrong)).encode())
        assert cuecard(tmp_path, "tokens", agent, "--json").stdout == first.stdout
    assert file.exists()


MADE = json.loads(pack(WordIndex.build(cards(5))))
FORM = next(iter(MADE["postings"]))
OTHER, NUMBERS, ABSENT = (
    f"an index {what}" for what in ("of other tools", "with invalid norms or counts", "of tools that do not exist")
)


def with_posting(*posting: list[Any]) -> dict[str, Any]:
    return {"postings": {**MADE["postings"], FORM: [*posting]}}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"names": MADE["names"][::-1]}, OTHER),
        ({"norms": MADE["norms"][1:]}, OTHER),
        ({"phrases": MADE["phrases"][1:]}, OTHER),
        ({"norms": [0, *MADE["norms"][1:]]}, NUMBERS),
        ({"norms": [1e9, *MADE["norms"][1:]]}, NUMBERS),
        ({"norms": ["1", *MADE["norms"][1:]]}, NUMBERS),
        (with_posting([0, 1], [1.0, -0.5]), NUMBERS),
        (with_posting([0], [True]), NUMBERS),
        (with_posting([5], [1.0]), ABSENT),
        (with_posting([-1], [1.0]), ABSENT),
        (with_posting([0.0], [1.0]), ABSENT),
        (with_posting([0, 1], [1.0]), "zip() argument 2 is shorter than argument 1"),
        (with_posting([[0]], [1.0]), "not an index: unhashable type: 'list'"),
        ({"following": [[0, [5]]]}, ABSENT),
        ({"following": [[5, [0]]]}, ABSENT),
        ({"following": [[0, [False]]]}, ABSENT),
        ({"following": 7}, "not an index: 'int' object is not iterable"),
    ],
)
def test_an_index_that_does_not_fit_says_why(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        unpack(json.dumps({**MADE, **changed}).encode(), NAMES)
    assert unpack(json.dumps(MADE).encode(), NAMES) == WordIndex.build(cards(5))


NAMES = [card.name for card in cards(5)]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 7) | st.floats() | st.sampled_from(["tool_1", "do", "rm -rf", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def replaced(value: Any, path: list[int], new: Any) -> Any:
    """The value with another one at some place."""
    if not path or not isinstance(value, (list, dict)) or not value:
        return new
    at = path[0] % len(value)
    if isinstance(value, dict):
        key = list(value)[at]
        return {**value, key: replaced(value[key], path[1:], new)}
    return [*value[:at], replaced(value[at], path[1:], new), *value[at + 1 :]]


@given(st.lists(st.integers(0, 50), max_size=5), VALUES, st.sampled_from(["do 3", "tool 1", "pagse", "rm -rf"]))
def test_an_index_with_anything_in_it_names_known_tools_or_is_made_anew(path: list[int], new: Any, query: str) -> None:
    """An index that somebody has rewritten can put the tools in another order, and no more than that."""
    data = json.dumps(replaced(MADE, path, new)).encode()
    try:
        ranker = Bm25Ranker(unpack(data, NAMES), WEIGHTS)
    except ValueError:
        return
    index = SearchIndex.build(cards(5), ranker=ranker)
    found = index.search(query)
    index.explain(query, {card.name: card for card in cards(5)})

    assert {*found.tools} <= {*NAMES}
    assert not found.diagnostics
    assert "rm" not in found.message.replace(query, "")
