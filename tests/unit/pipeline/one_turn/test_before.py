"""Conversations of the shipped systems that were stored within a turn, before texts had a lifetime.

`before/` was written by the version of 24 November 2026: a first user message with a text for its turn alone, which
stood in the system prompt then, and `Turn.ephemeral`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Engine, InputError, Turn
from cuecard.adapters.openai import chat_request

BEFORE = Path(__file__).parent / "before"
PROMPTS = Path(__file__).parents[4] / "prompts"
NOW = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
TEXTS = {"polyant": "ORDER-7-OF-JANA", "pioneer": "ORDER-7-OF-JANA", "mushroom": "HEARTBEAT_OK", "cms": "BE-BRIEF-ONCE"}


@pytest.mark.parametrize("system", TEXTS)
def test_it_loads_and_the_next_turn_has_nothing_of_the_turn_that_was_stored(system: str) -> None:
    engine, text = Engine.open(PROMPTS / system), (BEFORE / f"{system}.json").read_text(encoding="utf-8").strip()
    chat = engine.load(text)
    with pytest.raises(InputError, match="stale-call") as caught:
        chat.step()
    assert caught.value.problems[0].hint, "its own turn does not go on with other files than those of then"
    told = [cut.reason for cut in chat.user(Turn(now=NOW)).record.cuts if cut.what == "baseline"]
    body = str(chat_request(chat.step(), [{"role": "user", "content": "Hello again"}], model="gpt-5.2"))

    assert [each for each in (TEXTS[system], "BE-BRIEF-ONCE") if each in text] != []
    assert [each for each in (TEXTS[system], "BE-BRIEF-ONCE") if each in body] == []
    assert engine.load(engine.dump(chat)).step() == chat.step()
    assert told == ["the configuration changed: the system prompt differs from the one sent before"]
