"""The history over any conversation: pairs and budgets hold, nothing vanishes without a cut, windows move in blocks."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Message
from cuecard.config.history_spec import (
    OVERHEAD,
    BlockHistory,
    HistorySpec,
    LastHistory,
    MetadataSpec,
    StackSpec,
    TokenHistory,
    WindowHistory,
)
from cuecard.pipeline.history.selection import HistoryCut, apply_summary, select, summary_due
from cuecard.pipeline.history.units import cost
from cuecard.pipeline.messages import TurnMessages, metadata_message, stack
from cuecard.types import Summary, ToolCall, messages_from_json

IDS = st.sampled_from(["c1", "c2", "c3"])
TEXTS = st.text(max_size=12)
PARTS = st.lists(
    st.one_of(st.builds(lambda text: {"type": "text", "text": text}, TEXTS), st.just({"type": "image", "url": "x"})),
    max_size=2,
).map(tuple)
MESSAGES = st.lists(
    st.one_of(
        st.builds(
            Message,
            st.sampled_from(["system", "user", "assistant"]),
            TEXTS | PARTS,
            id=st.sampled_from(["", "m1", "m2"]),
        ),
        st.builds(
            lambda text, ids: Message("assistant", text, tuple(ToolCall(i, "f", {}) for i in ids)),
            TEXTS,
            st.lists(IDS, min_size=1, max_size=3),
        ),
        st.builds(lambda text, call_id: Message("tool", text, tool_call_id=call_id), TEXTS, IDS),
        st.builds(lambda text, call_id: Message("tool", text, tool_call_id=call_id), TEXTS, IDS),
    ),
    max_size=24,
)


@st.composite
def specs(draw: st.DrawFn) -> HistorySpec:
    """Any policy with small numbers, so that short conversations reach every limit."""
    few = st.integers(1, 8)
    drop = draw(st.sampled_from([("system", "blank", "duplicates"), ()]))
    show = draw(st.sampled_from([{}, {"show": "section"}, {"show": "message"}]))
    keep = draw(few)
    policy = draw(st.sampled_from(["window", "tokens", "last", "blocks"]))
    if policy == "window":
        when = draw(st.sampled_from(["before", "after", "never"]))
        on_overflow = draw(st.integers(0, keep))
        more = {"keep": keep, "load": keep + draw(few), "on_overflow": on_overflow, "summarize": when, "summary": show}
        return WindowHistory.model_validate({"policy": policy, "drop": drop, **more})
    when = draw(st.sampled_from(["before", "never"]))
    if policy == "tokens":
        more = {"max_context": draw(st.integers(20, 150)), "reserve": 10, "load": draw(st.integers(1, 30))}
        return TokenHistory.model_validate({"policy": policy, "drop": drop, **more, "summarize": when, "summary": show})
    if policy == "last":
        return LastHistory.model_validate({"policy": policy, "drop": drop, "limit": draw(st.integers(0, 8))})
    most = draw(st.none() | st.integers(10, 80))
    more = {"limit": keep + draw(few), "block": keep, "max_tokens": most, "low": draw(st.sampled_from([0.3, 1.0]))}
    return BlockHistory.model_validate({"policy": policy, "drop": drop, **more, "summarize": when, "summary": show})


SUMMARIES = st.one_of(
    st.just(""), TEXTS, st.builds(Summary, TEXTS, st.integers(0, 30), st.sampled_from(["", "m1", "no"]))
)
REPLIES = st.sampled_from([None, "", " ", "new", "a long reply " * 20])


def count(text: str) -> int:
    return (len(text) + 3) // 4


def places(selected: HistoryCut) -> list[int]:
    """The places of the messages that the cuts name, from 0."""
    found = (re.fullmatch(r"history messages? (\d+)(?: to (\d+))?", cut.what) for cut in selected.cuts)
    return [place for m in found if m for place in range(int(m[1]) - 1, int(m[2] or m[1]))]


@given(messages=MESSAGES, summary=SUMMARIES, spec=specs(), reply=REPLIES)
def test_tool_calls_are_never_separated_from_their_results(
    messages: list[Message], summary: str | Summary, spec: HistorySpec, reply: str | None
) -> None:
    waiting: Counter[str] = Counter()
    for message in apply_summary(messages, summary, spec, count, reply).messages:
        if message.role == "tool":
            assert waiting[message.tool_call_id or ""] > 0, "a result follows its call"
            waiting[message.tool_call_id or ""] -= 1
        else:
            assert not +waiting, "all results stand right after their calls"
            waiting = Counter(call.id for call in message.tool_calls)
    assert not +waiting


@given(messages=MESSAGES, summary=SUMMARIES, spec=specs(), reply=REPLIES)
def test_promise_7_no_message_vanishes_without_a_cut(
    messages: list[Message], summary: str | Summary, spec: HistorySpec, reply: str | None
) -> None:
    selected = apply_summary(messages, summary, spec, count, reply)
    cut = places(selected)

    assert len(cut) == len(set(cut)), "each is cut once"
    assert selected.dropped == tuple(messages[place] for place in sorted(cut))
    kept = [id(message) for place, message in enumerate(messages) if place not in cut]
    assert sorted(map(id, selected.messages)) == sorted(kept)
    assert all(c.reason for c in selected.cuts)


@given(messages=MESSAGES, summary=SUMMARIES, spec=specs(), reply=REPLIES)
def test_promise_7_no_summary_vanishes_without_a_cut(
    messages: list[Message], summary: str | Summary, spec: HistorySpec, reply: str | None
) -> None:
    text = summary if isinstance(summary, str) else summary.text
    selected = apply_summary(messages, summary, spec, count, reply)
    shown = bool(selected.summary) + (selected.as_message is not None)

    assert shown + any(cut.what == "history summary" for cut in selected.cuts) == bool(
        text.strip() or (selected.store.text and spec.policy != "last" and getattr(spec, "summarize", "") == "before")
    )


@given(messages=MESSAGES, summary=SUMMARIES, spec=specs(), reply=REPLIES)
def test_budgets_hold(messages: list[Message], summary: str | Summary, spec: HistorySpec, reply: str | None) -> None:
    selected = apply_summary(messages, summary, spec, count, reply)
    tokens = sum(cost(message, count) for message in selected.messages)
    match spec:
        case WindowHistory():
            assert len(selected.messages) <= (spec.on_overflow if selected.overflow else spec.keep)
        case LastHistory():
            assert len(selected.messages) <= spec.limit
        case BlockHistory():
            assert len(selected.messages) <= spec.limit
            assert tokens <= (spec.max_tokens or 10**9)
        case TokenHistory():
            text = spec.summary.message.replace("{summary}", selected.summary)
            section = OVERHEAD + count(text) if selected.summary else 0
            message = cost(selected.as_message, count) if selected.as_message else 0
            assert tokens + section + message <= spec.budget


@given(messages=MESSAGES, summary=SUMMARIES, spec=specs(), reply=st.sampled_from([None, "", "  \n"]))
def test_a_failing_or_empty_summarizer_loses_nothing(
    messages: list[Message], summary: str | Summary, spec: HistorySpec, reply: str | None
) -> None:
    selected = apply_summary(messages, summary, spec, count, reply)
    stored = Summary(summary) if isinstance(summary, str) else summary

    assert selected == select(messages, summary, spec, count)
    assert selected.store == (stored if stored.text.strip() else Summary())
    fresh = [m for m in messages if m.role in {"user", "assistant"} and not m.blank and not m.tool_calls and not m.id]
    if isinstance(spec, TokenHistory) and fresh and messages[-1:] == fresh[-1:] and not stored.text.strip():
        assert selected.messages[-1:] == tuple(fresh[-1:]) or cost(fresh[-1], count) > spec.budget


TURNS = st.lists(st.integers(0, 2), min_size=1, max_size=25)
"""How many tools are called in each turn."""
BLOCKS = specs().filter(lambda spec: isinstance(spec, BlockHistory))


def grow(turns: list[int]) -> list[list[Message]]:
    """A conversation after each of its turns."""
    messages: list[Message] = []
    grown = []
    for number, tools in enumerate(turns):
        ids = [f"{number}-{n}" for n in range(tools)]
        messages.append(Message("user", f"question {number}"))
        if ids:
            messages.append(Message("assistant", tool_calls=tuple(ToolCall(i, "f", {}) for i in ids)))
            messages += [Message("tool", f"result {i}", tool_call_id=i) for i in ids]
        messages.append(Message("assistant", f"answer {number}"))
        grown.append(list(messages))
    return grown


@given(turns=TURNS, spec=BLOCKS)
def test_between_two_moves_each_history_begins_with_the_one_before(turns: list[int], spec: BlockHistory) -> None:
    sent = [select(messages, "", spec, count) for messages in grow(turns)]

    for before, after in pairwise(sent):
        if len(after.dropped) == len(before.dropped):
            assert after.messages[: len(before.messages)] == before.messages
        else:
            assert after.dropped[: len(before.dropped)] == before.dropped, "it only moves forward"


@given(turns=st.integers(1, 60), limit=st.integers(2, 20), data=st.data())
def test_the_window_moves_by_whole_blocks_and_never_by_one_message_a_turn(
    turns: int, limit: int, data: st.DataObject
) -> None:
    block = data.draw(st.integers(1, limit))
    spec = BlockHistory(policy="blocks", limit=limit, block=block)
    left = [len(select(messages, "", spec, count).dropped) for messages in grow([0] * turns)]

    assert all(gone % block == 0 for gone in left)
    assert len(set(left)) <= 1 + 2 * turns // block


@given(turns=TURNS, spec=BLOCKS.filter(lambda spec: getattr(spec, "summarize", "") == "before"), data=st.data())
def test_what_moves_out_is_reported_to_a_summarizer_that_answers_exactly_once(
    turns: list[int], spec: BlockHistory, data: st.DataObject
) -> None:
    stored = Summary()
    told: list[str] = []
    for messages in grow(turns):
        request = summary_due(messages, stored, spec, count)
        reply = "so far so good" if data.draw(st.booleans()) else None
        selected = apply_summary(messages, stored, spec, count, reply)
        if request and reply:
            told += re.findall(r"(?:question|answer|result) [\d-]+", request.text)
        stored = selected.store
        out = [str(message.content) for message in selected.dropped if message.content]
        assert told == out[: len(told)], "in order, none twice"
        assert not (request is None or reply) or told == out, "and none is left over"


@given(turns=TURNS, data=st.data())
def test_compression_tells_every_message_or_sends_it(turns: list[int], data: st.DataObject) -> None:
    spec = TokenHistory(policy="tokens", max_context=100, reserve=10)
    stored = Summary()
    covered: list[Message] = []
    for messages in grow(turns):
        reply = data.draw(st.sampled_from(["so far so good", "", None]))
        selected = apply_summary(messages, stored, spec, count, reply)
        if selected.store != stored:
            covered = list(messages)
        gone = [m for m in selected.dropped if m not in covered]
        assert [*covered, *gone, *selected.messages] == messages
        assert all(c.tokens for c in selected.cuts if "no room" in c.reason)
        stored = selected.store


@given(
    messages=MESSAGES,
    spec=specs(),
    current=MESSAGES.map(lambda found: [m for m in found if m.role == "user"]).filter(bool).map(lambda found: found[0]),
    order=st.permutations(["system", "metadata", "history", "current"]),
    system=TEXTS,
    metadata=st.dictionaries(TEXTS, TEXTS, max_size=3),
    ephemeral=TEXTS,
)
def test_the_stack_never_loses_the_current_message_nor_anything_else(
    messages: list[Message],
    spec: HistorySpec,
    current: Message,
    order: list[str],
    system: str,
    metadata: dict[str, str],
    ephemeral: str,
) -> None:
    selected = select(messages, "stored", spec, count)
    made = stack(
        system, selected, TurnMessages(current, metadata, ephemeral), StackSpec.model_validate({"order": order})
    )
    sent = made.messages

    assert sum(message is current for message in sent) == (not current.blank)
    again = [m for m in selected.messages if m.role == "user" and m.id and m.id == current.id and not current.blank]
    assert len(sent) == (
        len(selected.messages) - len(again) + (not current.blank) + (selected.as_message is not None)
        + bool(system.strip()) + bool(metadata) + bool(ephemeral.strip())
    )  # fmt: skip
    assert bool(again) == any("current message" in cut.reason for cut in made.cuts)


@given(
    metadata=st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none(), min_size=1),
    most=st.integers(128, 300),
    keep=st.lists(st.text(max_size=5), max_size=2),
)
def test_metadata_keeps_to_its_bytes_and_says_when_it_was_cut(
    metadata: dict[str, object], most: int, keep: list[str]
) -> None:
    message, cuts = metadata_message(metadata, MetadataSpec(max_bytes=most, keep=tuple(keep)))

    assert message is not None
    assert len(str(message.content).encode()) <= most
    facts = json.loads(str(message.content))["metadata"]
    assert facts == metadata if not cuts else facts["truncated"] is True


@given(messages=MESSAGES)
def test_messages_survive_json(messages: list[Message]) -> None:
    written = json.loads(json.dumps([message.to_json() for message in messages]))

    assert messages_from_json(written) == tuple(
        m if m.content else Message(m.role, "", m.tool_calls, m.tool_call_id, id=m.id) for m in messages
    )
