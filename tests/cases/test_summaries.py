"""Conversations that grow too long: `summaries/<name>` is an agent, a conversation, and what a summarizer is asked.

`expected.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cuecard import Engine, Message, Turn
from cuecard.types import Summary, SummaryRequest

FOLDER = Path(__file__).parent / "summaries"


@pytest.mark.parametrize("case", sorted(path.name for path in FOLDER.iterdir()))
def test_case(case: str) -> None:
    outcome, expected = _outcome(FOLDER / case), FOLDER / case / "expected.txt"
    if os.environ.get("CUECARD_GOLDEN"):
        expected.write_text(outcome, encoding="utf-8")

    assert outcome == expected.read_text(encoding="utf-8")


def _outcome(folder: Path) -> str:
    talk = YAML(typ="safe").load(folder / "conversation.yaml")
    messages = tuple(Message(each["role"], each["content"]) for each in talk["messages"])
    asked: list[SummaryRequest] = []

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return "A new summary."

    turn = Turn(messages=messages, summary=Summary(talk["summary"]))
    told = Engine.open(folder).summarize(turn, summarizer)
    (request,) = asked
    settings = f"=== at most {request.max_tokens} tokens, at temperature {request.temperature}\n"
    return f"{settings}{request.system}\n=== asked\n{request.text}\n=== stored\n{told.summary}\n"
