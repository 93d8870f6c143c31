"""Compiled agents are kept for the next process, and nothing that is wrong with what was kept is ever believed."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from cuecard import Engine, SpecError, Turn
from cuecard.agent import Agent, build_agent
from cuecard.outside.cache import Cache
from cuecard.outside.folder import read_agent
from cuecard.outside.kept_agents import kept_agent
from unit.robustness.agents import write_agent

ROOT = Path(__file__).parents[3]
SYSTEMS = sorted((ROOT / "prompts").glob("*/agent.yaml"))
COMPILER = {
    "lxml",
    "cuecard.agent.assembly",
    "cuecard.agent.build",
    "cuecard.agent.draft",
    "cuecard.config.core_outline",
    "cuecard.template.backends.codegen",
    "cuecard.template.syntax.lexer",
    "cuecard.template.syntax.parser",
}
"""What only compiling an agent needs."""

SAME = "spec sha256 layout protocols names warnings files origins models gate ranker".split()  # noqa: SIM905 - names of fields

SHOW = """
import contextlib, io, json, sys
from cuecard.cli.main import main
turn, *agents = sys.argv[1:]
for agent in agents:
    sys.argv = ["cuecard", "render", agent, "--json", "--turn", turn]
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main()
    print(json.dumps([shown.getvalue(), [*sys.modules]]))
"""
SMALL = "agent: small\nsections:\n  - id: told\n    text: Be {{mood}}.\ninputs:\n  mood: {default: kind}\n"


class Loaded:
    """What a kept file must not be able to do: run code of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("loaded",))


def small(folder: Path, text: str = SMALL) -> Path:
    file = folder / "agent.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def prompt(agent: Agent, file: Path) -> str:
    engine = Engine.open(file)
    made = Engine(agent, engine.delivery, engine.count, engine.clock)
    return made.prepare_step(made.prepare_call(Turn())).system


def values_in(folder: Path) -> list[bytes]:
    """What is kept, without the line and the checksum before it."""
    return [file.read_bytes() for file in sorted(folder.glob("*.kept"))]


@pytest.mark.parametrize("file", SYSTEMS, ids=lambda file: file.parent.name)
def test_a_kept_agent_is_the_agent(file: Path, tmp_path: Path) -> None:
    sources = read_agent(file)
    built, first, later = (
        build_agent(sources),
        kept_agent(sources, Cache(tmp_path)),
        kept_agent(sources, Cache(tmp_path)),
    )

    assert len(values_in(tmp_path)) == 1
    assert later is not first
    for name in (
        "spec",
        "sha256",
        "layout",
        "protocols",
        "names",
        "warnings",
        "files",
        "origins",
        "models",
        "gate",
        "ranker",
    ):
        assert getattr(later, name) == getattr(built, name), name
    assert dict(later.catalogue) == dict(built.catalogue)
    assert later.catalogue.sha256 == built.catalogue.sha256
    assert list(later.editions) == list(built.editions)
    for edition, sections in built.editions.items():
        assert [(s.spec, s.tier, s.reads, s.source, s.values) for s in later.editions[edition]] == [
            (s.spec, s.tier, s.reads, s.source, s.values) for s in sections
        ]


def test_the_next_process_compiles_nothing_and_shows_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUECARD_CACHE", str(tmp_path / "cache"))
    cms, new, turn = ROOT / "prompts" / "cms", write_agent(tmp_path / "new"), tmp_path / "turn.yaml"
    turn.write_text("now: 2026-05-04T10:00:00Z\n", encoding="utf-8")
    first = run("render", cms, "--json", "--turn", turn)
    command = [sys.executable, "-c", SHOW, *map(str, (turn, cms, new))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (shown, loaded), (_, later) = map(json.loads, done.stdout.splitlines())

    assert '"system"' in first.stdout
    assert shown == first.stdout
    assert COMPILER.isdisjoint(loaded)
    assert COMPILER.issubset(later), "what is not kept is compiled"


def test_a_change_of_a_text_is_seen(tmp_path: Path) -> None:
    file, cache = small(tmp_path), Cache(tmp_path / "cache")
    before = prompt(kept_agent(read_agent(file), cache), file)
    small(tmp_path, SMALL.replace("Be ", "Always be "))

    assert before.strip().endswith("Be kind.")
    assert prompt(kept_agent(read_agent(file), cache), file).strip().endswith("Always be kind.")


def test_a_kept_template_still_points_at_its_place(tmp_path: Path) -> None:
    file = small(
        tmp_path, SMALL.replace("{default: kind}", "{type: object, default: {}}").replace("{{mood}}", "{{mood.now}}")
    )
    said = []
    for agent in [kept_agent(read_agent(file), Cache(tmp_path / "cache")) for _ in range(2)]:
        with pytest.raises(Exception, match="now") as caught:
            prompt(agent, file)
        said.append(str(caught.value))

    assert said[0] == said[1]


@pytest.mark.parametrize(
    "value",
    [b"", b"\x80\x05.", b"no pickle", pickle.dumps({"agent": 1}), pickle.dumps(Loaded()), pickle.dumps("text")[:-2]],
    ids=["empty", "cut", "text", "another-value", "code", "cut-off"],
)
def test_a_file_that_is_not_a_kept_agent_is_recompiled(
    value: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, sources = small(tmp_path), read_agent(small(tmp_path))
    monkeypatch.chdir(tmp_path)
    cache, seen = Cache(tmp_path / "cache"), list[str]()

    def kept(_: Cache, key: str) -> bytes:
        seen.append(key)
        return value

    monkeypatch.setattr(Cache, "get", kept)

    assert prompt(kept_agent(sources, cache), file).strip().endswith("Be kind.")
    assert seen
    assert not (tmp_path / "loaded").exists()


def test_a_damaged_file_is_recompiled_and_replaced(tmp_path: Path) -> None:
    file, cache = small(tmp_path), Cache(tmp_path / "cache")
    kept_agent(read_agent(file), cache)
    (kept,) = (tmp_path / "cache").glob("*.kept")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-9] + b"overwrite")

    assert prompt(kept_agent(read_agent(file), cache), file).strip().endswith("Be kind.")
    assert kept.read_bytes() == whole


def test_another_agent_under_the_key_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "cache")
    kept_agent(read_agent(small(tmp_path)), cache)
    (kept,) = values_in(tmp_path / "cache")
    monkeypatch.setattr(Cache, "get", lambda *_: kept[47:])
    file = small(tmp_path, SMALL.replace("Be ", "Always be "))

    assert prompt(kept_agent(read_agent(file), cache), file).strip().endswith("Always be kind.")


def test_where_nothing_can_be_kept_it_only_takes_longer(tmp_path: Path) -> None:
    file = small(tmp_path)

    for folder in (None, file, tmp_path / "agent.yaml" / "below"):
        assert prompt(kept_agent(read_agent(file), Cache(folder)), file).strip().endswith("Be kind.")
    assert list(tmp_path.iterdir()) == [file]


def test_an_agent_that_is_wrong_is_never_kept(tmp_path: Path) -> None:
    file = small(tmp_path, SMALL.replace("{{mood}}", "{{moods}}"))

    for _ in range(2):
        with pytest.raises(SpecError, match="moods"):
            kept_agent(read_agent(file), Cache(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_other_code_of_cuecard_recompiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = small(tmp_path)
    kept_agent(read_agent(file), Cache(tmp_path / "cache"))
    monkeypatch.setattr("cuecard.outside.kept_agents._code", lambda: ("another",))
    kept_agent(read_agent(file), Cache(tmp_path / "cache"))

    assert len(values_in(tmp_path / "cache")) == 2
