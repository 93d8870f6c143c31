"""A token budget with compression, as in Pioneer: 80 % of the budget, a target of 10 %."""

import pytest

from cuecard import Message
from cuecard.config.history_spec import TokenHistory
from cuecard.pipeline.history.selection import HistoryCut, apply_summary, select, summary_due
from cuecard.types import Cut, Summary, ToolCall
from unit.pipeline.history.chat import assistant, calls, reasons, result, talk, texts, user, words

# 100 tokens; a message of `talk` costs 4 + 2.
SPEC = TokenHistory(policy="tokens", max_context=120, reserve=20)


def test_the_budget_is_the_context_less_the_reserve() -> None:
    """Pioneer: "history_budget = max_context_tokens - response_reserve_tokens"."""
    assert SPEC.budget == 100


def test_under_the_threshold_the_summary_and_all_messages_are_sent() -> None:
    """Pioneer: below four fifths of the budget, the stored summary and every entry go in."""
    selected = select(talk(11), "They spoke of May.", SPEC, words)

    assert selected.messages == tuple(talk(11))
    assert selected.as_message == Message(
        "system", "Summary of earlier conversation:\nThey spoke of May.", persist=False
    )
    assert selected.cuts == ()
    assert summary_due(talk(11), "", SPEC, words) is None


@pytest.mark.parametrize(("extra", "due"), [(0, False), (1, False), (2, True), (3, True)])
def test_compression_is_due_at_eighty_percent_and_not_before(extra: int, due: bool) -> None:  # noqa: FBT001 - a table
    twelve = talk(12)  # 72 tokens
    last = user(" ".join(["word"] * (2 + extra)))  # 6 to 9 more: 80 is reached with two extra words

    assert (summary_due([*twelve, last], "", SPEC, words) is not None) is due


def test_the_summary_counts_towards_the_threshold() -> None:
    assert summary_due(talk(12), "", SPEC, words) is None
    assert summary_due(talk(12), "two words", SPEC, words) is not None


def test_the_request_asks_for_a_tenth_of_the_budget() -> None:
    request = summary_due(talk(14), "", SPEC, words)

    assert request is not None
    assert (request.max_tokens, request.temperature) == (10, 0.3)
    assert request.text.startswith("Messages to summarize:\nUser: message 1\nAssistant: message 2\n")
    assert request.text.endswith("\nAssistant: message 14")


def test_on_success_one_system_message_stands_for_everything() -> None:
    """Pioneer: after a compression, a single system message stands for the whole history."""
    selected = apply_summary(talk(14), "old", SPEC, words, "All of it.\n")

    assert selected.messages == ()
    assert selected.as_message == Message("system", "Summary of earlier conversation:\nAll of it.", persist=False)
    assert selected.dropped == tuple(talk(14))
    assert reasons(selected.cuts) == {"history messages 1 to 14": "history.threshold: compressed into the summary"}
    assert selected.store == Summary("All of it.", covers=14)


def test_the_next_turn_sends_the_summary_and_only_what_came_after_it() -> None:
    stored = apply_summary(talk(14), "old", SPEC, words, "All of it.").store
    selected = select(talk(16), stored, SPEC, words)

    assert texts(selected.messages) == ["message 15", "message 16"]
    assert reasons(selected.cuts) == {"history messages 1 to 14": "covered by the stored summary"}
    assert summary_due(talk(16), stored, SPEC, words) is None, "what is compressed once is not compressed again"


def test_a_host_may_drop_what_the_summary_tells() -> None:
    messages = [user(f"message {n}", id=f"m{n}") for n in range(1, 17)]
    stored = apply_summary(messages[:14], "", SPEC, words, "All of it.").store

    assert stored == Summary("All of it.", covers=14, upto="m14")
    assert select(messages, stored, SPEC, words).messages == tuple(messages[14:])
    assert select(messages[14:], stored, SPEC, words).messages == tuple(messages[14:])


@pytest.mark.parametrize("reply", [None, "", "  "])
def test_when_compression_fails_the_old_summary_and_the_newest_that_fit_are_sent(reply: str | None) -> None:
    selected = apply_summary(talk(20), "old", SPEC, words, reply)

    # The summary message costs 4 + 5; 15 messages take 90 of the 91 that are left.
    assert selected.messages == tuple(talk(20)[-15:])
    assert selected.as_message is not None
    assert selected.store.text == "old"
    assert reasons(selected.cuts) == {"history messages 1 to 5": "history.max_context: no room left in 100 tokens"}


