"""The examples of docs/caching.md are conversations that can be read, of the forms that the page says."""

from __future__ import annotations

import re
from pathlib import Path

from cuecard.config.transcript_file import TranscriptFile
from cuecard.workbench.transcripts.formats import FORMS, read_conversation

PAGE = (Path(__file__).parents[2] / "docs" / "caching.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def read(number: int) -> TranscriptFile:
    return read_conversation(EXAMPLES[number], f"example {number}").transcript


def test_the_first_example_is_a_transcript_of_our_own() -> None:
    turn = read(0).turns[0]

    assert [len(request.calls) for request in turn.requests] == [1, 1, 0]
    assert [call.tool for request in turn.requests for call in request.calls] == ["tool_search", "cms_listPages"]


def test_the_second_example_is_a_log_of_anthropic() -> None:
    transcript = read(1)
    (request,) = transcript.turns[0].requests

    assert transcript.source == "anthropic"
    assert request.text == "There is one: Home."
    assert request.usage
    assert request.usage.input_tokens == 1440
    assert request.at
    assert request.at.hour == 9


def test_every_form_is_named() -> None:
    assert [form for form in FORMS if f"`{form}`" not in PAGE] == ["auto", "cuecard"]
    assert len(EXAMPLES) == 2
