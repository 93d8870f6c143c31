"""Messages as plain JSON, both ways."""

import json
from datetime import UTC, datetime

import pytest

from cuecard import InputError, Message
from cuecard.types import Summary, ToolCall, messages_from_json
from unit.pipeline.history.chat import user

MESSAGES = (
    Message("system", "Be kind.", persist=False),
    Message("user", "Hello", timestamp="2026-11-20", speaker="Ada", id="m1"),
    Message("user", ({"type": "text", "text": "see"}, {"type": "image", "url": "x"})),
    Message("assistant", "", tool_calls=(ToolCall("c1", "look_up", {"q": 1}), ToolCall("c2", "list"))),
    Message("tool", "found", tool_call_id="c1"),
)


def test_messages_survive_json() -> None:
    travelled = json.loads(json.dumps([message.to_json() for message in MESSAGES]))

    assert messages_from_json(travelled) == MESSAGES


def test_what_is_empty_is_not_written() -> None:
    assert user("Hello").to_json() == {"role": "user", "content": "Hello"}


def test_a_time_becomes_text() -> None:
    message = Message("user", "Hello", timestamp=datetime(2026, 11, 20, 9, tzinfo=UTC))

    assert message.to_json()["timestamp"] == "2026-11-20T09:00:00+00:00"


def test_content_may_be_null_where_there_are_calls() -> None:
    (message,) = messages_from_json(
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "list", "arguments": {}}]}]
    )

    assert message == Message("assistant", tool_calls=(ToolCall("c", "list", {}),))


def test_every_problem_of_every_message_is_reported_at_once() -> None:
    wrong = [
        {"role": "robot", "content": 7, "id": 1, "timestamp": 3},
        {"content": ["text"], "conten": ""},
        {"role": "user", "tool_calls": [{"name": "x", "args": {}}], "tool_call_id": "c1", "persist": "no"},
        {"role": "tool", "content": "found"},
        {"role": "assistant", "tool_calls": {"id": "c"}},
        {"role": "assistant", "tool_calls": ["c"]},
        "hello",
    ]
    with pytest.raises(InputError) as caught:
        messages_from_json(wrong, "history")

    assert [problem.message for problem in caught.value.problems] == [
        "`0.role` should be one of system, user, assistant, tool",
        "`0.content` should be a text or a list of parts",
        "`0.id` should be a text",
        "`0.timestamp` should be a time as text",
        "`1.conten` is not a key of a message",
        "`1.role` should be one of system, user, assistant, tool",
        "`1.content.0` should be a mapping",
        "`2.persist` should be true or false",
        "`2.tool_call_id` is required for tool results and allowed only there",
        "`2.tool_calls` is only allowed in assistant messages",
        "`2.tool_calls.0.args` is not a key of a message",
        "`2.tool_calls.0.id` should be a text that is not empty",
        "`3.tool_call_id` is required for tool results and allowed only there",
        "`4.tool_calls` should be a list of calls",
        "`5.tool_calls.0` should be a mapping",
        "`6` should be a mapping",
    ]
    assert {problem.name for problem in caught.value.problems} == {"history"}
    assert caught.value.problems[4].hint == "did you mean `content`?"


def test_anything_but_a_list_at_all_is_one_problem() -> None:
    with pytest.raises(InputError, match="`messages` should be a list of messages"):
        messages_from_json({"role": "user"})


@pytest.mark.parametrize(
    ("summary", "covered"),
    [
        (Summary("x"), 0),
        (Summary("x", covers=2), 2),
        (Summary("x", covers=9), 0),
        (Summary("x", covers=2, upto="m3"), 3),
        (Summary("x", covers=2, upto="gone"), 0),
    ],
)
def test_how_many_messages_a_summary_tells(summary: Summary, covered: int) -> None:
    assert summary.covered([user(f"{n}", id=f"m{n}") for n in range(1, 5)]) == covered