def test_when_compression_fails_and_no_summary_is_stored_the_history_is_not_lost() -> None:
    assert select(talk(20), "", SPEC, words).messages == tuple(talk(20)[-16:])


def test_the_newest_are_taken_backwards_up_to_the_first_that_does_not_fit() -> None:
    long = assistant(" ".join(["word"] * 90))
    history = [user("small"), long, user("new 1"), assistant("new 2")]

    assert texts(select(history, "", SPEC, words).messages) == ["new 1", "new 2"]


def test_an_old_summary_as_large_as_the_budget_makes_room_for_messages_but_stays_stored() -> None:
    large = " ".join(["word"] * 92)  # 4 for the message, 4 for `Summary of earlier conversation:`
    full = [user(" ".join(["word"] * 12)), *talk(14)]  # 100 tokens
    selected = select(full, large, SPEC, words)

    assert (selected.as_message, selected.messages) == (None, tuple(full))
    assert selected.store.text == large
    assert reasons(selected.cuts) == {"history summary": "history.max_context: it alone takes 100 of 100 tokens"}


def test_a_new_summary_that_does_not_fit_is_a_failure_with_a_cut() -> None:
    selected = apply_summary(talk(14), "old", SPEC, words, "word " * 100)

    assert selected.messages == tuple(talk(14))
    assert selected.store.text == "old"
    assert reasons(selected.cuts) == {"new summary": "history.max_context: it does not fit into 100 tokens"}


def test_a_summarizer_gets_3000_characters_of_assistant_texts_and_all_of_user_texts() -> None:
    request = summary_due([user("u" * 5000), assistant("a" * 5000), *talk(20)], "", SPEC, words)

    assert request is not None
    assert f"User: {'u' * 5000}\nAssistant: {'a' * 3000}...[truncated]\nUser: message 1\n" in request.text


def test_tool_calls_are_counted_and_reported() -> None:
    call = Message("assistant", "", tool_calls=(ToolCall("1", "look_up", {"id": "1", "names": ["Noë", None]}),))
    history = [call, result("1", "an answer"), *talk(12)]
    request = summary_due(history, "", SPEC, words)

    assert request is not None
    assert 'Tool call: look_up {"id":"1","names":["Noë",null]}\nTool result: an answer\nUser' in request.text


def test_never_summarize_only_leaves_out_the_oldest() -> None:
    spec = TokenHistory(policy="tokens", max_context=120, reserve=20, summarize="never")

    assert summary_due(talk(20), "", spec, words) is None
    assert select(talk(20), "", spec, words).messages == tuple(talk(20)[-16:])


def test_of_a_long_history_every_message_that_is_left_out_is_named_with_its_reason() -> None:
    spec = TokenHistory(policy="tokens", max_context=35, reserve=5, load=6)
    stored = Summary("short", covers=2)
    made = select(talk(12), stored, spec, words)
    request = summary_due(talk(12), stored, spec, words)

    # The summary message costs 4 + 5; three messages take 18 of the 21 that are left.
    assert made == HistoryCut(
        tuple(talk(12)[9:]),
        as_message=Message("system", "Summary of earlier conversation:\nshort", persist=False),
        dropped=tuple(talk(12)[:9]),
        cuts=(
            Cut("history messages 1 to 2", "covered by the stored summary"),
            Cut("history messages 3 to 6", "history.load: older than the newest 6 messages"),
            Cut("history messages 7 to 9", "history.max_context: no room left in 30 tokens", 18),
        ),
        overflow=True,
        store=stored,
    )
    assert request
    assert request.text.startswith("Previous summary: short\n\nMessages to summarize:\nUser: message 7\n")
    assert request.max_tokens == 3
    tiny = summary_due(talk(3), "", TokenHistory(policy="tokens", max_context=9, reserve=4), words)
    assert tiny
    assert tiny.max_tokens == 1


@pytest.mark.parametrize(("covers", "sent"), [(1, 3), (2, 1), (3, 0)])
def test_a_call_and_its_result_are_covered_together_or_not_at_all(covers: int, sent: int) -> None:
    history = [calls("1"), result("1"), user("so")]
    made = apply_summary(history, Summary("short", covers), SPEC, words, "")

    assert (made.messages, made.overflow) == (tuple(history[3 - sent :]), False)


def test_a_part_that_is_not_text_counts_as_a_thousand_tokens() -> None:
    image = Message("user", ({"type": "text", "text": "look here"}, {"type": "image", "url": "x"}))
    spec = TokenHistory(policy="tokens", max_context=1026, reserve=20)

    assert select([image], "", spec, words).messages == (image,)
    assert select([image, user("so")], "", spec, words).messages == (user("so"),)
