"""`make explore` finds what does not hold, and says how to see it again."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from explore.run import main

PROPERTIES = """\
from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

@given(st.integers())
def test_all_numbers_are_small(number):
    assert number < 1000

@given(st.integers())
def test_numbers_are_numbers(number):
    assert number == number

def test_anything_but_a_property_is_left_out():
    assert False

class Machine(RuleBasedStateMachine):
    @rule()
    def fail(self):
        raise ValueError("of the machine")

TestMachine = Machine.TestCase
"""


@pytest.fixture(autouse=True)
def _with_few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that pyproject.toml leaves out, and all others that nothing needs here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin -p _hypothesis_pytestplugin")


def test_what_is_found_can_be_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(PROPERTIES, encoding="utf-8")
    found = main([str(file), "--rounds", "1", "--jobs", "1"])
    said = capsys.readouterr().out

    assert found == 1
    assert "3 properties, 2 broken" in said
    assert "assert 1000 < 1000" in said
    assert f"FOUND {file}::TestMachine::runTest" in said
    (replay,) = re.findall(r"^replay: (.*test_all_numbers.*)$", said, re.MULTILINE)
    again = subprocess.run(replay, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S602 - as people paste it
    assert "assert 1000 < 1000" in again.stdout


def test_what_holds_is_reported_and_what_is_not_a_test_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "absent.py"), "--rounds", "1", "--jobs", "1"]) == 1
    assert "pytest failed" in capsys.readouterr().out
