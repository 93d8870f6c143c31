"""A short run of every fuzz target; `make fuzz` runs them for longer, guided by coverage."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import fuzz_lexer, fuzz_outline, fuzz_parser, fuzz_render, fuzz_yaml, run

TARGETS = {
    "lexer": (fuzz_lexer.target, fuzz_lexer.PIECES),
    "parser": (fuzz_parser.target, fuzz_parser.PIECES),
    "outline": (fuzz_outline.target, fuzz_outline.PIECES),
    "render": (fuzz_render.target, fuzz_render.PIECES),
    "yaml": (fuzz_yaml.target, fuzz_yaml.PIECES),
}


@pytest.mark.parametrize(("target", "pieces"), TARGETS.values(), ids=TARGETS)
def test_only_the_documented_exceptions_come_out(target: Callable[[bytes], None], pieces: Sequence[str]) -> None:
    @settings(deadline=None, max_examples=500)
    @given(inputs(pieces))
    def short_run(data: bytes) -> None:
        target(data)

    short_run()


def inputs(pieces: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Bytes, and texts made of what means something to the target."""
    meaning = st.sampled_from(pieces).map(str.encode)
    return st.lists(meaning | meaning | st.text(max_size=5).map(str.encode) | st.binary(max_size=4)).map(b"".join)


def test_the_short_and_the_long_run_have_the_same_targets() -> None:
    assert set(TARGETS) == set(run.SEEDS)


def test_where_atheris_is_missing_the_long_run_is_skipped_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    monkeypatch.setattr(sys, "argv", ["run.py", "lexer"])
    monkeypatch.setattr(sys, "path", [*sys.path])

    assert run.main() == 0
    assert capsys.readouterr().out.startswith("fuzz lexer: skipped, atheris is not installed")
