"""Pictures and files in results: a mark in the text, and what the tool wrote beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cuecard import Engine, ToolResult
from cuecard.types import Json

DATA = "iVBORw0KGgo" * 2000
PDF = {"type": "resource", "resource": {"uri": "a.pdf", "mimeType": "application/pdf", "blob": DATA}}
BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
BEDROCK = {"image": {"format": "png", "source": {"bytes": DATA}}}
MARK = "[image/png: not shown as text]"
PICTURE = {"type": "image", "data": DATA, "mimeType": "image/png"}
TEXT = {"type": "text", "text": "The team"}


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(
        'agent: a\nresults: {told: "<r>{{{content}}}</r>"}\nsections: [{id: role, text: You help.}]\n', encoding="utf-8"
    )
    return Engine.open(tmp_path)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [TEXT, PICTURE]}, f"The team\n{MARK}"),
        ({"content": [PICTURE, TEXT, PICTURE], "isError": False}, f"{MARK}\nThe team\n{MARK}"),
        ([TEXT, PICTURE], f"The team\n{MARK}"),
        ([PICTURE], MARK),
        (PICTURE, MARK),
        ({**PICTURE, "mimeType": "image/png\x00\x1b"}, MARK),  # a kind cannot forge a line
        (json.dumps({"content": [TEXT, PICTURE]}), f"The team\n{MARK}"),
        ({"structuredContent": {"id": 7}, "content": [TEXT, PICTURE]}, f'{{"id": 7}}\n{MARK}'),
        (
            {
                "content": [
                    {"type": "resource", "resource": {"uri": "a.pdf", "mimeType": "application/pdf", "blob": DATA}}
                ]
            },
            "[application/pdf: not shown as text]",
        ),
        (
            [{"type": "resource", "resource": {"uri": "a.txt", "text": "Hello"}}, PICTURE],
            f"Hello\n{MARK}",
        ),
        ([{"type": "audio", "data": DATA, "mimeType": "audio/wav"}], "[audio/wav: not shown as text]"),
        (
            [TEXT, BLOCK],
            f"The team\n{MARK}",
        ),
        ([{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}, TEXT], f"{MARK}\nThe team"),
        ([{"type": "input_image", "image_url": f"data:image/png;base64,{DATA}"}], MARK),
        (
            [{"text": "The team"}, BEDROCK],
            "The team\n[png: not shown as text]",
        ),
        ([{"inlineData": {"mimeType": "image/png", "data": DATA}}], MARK),
        ({"title": "Home", "image": f"data:image/png;base64,{DATA}"}, f'{{"title": "Home", "image": "{MARK}"}}'),
        (f"Look: data:image/png;base64,{DATA} there", f"Look: {MARK} there"),
        ({"pages": [{"id": 1, "thumb": PICTURE}]}, f'{{"pages": [{{"id": 1, "thumb": "{MARK}"}}]}}'),
    ],
)
def test_a_picture_is_a_mark_in_the_text_and_goes_beside_it(engine: Engine, result: Json, text: str) -> None:
    told = engine.render_result(ToolResult("get", result))
    ruled = engine.render_result(ToolResult("told", result))

    assert told.text == text
    assert DATA not in ruled.text
    assert DATA in json.dumps(told.media)
    assert len(told.media) == len(ruled.media) == told.text.count("not shown as text") == told.to_json()["media"]
    assert engine.render_result(ToolResult("get", result)) == told


@pytest.mark.parametrize(
    "result",
    [
        {"id": "img-1", "type": "image", "url": "/uploads/team.png", "mimeType": "image/png", "name": "Team"},
        {"data": [{"id": 1, "type": "file", "mimeType": "text/plain"}]},
        {"content": [{"type": "text", "text": "two"}, {"type": "text", "text": "parts"}]},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"mimeType": "text/plain", "data": "not base64: a sentence!"},
        {"data": "abc", "type": "image"},
        'text that says "mimeType"',
        "[" * 5000 + '"mimeType"',
        None,
        7,
    ],
)
def test_what_holds_no_bytes_is_sent_as_it_is(engine: Engine, result: Json) -> None:
    told = engine.render_result(ToolResult("get", result))

    assert told.media == ()
    assert told.text == (result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))
