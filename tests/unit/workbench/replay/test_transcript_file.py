"""Transcripts as files: every mistake at its place, and places that are really those of the values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.documents.document import json_places
from cuecard.config.transcript_file import TranscriptFile, read_transcript
from cuecard.files.safe_read import MAX_LOG_BYTES, read_text
from unit.workbench.replay.small import PAGES, pages

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def walk(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(path, value), *(found for key, item in inner for found in walk(item, (*path, key)))]


@given(value=JSON, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_every_value_appears_where_its_span_says(value: Any, indent: int | None, *, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    lines = text.split("\n")
    keys, values = json_places(text)

    assert list(values) == [path for path, _ in walk(value)]
    for path, inner in walk(value):
        span = values[path]
        written = lines[span.line - 1][span.column - 1 : span.column - 1 + span.length]
        assert written in {"[", "{"} if isinstance(inner, (list, dict)) else json.loads(written) == inner
    for path, span in keys.items():
        written = lines[span.line - 1][span.column - 1 : span.column - 1 + span.length]
        assert json.loads(written) == path[-1]


def test_a_transcript_reads_back_what_was_written() -> None:
    text = json.dumps(pages().model_dump(mode="json", exclude_defaults=True))

    assert read_transcript(text, "again.json") == pages()
    assert isinstance(pages(), TranscriptFile)


FIVE = '"a", '


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", 'talk.json: error[wrong-value]: a transcript must be an object\n  = write `{"turns": [...]}`'),
        (
            '{"turns": [\n {"user": 3, "requests": [{}]}]}',
            "talk.json:2:11: error[wrong-value]: `turns.0.user` should be a text",
        ),
        (
            '{"turns": [{"user": "a", "requests": [{"at": "2026-11-20"}]}]}',
            "talk.json:1:46: error[wrong-value]: `turns.0.requests.0.at` should have a zone",
        ),
        (
            '{"turns": [{"user": "a", "requests": [{}]}],\n "usage": 1}',
            "talk.json:2:2: error[unknown-key]: unknown key `usage`",
        ),
        ('{"turns": [\n}', "talk.json:2:1: error[json-syntax]: Expecting value\n  2 | }\n    | ^"),
        (
            f'{{"turns": [{FIVE * 2_000}?]}}',
            f"talk.json:1:10012: error[json-syntax]: Expecting value\n  1 | …{FIVE * 12}?]}}…\n    | {' ' * 61}^",
        ),
        ("[" * 200_000, "talk.json: error[json-syntax]: nested too deeply"),
    ],
    ids=["list", "number", "zone", "key", "syntax", "long line", "depth"],
)
def test_a_mistake_is_reported_at_its_place(text: str, told: str) -> None:
    with pytest.raises(SpecError) as raised:
        read_transcript(text, "talk.json")

    assert str(raised.value).startswith(told)


def test_a_log_may_be_larger_than_a_prompt_file(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(" " * 2_000_000 + PAGES.read_text(encoding="utf-8"), encoding="utf-8")

    assert read_transcript(read_text(path, limit=MAX_LOG_BYTES).text, "log.json") == pages()
