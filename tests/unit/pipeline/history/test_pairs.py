"""Tool calls are never separated from their results (MushroomAgent), whatever the policy."""

import pytest

from cuecard import Message
from cuecard.config.history_spec import LastHistory
from cuecard.pipeline.history.selection import select
from unit.pipeline.history.chat import assistant, calls, reasons, result, user, words

LAST = LastHistory(policy="last")


def test_a_result_without_its_call_is_removed() -> None:
    selected = select([user("a"), result("9"), user("b")], "", LAST, words)

    assert selected.messages == (user("a"), user("b"))
    assert reasons(selected.cuts) == {"history message 2": "a tool result without its call"}


def test_a_block_of_calls_that_lacks_a_result_is_dropped_with_the_results_it_has() -> None:
    selected = select([user("a"), calls("1", "2"), result("1"), user("b")], "", LAST, words)

    assert selected.messages == (user("a"), user("b"))
    assert reasons(selected.cuts) == {"history messages 2 to 3": "incomplete tool calls: 1 without a result"}


def test_a_result_is_placed_right_after_its_call() -> None:
    selected = select([calls("1", "2"), result("2"), user("meanwhile"), result("1")], "", LAST, words)

    assert selected.messages == (calls("1", "2"), result("2"), result("1"), user("meanwhile"))
    assert selected.cuts == ()


def test_a_second_result_of_the_same_call_is_removed() -> None:
    assert select([calls("1"), result("1"), result("1", "again")], "", LAST, words).messages == (
        calls("1"),
        result("1"),
    )


def test_an_id_may_be_used_again_by_a_later_call() -> None:
    history = [calls("1"), result("1", "x"), calls("1"), result("1", "y")]

    assert select(history, "", LAST, words).messages == tuple(history)


def test_from_a_later_call_of_the_same_id_on_results_are_those_of_the_later_call() -> None:
    history = [calls("1", text="a"), calls("1", text="b"), result("1"), result("1")]

    assert select(history, "", LAST, words).messages == (calls("1", text="b"), result("1"))


def test_blank_and_system_messages_are_dropped() -> None:
    """MisterMorph: history is "non-system messages"; blank ones go as well."""
    blank_part = Message("assistant", ({"type": "text", "text": " "},))
    history = [Message("system", "be kind"), user(" \n"), blank_part, user("a")]
    selected = select(history, "", LAST, words)

    assert selected.messages == (user("a"),)
    assert reasons(selected.cuts) == {
        "history message 1": "history.drop: a system message",
        "history messages 2 to 3": "history.drop: blank",
    }


@pytest.mark.parametrize("message", [Message("system", "be kind"), user(" ")])
def test_the_agent_file_can_keep_them(message: Message) -> None:
    assert select([message], "", LastHistory(policy="last", drop=()), words).messages == (message,)


def test_a_call_without_text_and_an_empty_result_are_not_blank() -> None:
    history = [calls("1"), result("1", "")]

    assert select(history, "", LAST, words).messages == tuple(history)


def test_a_message_with_an_image_alone_is_not_blank() -> None:
    history = [Message("user", ({"type": "image", "url": "x"},)), assistant("I see.")]

    assert select(history, "", LAST, words).messages == tuple(history)
