"""Windows that move in blocks, so that the cached prefix survives (reference on caching, section 4)."""

from cuecard import Message
from cuecard.config.history_spec import BlockHistory
from cuecard.pipeline.history.selection import HistoryCut, apply_summary, select, summary_due
from cuecard.types import Cut, Summary
from unit.pipeline.history.chat import calls, reasons, result, talk, texts, user, words

SPEC = BlockHistory(policy="blocks", limit=8, block=4)


def starts(counts: range, spec: BlockHistory) -> list[int]:
    """The number of the first message that goes in, for each length of the conversation."""
    return [n - len(select(talk(n), "", spec, words).messages) + 1 for n in counts]


def test_the_window_stays_for_a_block_of_messages_and_then_moves_by_one() -> None:
    assert starts(range(1, 19), SPEC) == [1] * 8 + [5] * 4 + [9] * 4 + [13] * 2
    assert starts(range(1, 12), SPEC.model_copy(update={"block": 1})) == [1] * 8 + [2, 3, 4]


def test_over_its_tokens_the_window_moves_down_to_the_low_water_mark() -> None:
    # Messages cost 4 + 2: ten take 60. The eleventh moves the window, until at most 30 are left.
    spec = BlockHistory(policy="blocks", limit=100, block=1, max_tokens=60, low=0.5)

    assert starts(range(1, 18), spec) == [1] * 10 + [7] * 6 + [13]


def test_the_newest_message_stays_where_it_fits_alone() -> None:
    spec = BlockHistory(policy="blocks", max_tokens=20, low=0.1)

    assert texts(select([user("a " * 10), user("b " * 15)], "", spec, words).messages) == ["b " * 15]
    assert select([user("a " * 17)], "", spec, words).messages == ()


def test_what_has_moved_out_has_a_cut() -> None:
    assert reasons(select(talk(9), "", SPEC, words).cuts) == {
        "history messages 1 to 4": "history.block: the window has moved on"
    }


def test_the_next_summary_is_asked_for_with_the_one_before_and_only_what_is_new() -> None:
    request = summary_due(talk(13), Summary("four messages", covers=4), SPEC, words)

    assert request is not None
    assert request.text.startswith("Previous summary: four messages\n\nMessages to summarize:\nUser: message 5\n")
    assert request.text.endswith("\nAssistant: message 8")


def test_what_a_failing_summarizer_has_missed_is_asked_for_again() -> None:
    failed = apply_summary(talk(9), "", SPEC, words, None)
    request = summary_due(talk(13), failed.store, SPEC, words)

    assert request is not None
    assert request.text.startswith("Messages to summarize:\nUser: message 1\n")


def test_prefixes_are_sent_counted_and_summarized_and_a_call_waits_for_its_result() -> None:
    spec = BlockHistory(policy="blocks", limit=9, block=1, max_tokens=16, low=1, prefix="{speaker} > ")
    history = [user("a", speaker="Ann"), calls("1"), result("1"), user("b")]
    made = select(history, Summary("short", 2), spec, words)

    # They cost 4 + 3, 4 + 2, 4 + 1 and 4 + 3: with the first, 25; with the call and its result, 18.
    assert made == HistoryCut(
        (user("user > b"),),
        as_message=Message("system", "Summary of earlier conversation:\nshort", persist=False),
        dropped=tuple(history[:3]),
        cuts=(Cut("history messages 1 to 3", "history.block: the window has moved on", 18),),
        overflow=True,
        store=Summary("short", 2),
    )
    request = summary_due(history, Summary("short", 2), spec, words)
    assert request
    assert request.text.endswith('\nMessages to summarize:\nTool call: look_up {"id":"1"}\nTool result: found')
    roomy = spec.model_copy(update={"max_tokens": 18})
    assert select(history, "", roomy, words).messages == (*history[1:3], user("user > b"))
    never = spec.model_copy(update={"summarize": "never"})
    assert summary_due(history, "", never, words) is None


def test_a_summary_of_what_has_moved_out_is_shown_at_once_or_from_the_next_request_on() -> None:
    for when, shown in (("before", "new"), ("after", "old")):
        made = apply_summary(talk(9), "old", SPEC.model_copy(update={"summarize": when}), words, " new\n")

        assert made.as_message
        assert made.as_message.content == f"Summary of earlier conversation:\n{shown}"
        assert made.store == Summary("new", 4)


def test_before_the_first_move_a_summary_is_neither_wanted_nor_shown() -> None:
    selected = select(talk(8), "stored", SPEC, words)

    assert summary_due(talk(8), "stored", SPEC, words) is None
    assert selected.as_message is None
    assert reasons(selected.cuts) == {"history summary": "history.limit: nothing has moved out for it to replace"}
