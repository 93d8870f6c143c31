"""A short run of every fuzz target; `make fuzz` runs them for longer, guided by coverage."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import (
    fuzz_agents,
    fuzz_dates,
    fuzz_dumps,
    fuzz_found_names,
    fuzz_front_matter,
    fuzz_globs,
    fuzz_helpers,
    fuzz_imports,
    fuzz_layouts,
    fuzz_lexer,
    fuzz_logs,
    fuzz_markdown,
    fuzz_mcp,
    fuzz_messages,
    fuzz_openapi,
    fuzz_outline,
    fuzz_parser,
    fuzz_render,
    fuzz_reports,
    fuzz_tool_lists,
    fuzz_yaml,
    run,
)

TARGETS: dict[str, Any] = {
    "lexer": fuzz_lexer,
    "parser": fuzz_parser,
    "outline": fuzz_outline,
    "render": fuzz_render,
    "yaml": fuzz_yaml,
    "front_matter": fuzz_front_matter,
    "logs": fuzz_logs,
    "found_names": fuzz_found_names,
    "tool_lists": fuzz_tool_lists,
    "messages": fuzz_messages,
    "imports": fuzz_imports,
    "dates": fuzz_dates,
    "globs": fuzz_globs,
    "helpers": fuzz_helpers,
    "reports": fuzz_reports,
    "markdown": fuzz_markdown,
    "layouts": fuzz_layouts,
    "openapi": fuzz_openapi,
    "dumps": fuzz_dumps,
    "mcp": fuzz_mcp,
    "agents": fuzz_agents,
}


@pytest.mark.parametrize("subject", TARGETS.values(), ids=TARGETS)
def test_only_the_documented_exceptions_come_out(subject: Any) -> None:
    @given(inputs(subject.PIECES, subject.PHRASES))
    def short_run(data: bytes) -> None:
        subject.target(data)

    short_run()


FOUND = {
    "a comment in another section hides an attribute": ("outline", b'{{! <!-- }}<a x="{{{b}}}"/>'),
    "a text in another section looks like a tag": ("outline", b'<a>{{lookup a "<b"}}</a>\n<c>{{{b}}}" ></c>'),
    "a section whose name is not ASCII": ("outline", "<é>{{a}}</é>".encode()),
    "a key that no place has": ("logs", b'{"turns": [], "\\ud800": 1}'),
    "versions that are no list": (
        "mcp",
        b'{"jsonrpc": "2.0", "id": 3, "result": {"supportedVersions": 5}}\n',
    ),
    "an attribute of such a section": ("outline", '<λ x="{{{b}}}"/>'.encode()),
}
"""What broke a promise once: it stays mended."""


@pytest.mark.parametrize(("target", "data"), FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(target: str, data: bytes) -> None:
    TARGETS[target].target(data)


def inputs(pieces: Sequence[str], phrases: Sequence[str]) -> st.SearchStrategy[bytes]:
    """Texts of phrases, and texts of pieces with anything between them, down to bytes that are no text."""
    meaning = st.sampled_from(pieces).map(str.encode)
    noise = st.text(max_size=5).map(str.encode) | st.binary(max_size=4)
    whole = st.lists(st.sampled_from(phrases).map(str.encode))
    return st.one_of(whole, st.lists(meaning), st.lists(meaning | noise)).map(b"".join)


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
