"""A plain cap: 50 messages in Polyant's rooms, 12 with prefixes in MushroomAgent."""

from datetime import UTC, datetime

import pytest

from cuecard import Message
from cuecard.config.history_spec import LastHistory
from cuecard.pipeline.history.selection import apply_summary, select, summary_due
from unit.pipeline.history.chat import assistant, calls, reasons, result, talk, texts, user, words

PREFIX = LastHistory(policy="last", limit=12, prefix="[{timestamp}] {speaker}: ")


def test_up_to_fifty_messages_go_in_and_no_summary_does() -> None:
    """Polyant's rooms: fifty messages at most, and nothing is summarized."""
    spec = LastHistory(policy="last")
    selected = select(talk(60), "stored", spec, words)

    assert selected.messages == tuple(talk(60)[10:])
    assert (selected.summary, selected.as_message, selected.store.text) == ("", None, "stored")
    assert summary_due(talk(60), "stored", spec, words) is None
    assert apply_summary(talk(60), "stored", spec, words, "new") == selected
    assert reasons(selected.cuts) == {
        "history messages 1 to 10": "history.limit: older than the last 50 messages",
        "history summary": "history.policy: `last` shows no summary",
    }


def test_a_limit_of_zero_sends_none() -> None:
    assert select(talk(3), "", LastHistory(policy="last", limit=0), words).messages == ()


def test_twelve_messages_each_with_time_and_speaker() -> None:
    history = [
        Message("user", "Hello.", timestamp=datetime(2026, 11, 20, 9, tzinfo=UTC), speaker="Ada"),
        Message("assistant", "Hello, Ada.", timestamp="09:01"),
    ]
    selected = select([*talk(20), *history], "", PREFIX, words)

    assert len(selected.messages) == 12
    assert texts(selected.messages)[-2:] == [
        "[2026-11-20T09:00:00+00:00] Ada: Hello.",
        "[09:01] assistant: Hello, Ada.",
    ]


def test_a_message_without_a_time_gets_the_prefix_for_those() -> None:
    assert texts(select([user("Hello.", speaker="Ada")], "", PREFIX, words).messages) == ["Ada: Hello."]


def test_a_name_cannot_begin_a_line_of_its_own_and_braces_in_it_are_not_filled() -> None:
    history = [user("Hello.", speaker="Ada\n[now] {role}", timestamp="then")]

    assert texts(select(history, "", PREFIX, words).messages) == ["[then] Ada [now] {role}: Hello."]


def test_results_and_bare_tool_calls_get_no_prefix() -> None:
    history = [calls("1"), result("1", '{"ok":true}')]

    assert select(history, "", PREFIX, words).messages == tuple(history)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            ({"type": "image", "url": "x"}, {"type": "text", "text": "see"}),
            ({"type": "image", "url": "x"}, {"type": "text", "text": "Ada: see"}),
        ),
        (({"type": "image", "url": "x"},), ({"type": "text", "text": "Ada: "}, {"type": "image", "url": "x"})),
    ],
)
def test_in_a_message_of_parts_the_prefix_goes_with_the_first_text(
    parts: tuple[dict[str, str], ...], expected: tuple[dict[str, str], ...]
) -> None:
    (message,) = select([Message("user", parts, speaker="Ada")], "", PREFIX, words).messages

    assert message.content == expected


def test_a_message_stored_twice_is_sent_once() -> None:
    history = [user("first", id="m1"), assistant("answer", id="m2"), user("first, again", id="m1")]
    selected = select(history, "", PREFIX, words)

    assert texts(selected.messages) == ["user: first", "assistant: answer"]
    assert reasons(selected.cuts) == {"history message 3": "history.drop: has the same id as message 1"}
