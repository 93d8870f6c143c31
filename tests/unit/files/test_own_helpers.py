"""Helpers that an agent file names: functions of the host's, loaded only where it allows code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from cuecard import Engine, SpecError, Turn
from cuecard.files import host_code as helpers

KIT = """
def shout(text, mark="!"):
    return f"{text}{mark}"

def framed(value, options):
    return f"<b>{options.fn(value)}</b>"

def broken(value):
    raise KeyError(value)

KIT = {"shout": shout, "framed": framed, "broken": broken, "many": lambda n: [1] * n}
KIT |= {"head": lambda text: text[:3], "tail": lambda text: text[3:]}
ODD = {"if": shout, "a b": shout, "three": 3}
"""

ROWS = 'rows: {input: names, item: "{{{item}}}", separator: " "}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on Python's path with a module `bakery_kit`."""
    (tmp_path / "bakery_kit.py").write_text(KIT)
    (tmp_path / "broken_kit.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("bakery_kit", "broken_kit"):
        sys.modules.pop(name, None)


def agent(folder: Path, named: str, text: str, source: str = "") -> Path:
    """An agent with one section."""
    file = folder / "agent.yaml"
    inputs = "inputs: {name: {default: 'A<b>'}, names: {type: list, default: ['<one>', '<two>']}}"
    section = f"  - id: one\n    text: '{text}'\n    {source}\n"
    file.write_text(f"agent: bakery\nhelpers: {named}\n{inputs}\nsections:\n{section}")
    return file


def prompt(folder: Path, named: str, text: str, **values: str) -> str:
    """What the section prints."""
    engine = Engine.open(agent(folder, named, text), allow_code=True)
    return engine.prepare_step(engine.prepare_call(Turn(values))).system


def refused(folder: Path, named: str, *, allow_code: bool = True) -> list[tuple[str, str]]:
    """Codes and messages."""
    with pytest.raises(SpecError) as told:
        Engine.open(agent(folder, named, "x"), allow_code=allow_code)
    assert all(problem.span for problem in told.value.problems)
    return [(problem.code, problem.message) for problem in told.value.problems]


def test_what_they_return_is_data_or_an_authors(folder: Path) -> None:
    text = '{{{shout name mark="?"}}} {{#framed name}}{{{this}}}{{/framed}} {{many 2}}'
    assert prompt(folder, "bakery_kit:KIT", text) == "A&lt;b>? &lt;b>A&lt;b>&lt;/b> 1,1"
    author = "{code: bakery_kit:KIT, trust: author}"
    assert prompt(folder, author, "{{{shout name}}} {{#framed name}}{{{this}}}{{/framed}}") == "A<b>! <b>A&lt;b></b>"


@pytest.mark.parametrize(("cut", "expected"), [("head", "&lt;o"), ("tail", "ne> &lt;two>")])
def test_data_in_a_content_stays_data_where_a_helper_of_ones_own_cuts_it(folder: Path, cut: str, expected: str) -> None:
    """The marks around it are then without their counterparts."""
    kept = agent(folder, "{code: bakery_kit:KIT, trust: author}", f"{{{{{{{cut} content}}}}}}", ROWS)
    engine = Engine.open(kept, allow_code=True)

    assert engine.prepare_step(engine.prepare_call()).system == expected


def test_of_two_with_one_name_the_later_counts_and_all_win_over_the_standard_ones(folder: Path) -> None:
    (folder / "second_kit.py").write_text("KIT = {'shout': lambda text: 'second', 'upper': lambda text: 'mine'}")
    assert prompt(folder, "[bakery_kit:KIT, second_kit:KIT]", "{{{shout name}}} {{{upper name}}}") == "second mine"


def test_code_runs_only_where_it_is_allowed(folder: Path) -> None:
    [(code, message)] = refused(folder, "broken_kit:KIT", allow_code=False)
    assert (code, "broken_kit:KIT" in message) == ("code-not-allowed", True)


def test_all_that_cannot_be_had_is_reported_at_once(folder: Path) -> None:
    named = ("bakery_kit:ODD", "bakery_kit:NONE", "nothing_kit:KIT", "broken_kit:KIT", "nothing", "bakery_kit:shout")
    told = refused(folder, f"[{', '.join(named)}]")
    assert [code for code, _ in told] == ["missing-helpers"] * 6
    words = (
        "`if`, `a b`, `three`",
        "has no `NONE`",
        "no module `nothing_kit`",
        "ZeroDivisionError",
        "provides helpers",
        "function",
    )
    assert [word in message for word, (_, message) in zip(words, told, strict=True)] == [True] * 6


def test_a_package_offers_them_as_an_entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = EntryPoints([EntryPoint("bakery", "bakery_kit:KIT", helpers.GROUP)])
    monkeypatch.setattr("cuecard.files.host_code.entry_points", lambda group: offered.select(group=group))
    assert prompt(folder, "bakery", "{{{shout name}}}", name="Ann") == "Ann!"


def test_a_helper_that_fails_is_reported_at_its_place(folder: Path) -> None:
    with pytest.raises(Exception, match="the helper `broken` failed: KeyError"):
        prompt(folder, "bakery_kit:KIT", "{{broken name}}")
