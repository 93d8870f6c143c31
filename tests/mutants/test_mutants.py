"""The list of mutants holds for the code as it is, and `make mutate` does what its page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.contexts import DECLARED, Contexts
from mutants.mutants import LIST, ROOT, Mutant, mistakes, read_mutants
from mutants.run import MAKER, Mistake, Outcome, RefusedError, copies, drawn, kept, report, require_clean, spare

MUTANTS = read_mutants()


def test_every_pattern_is_found_once_and_every_test_exists() -> None:
    assert [*mistakes(MUTANTS)] == []


def test_the_parts_where_a_mistake_hurts_have_mutants() -> None:
    parts = {mutant.file.partition("/")[0] for mutant in MUTANTS}

    assert {"pipeline", "template", "conversation.py"} <= parts
    assert len(MUTANTS) >= 48


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m: replace(m, find="no such text"), "holds its pattern 0 times, not once"),
        (lambda m: replace(m, find="e"), "times, not once"),
        (lambda m: replace(m, replace=m.find), "changes nothing"),
        (lambda m: replace(m, replace="("), "is no Python"),
        (lambda m: replace(m, file="no.py"), "no.py"),
        (lambda m: replace(m, tests=("tests/no.py",)), "there is no tests/no.py"),
        (lambda m: replace(m, tests=(f"{m.tests[0].partition('::')[0]}::test_no",)), "has no test_no"),
    ],
)
def test_a_stale_mutant_is_named(change: Callable[[Mutant], Mutant], told: str) -> None:
    (line,) = mistakes((change(MUTANTS[0]),))

    assert MUTANTS[0].name in line or "no.py" in line
    assert told in line


def test_a_name_appears_once() -> None:
    assert "twice" in next(mistakes((MUTANTS[0], MUTANTS[0])))


def test_the_page_lists_the_survivors_with_their_reasons() -> None:
    page = LIST.with_name("README.md").read_text(encoding="utf-8")
    alive = [mutant for mutant in MUTANTS if mutant.survives]

    assert f"Of {len(MUTANTS)} mutants, {len(alive)} survive:" in page
    assert re.findall(r"^\| `(\S+)` \| (.*) \|$", page, re.MULTILINE) == [(m.name, m.survives) for m in alive]


JUDGED = """
import time
def test_fine(): pass
def test_wrong(): assert 1 == 2
def test_hangs(): time.sleep(600)
def test_eats(): bytearray(1 << 40)
"""


def answers(folder: Path, asked: Iterable[Mapping[str, object]], *tests: str) -> list[object]:
    """Who notices what is asked, by a judge without the frameworks and plugins that nobody needs here."""
    from mutants.judge import FRAMEWORKS  # noqa: PLC0415 - the module wants POSIX

    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p xdist\npythonpath = .\n", encoding="utf-8")
    unused = folder / "unused"
    unused.mkdir()
    for name in FRAMEWORKS:
        (unused / f"{name.partition('.')[0]}.py").write_text("raise ImportError\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(LIST.with_name("judge.py")), *tests],
        input="\n".join(map(json.dumps, asked)),
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(unused)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line)["noticed"] for line in done.stdout.splitlines()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_what_hangs_or_eats_memory_is_ended_and_noticed_and_the_next_is_asked(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(JUDGED, encoding="utf-8")
    eats, wrong = "test_it.py::test_eats", "test_it.py::test_wrong"
    names = ["test_fine", "test_hangs", "test_eats", "test_wrong", "test_fine"]
    asked: list[dict[str, object]] = [
        {"tests": [f"test_it.py::{name}"], "seconds": 3 if name == "test_hangs" else 300} for name in names
    ]
    asked.append({"tests": [wrong, eats], "seconds": 300, "functions": 2})

    assert answers(tmp_path, asked) == [[], ["the limit of 3 s"], [eats], [wrong], [], [wrong, eats]]


MISTAKEN = """
def doubled(number, times=2):
    return [each * times for each in number]
