"""The sliding window of Polyant: 16 loaded, up to 15 kept whole, the last 10 on overflow."""

import pytest

from cuecard.config.history_spec import SummarySpec, WindowHistory
from cuecard.pipeline.history.selection import apply_summary, select, summary_due
from cuecard.types import Summary
from unit.pipeline.history.chat import calls, reasons, result, talk, texts, user, words

WINDOW = WindowHistory(policy="window")


@pytest.mark.parametrize("count", [0, 1, 10, 15])
def test_up_to_fifteen_messages_are_passed_unchanged(count: int) -> None:
    """Polyant: up to 15 messages, all are included unchanged, and no summary does."""
    selected = select(talk(count), "", WINDOW, words)

    assert selected.messages == tuple(talk(count))
    assert (selected.overflow, selected.cuts, selected.dropped) == (False, (), ())


@pytest.mark.parametrize("count", [16, 17, 40])
def test_with_more_only_the_last_ten_are_passed(count: int) -> None:
    """Polyant: from 16 messages on, the last 10 are included."""
    selected = select(talk(count), "", WINDOW, words)

    assert selected.overflow
    assert selected.messages == tuple(talk(count)[-10:])
    assert selected.dropped == tuple(talk(count)[:-10])


def test_without_overflow_a_stored_summary_is_not_shown_and_the_record_says_why() -> None:
    selected = select(talk(15), "They spoke of May.", WINDOW, words)

    assert (selected.summary, selected.as_message) == ("", None)
    assert reasons(selected.cuts) == {"history summary": "history.keep: nothing has overflowed for it to replace"}
    assert selected.store.text == "They spoke of May."


def test_on_overflow_the_stored_summary_is_shown() -> None:
    selected = select(talk(16), "They spoke of May.", WINDOW, words)

    assert selected.summary == "They spoke of May."
    assert selected.as_message is None


def test_the_first_turn_that_overflows_has_no_summary_and_the_next_one_does() -> None:
    first = apply_summary(talk(16), "", WINDOW, words, "They greeted each other.")
    second = select(talk(18), first.store, WINDOW, words)

    assert first.summary == ""
    assert second.summary == "They greeted each other."


def test_what_is_summarized_is_what_was_loaded_and_left_out() -> None:
    request = summary_due(talk(20), "They greeted each other.", WINDOW, words)

    assert request is not None
    assert request.text == (
        "Previous summary: They greeted each other.\n\n"
        "Messages to summarize:\n"
        "User: message 5\nAssistant: message 6\nUser: message 7\n"
        "Assistant: message 8\nUser: message 9\nAssistant: message 10"
    )


def test_every_message_left_out_has_a_cut_with_its_reason() -> None:
    selected = select(talk(20), "", WINDOW, words)

    assert reasons(selected.cuts) == {
        "history messages 1 to 4": "history.load: older than the newest 16 messages",
        "history messages 5 to 10": "history.on_overflow: more than 15 messages, so only the last 10 are included",
    }
    assert [cut.tokens for cut in selected.cuts] == [0, 6 * (4 + 2)]


def test_nothing_is_summarized_before_there_is_an_overflow() -> None:
    assert summary_due(talk(15), "", WINDOW, words) is None


@pytest.mark.parametrize("reply", [None, "", " \n"])
def test_a_summarizer_that_says_nothing_leaves_the_old_summary(reply: str | None) -> None:
    selected = apply_summary(talk(16), "old", WINDOW, words, reply)

    assert selected == select(talk(16), "old", WINDOW, words)
    assert selected.store.text == "old"


def test_an_answer_that_nobody_asked_for_counts_for_nothing() -> None:
    assert apply_summary(talk(3), "old", WINDOW, words, "new") == select(talk(3), "old", WINDOW, words)


def test_a_summary_made_before_the_request_is_shown_in_it() -> None:
    spec = WindowHistory(policy="window", summarize="before", summary=SummarySpec(show="message"))
    selected = apply_summary(talk(16), "old", spec, words, "new")

    assert selected.as_message is not None
    assert selected.as_message.content == "Summary of earlier conversation:\nnew"
    assert selected.summary == "", "it is shown once"
    assert selected.store == Summary("new", covers=6)


def test_the_numbers_are_configuration() -> None:
    spec = WindowHistory(policy="window", load=4, keep=3, on_overflow=1)

    assert texts(select(talk(3), "", spec, words).messages) == ["message 1", "message 2", "message 3"]
    assert texts(select(talk(4), "", spec, words).messages) == ["message 4"]


def test_a_tool_call_that_would_be_cut_from_its_results_stays_out_with_them() -> None:
    spec = WindowHistory(policy="window", load=5, keep=4, on_overflow=2)
    history = [user("a"), calls("1", "2"), result("1"), result("2"), user("b")]

    assert texts(select(history, "", spec, words).messages) == ["b"]


def test_never_summarize_means_never() -> None:
    assert summary_due(talk(16), "", WindowHistory(policy="window", summarize="never"), words) is None
