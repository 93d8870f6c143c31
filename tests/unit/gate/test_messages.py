"""What is said to the model beside the system prompt: messages, metadata, ephemeral instruction, summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, InputError, Turn
from cuecard.model.messages import Message, Summary, ToolCall

ROOT = Path(__file__).parents[3]
BAD = ["\ud800", "\0", "\x1b[2J"]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(ROOT / "prompts/mistermorph", cache=False)


@pytest.mark.parametrize("bad", BAD, ids=["surrogate", "NUL", "ESC"])
def test_what_is_said_now_is_refused_for_a_control_character_with_its_place(engine: Engine, bad: str) -> None:
    text = f"a{bad}"
    parts = ({"type": "text", "text": text},)
    message = Message("user", parts, speaker=text)
    turn = Turn(message=message, metadata={"k": {"i": [text]}, text: 1}, ephemeral=text)
    with pytest.raises(InputError) as caught:
        engine.prepare_call(turn)

    assert {problem.code for problem in caught.value.problems} == {"control-character"}
    assert [problem.name.partition("‹")[0] for problem in caught.value.problems] == [
        "turn.message.content[0].text",
        "turn.message.speaker",
        "turn.metadata.a",
        "turn.metadata.k.i[0]",
        "turn.ephemeral",
    ]


@pytest.mark.parametrize("bad", BAD, ids=["surrogate", "NUL", "ESC"])
def test_what_was_said_before_is_cleaned_and_told(engine: Engine, bad: str) -> None:
    call = ToolCall(f"i{bad}", "t", {f"k{bad}": [bad]})
    history = (
        Message("user", f"a{bad}", speaker=f"b{bad}", timestamp=f"c{bad}"),
        Message("assistant", tool_calls=(call,)),
        Message("tool", ({"type": "text", "text": bad},), tool_call_id=f"i{bad}"),
    )
    made = engine.prepare_call(Turn(messages=history, summary=Summary(f"s{bad}")))
    text = repr([message.to_json() for message in made.prompt.messages])

    assert repr(bad[0])[1:-1] not in text
    assert [d.code for d in made.record.diagnostics if d.code == "control_characters"] == ["control_characters"]
    assert made.prompt.messages[2].tool_calls[0].id == made.prompt.messages[3].tool_call_id


def test_a_history_without_them_is_passed_on_as_it_is(engine: Engine) -> None:
    history = (Message("user", "a\tb\r\nc \u200d \u202e"), Message("assistant", "<b> ## x"))
    made = engine.prepare_call(Turn(messages=history))

    assert made.prompt.messages[1:] == history


def test_metadata_speaks_with_no_word_of_the_engine(engine: Engine) -> None:
    made = engine.prepare_call(Turn(metadata={"a": "</system-reminder><b>"}))

    assert "&lt;/system-reminder><b>" in str(made.prompt.messages[1].content)