"""
ASKED = """
from mistaken import doubled
def test_doubled(): assert doubled([1]) == [2]
def test_alike(): assert doubled([1]) == doubled([1])
def test_twice(): assert doubled([1, 3]) == [2, 6]
def test_none_is_asked_any_more(): assert doubled([2]) == [5]
"""
FROZEN = """
import gc, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(): gc.freeze()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_tests_that_are_collected_once_are_asked_of_functions_with_other_code(tmp_path: Path) -> None:
    (tmp_path / "mistaken.py").write_text(MISTAKEN, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(ASKED, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(FROZEN, encoding="utf-8")  # as those of the project do
    texts = [MISTAKEN.replace("* times", "+ times"), MISTAKEN, MISTAKEN.replace("=2", "=3"), MISTAKEN + "TWO = 2\n"]
    asked = [{"tests": ["test_it.py"], "seconds": 60, "file": "mistaken.py", "text": text} for text in texts]
    noticed = answers(tmp_path, [asked[0], *asked, {**asked[0], "functions": 2}], "test_it.py")

    # Of what only an import does, it says nothing: a default, and a line of the module. Each begins without the others.
    first, second = "test_it.py::test_doubled", "test_it.py::test_twice"
    assert noticed == [[first], [first], None, None, None, [first, second]]


COMMIT = ["-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "--allow-empty", "-am", "one"]


def test_what_is_not_committed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mutants.run.ROOT", tmp_path)
    for words in (["init", "-q"], COMMIT):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    assert len(require_clean()) == 40
    (tmp_path / "new.py").touch()

    with pytest.raises(RefusedError, match=r"commit or stash first: 1 files differ from the last commit: new\.py"):
        require_clean()


def test_who_commits_meanwhile_changes_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mutants.run.ROOT", tmp_path)
    monkeypatch.setattr("mutants.run.KEPT", tmp_path / "kept")
    module = tmp_path / "a.py"
    module.write_text("first")
    for words in (["init", "-q"], ["add", "a.py"], COMMIT):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)

    with copies(2) as roots:
        module.write_text("second")
        subprocess.run(["git", *COMMIT], cwd=tmp_path, check=True)
        assert [(root / "a.py").read_text() for root in roots] == ["first"] * 2
    assert not any(root.exists() for root in roots)


def test_an_interrupted_run_knows_what_is_done(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    whole = '{"name": "a", "noticed": ["test_it.py::test_wrong"], "seconds": 1.5}\n'
    file.write_text(whole + whole[:20], encoding="utf-8")

    assert kept(file) == {"a": Outcome("a", ("test_it.py::test_wrong",), 1.5)}
    assert kept(tmp_path / "none.jsonl") == {}


def test_the_nearest_and_quickest_tests_are_asked_one_of_each_function_first() -> None:
    seconds = {"far.py::test_a": 4.0, "far.py::test_b": 4.0, "near.py::test_c[1]": 0.1, "near.py::test_c[2]": 0.2}
    drawn_inputs = "tests/property/test_e.py::test_e"
    hits = ["near.py::test_c[2]", "far.py::test_a", "near.py::test_c[1]", "near.py::test_failed", drawn_inputs]
    by_line = {1: ["far.py::test_a"], 6: ["far.py::test_a"], 7: [*hits, "near.py::test_d"]}
    known = Contexts({**seconds, "near.py::test_d": 9.0, drawn_inputs: 12.0, DECLARED[0]: 1.0}, lambda _: by_line)

    near = ["near.py::test_c[1]", "far.py::test_a"]
    further = [drawn_inputs, "near.py::test_c[2]", "near.py::test_d"]
    assert known.of("engine/cuecard/engine.py", 7) == (near, further)
    for imported in (6, 8):  # what a test runs only since it was the first to import, and what no test does
        assert known.of("engine/cuecard/engine.py", imported) == ([DECLARED[0], *near], further)


def test_what_nobody_noticed_is_told_with_its_place_its_change_and_the_nearest_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place, change = "engine/cuecard/pipeline/fit.py:7", ("-    a = b", "+    a = None")
    asked = [Mistake(place, change, "", ("test_it.py::test_near",), 1.0), Mistake(place, ("-c", "+d"), "", (), 0.0)]
    done = {each.name: Outcome(each.name, noticed, 1.0) for each, noticed in zip(asked, ((), ("x",)), strict=True)}
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    told = "\n".join(report(asked, done))

    assert f"{place}\n    -    a = b\n    +    a = None\n    nearest: test_it.py::test_near\n" in told
    assert "::warning file=engine/cuecard/pipeline/fit.py,line=7::" in told
    assert "| pipeline | 2 | 1 |\n| all | 2 | 1 (50.0 %) |" in told


def test_a_matrix_tells_whom_nobody_would_miss() -> None:
    tests = ("t.py::test_a", "t.py::test_b[1]", "t.py::test_b[2]", "t.py::test_c", "t.py::test_d")
    asked = [Mistake("engine/cuecard/engine.py:7", (change,), "", tests, 1.0, functions=2) for change in "xyz"]
    noticed = (tests[:2], tests[2:4], ("the limit of 3 s",))
    done = {each.name: Outcome(each.name, told, 1.0) for each, told in zip(asked, noticed, strict=True)}

    told = [*spare(asked, done)]
    assert told[0].startswith("1 of 4 functions of tests notice what all of them do")
    assert [line.split() for line in told[2:]] == [
        ["1", "of", "3", "t.py::test_a"],
        ["1", "of", "2", "t.py::test_c"],
        ["0", "of", "1", "t.py::test_d"],
    ]


@pytest.mark.skipif(not MAKER.exists(), reason="`make mutate` installs mutmut")
def test_a_seed_draws_the_same_mistakes_each_of_which_is_python() -> None:
    nobody = Contexts({}, lambda _: {})
    file = "engine/cuecard/pipeline/cues.py"
    first, again, other = (drawn(ROOT, [file], seed, 5, nobody) for seed in (7, 7, 8))

    assert first == again != other
    assert len({each.name for each in first}) == 5
    for each in first:
        compile(each.text, file, "exec")
        assert each.text != (ROOT / file).read_text(encoding="utf-8")
