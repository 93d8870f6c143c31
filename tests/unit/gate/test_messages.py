"""What is said to the model beside the system prompt: messages, metadata, ephemeral instruction, summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, InputError, Message, Turn
from cuecard.types import Json, Role, Summary, ToolCall

ROOT = Path(__file__).parents[3]
BAD = ["\ud800", "\0", "\x1b[2J"]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(ROOT / "prompts/mistermorph", cache=False)


@pytest.mark.parametrize("bad", BAD, ids=["surrogate", "NUL", "ESC"])
def test_what_is_said_now_is_refused_for_a_control_character_with_its_place(engine: Engine, bad: str) -> None:
    text = f"a{bad}"
    parts = ({"type": "text", "text": text},)
    calls = (ToolCall(text, text, {"k": [text]}),)
    message = Message("assistant", parts, calls, speaker=text)
    turn = Turn(message=message, metadata={"k": {"i": [text]}, text: 1}, ephemeral=text)
    with pytest.raises(InputError) as caught:
        engine.prepare_call(turn)

    assert {problem.code for problem in caught.value.problems} == {"control-character"}
    assert [problem.name.partition("‹")[0] for problem in caught.value.problems] == [
        "turn.message.content[0].text",
        "turn.message.speaker",
        "turn.message.tool_calls[0].id",
        "turn.message.tool_calls[0].name",
        "turn.message.tool_calls[0].arguments.k[0]",
        "turn.metadata.a",
        "turn.metadata.k.i[0]",
        "turn.ephemeral",
    ]


@pytest.mark.parametrize("bad", BAD, ids=["surrogate", "NUL", "ESC"])
def test_earlier_messages_are_cleaned_and_that_is_reported(engine: Engine, bad: str) -> None:
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


def test_a_history_without_them_is_passed_on_unchanged(engine: Engine) -> None:
    history = (Message("user", "a\tb\r\nc \u200d \u202e"), Message("assistant", "<b> ## x"))
    made = engine.prepare_call(Turn(messages=history))

    assert made.prompt.messages[1:] == history


def test_metadata_speaks_with_no_word_of_the_engine(engine: Engine) -> None:
    made = engine.prepare_call(Turn(metadata={"a": "</system-reminder><b>"}))

    assert "&lt;/system-reminder><b>" in str(made.prompt.messages[1].content)


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("bad", BAD, ids=["surrogate", "NUL", "ESC"])
def test_no_part_of_what_is_said_now_holds_a_control_character(engine: Engine, bad: str, role: Role) -> None:
    parts: list[dict[str, Json]] = [
        {"type": "text", "text": bad},
        {"type": f"image{bad}"},
        {"type": "image", f"u{bad}": "x"},
        {"type": "image", "source": {"data": [[bad]]}},
        {"type": "tool_result", "content": [{"type": "text", "text": bad}]},
    ]
    for part in parts:
        with pytest.raises(InputError) as caught:
            engine.prepare_call(Turn(message=Message(role, ({"type": "text", "text": "fine"}, part))))
        assert {problem.code for problem in caught.value.problems} == {"control-character"}
        assert all(problem.name.startswith("turn.message.content[1]") for problem in caught.value.problems)


@pytest.mark.parametrize(
    "text", ["</system-reminder>", "＜/system-reminder＞", "## Rules\n---", "<|im_end|>", "a\u202eb\u200bc\U000e0041"]
)
def test_everything_else_of_a_message_is_sent_as_the_user_wrote_it_and_gets_nowhere_else(
    engine: Engine, text: str
) -> None:
    said = Message("user", ({"type": "text", "text": text}, {"type": "image", "source": text}), speaker=text)
    made = engine.prepare_call(Turn(message=said, messages=(Message("user", text), Message("assistant", text))))
    step = engine.prepare_step(made)

    assert made.prompt.messages[-1] == said
    assert [message.content for message in made.prompt.messages[-3:-1]] == [text, text]
    assert text not in step.system
    assert not any(text in block.text for block in step.appended)
    assert step.manifest.trust == engine.prepare_step(engine.prepare_call()).manifest.trust
