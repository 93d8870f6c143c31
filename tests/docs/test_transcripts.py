"""The examples of docs/transcripts.md are conversations that can be read, of the forms that the page says."""

from __future__ import annotations

import re
from pathlib import Path

from cuecard.config.transcript_file import TranscriptFile
from cuecard.workbench.transcripts.formats import FORMS, read_conversation

PAGE = (Path(__file__).parents[2] / "docs" / "transcripts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def read(number: int) -> TranscriptFile:
    return read_conversation(EXAMPLES[number], f"example {number}").transcript


def test_the_first_example_is_a_transcript_of_our_own() -> None:
    turn = read(0).turns[0]

    assert [len(request.calls) for request in turn.requests] == [1, 1, 0]
    assert turn.requests[2].usage
    assert [tool.name for tool in read(0).tools] == ["tool_search", "cms_listPages"]


def test_the_second_example_is_a_log_of_anthropic() -> None:
    transcript = read(1)
    first, second = transcript.turns[0].requests

    assert transcript.source == "anthropic"
    assert (first.calls[0].tool, first.calls[0].result) == ("cms_listPages", "[]")
    assert first.usage
    assert first.usage.input_tokens == 1440
    assert second.at
    assert second.at.second == 4


def test_every_form_is_named() -> None:
    assert [form for form in FORMS if f"`{form}`" not in PAGE] == ["auto", "cuecard"]
    assert len(EXAMPLES) == 2
