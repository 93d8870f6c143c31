"""Which messages go into a request: the entry points, the same for every history policy.

    selected = select(messages, summary, spec, count)                   what goes in, with what is known now
    request  = summary_due(messages, summary, spec, count)              a summary is wanted: ask a Summarizer
    selected = apply_summary(messages, summary, spec, count, reply)     what goes in, and to store, with its answer

`spec.summarize` says when to ask: before the request or after the reply. Everything here is pure, and `select` is
`apply_summary` without an answer: a summarizer that fails, is slow or returns nothing does no harm.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import TypeAlias

from cuecard.config.history_spec import HistorySpec, SummarySpec
from cuecard.config.values import fill
from cuecard.model import CountTokens, Cut
from cuecard.model.messages import Message, Summary
from cuecard.pipeline.history.policy import Decision, decide, summary_message
from cuecard.pipeline.history.units import OmittedMessage, call_text, cost, message_text
from cuecard.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class HistoryCut:
    """The part of a conversation in a request.

    Attributes:
        messages: the included messages, oldest first, with prefixes.
        summary: the summary for a section of the system prompt; empty if none is shown there.
        as_message: the summary as a message before the others, if the policy shows it like this.
        dropped: every message that is left out, as given by the host, oldest first.
        cuts: the reason for each; neighbours with the same reason share a cut.
        overflow: whether there was more history than is included.
        store: the summary to store with the conversation from now on; the given one if there is nothing new.
    """

    messages: tuple[Message, ...]
    summary: str = ""
    as_message: Message | None = None
    dropped: tuple[Message, ...] = ()
    cuts: tuple[Cut, ...] = ()
    overflow: bool = False
    store: Summary = field(default_factory=Summary)


def dropped(messages: Sequence[Message], out: Iterable[OmittedMessage]) -> tuple[Message, ...]:
    """The messages that are left out, oldest first."""
    return tuple(messages[place] for place in sorted(left.place for left in out))


def cuts(out: Iterable[OmittedMessage]) -> tuple[Cut, ...]:
    """One cut for each run of neighbours with the same reason; messages are counted from 1."""
    return tuple(_cuts(sorted(out, key=lambda left: left.place)))


def _cuts(out: Sequence[OmittedMessage]) -> Iterator[Cut]:
    for (reason, _), group in groupby(enumerate(out), key=lambda item: (item[1].reason, item[1].place - item[0])):
        run = [left for _, left in group]
        first, final = run[0].place + 1, run[-1].place + 1
        what = f"history message {first}" if first == final else f"history messages {first} to {final}"
        yield Cut(what, reason, sum(left.tokens for left in run))


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One request to a model that writes summaries; `max_tokens` is None if the length is unlimited."""

    system: str
    text: str
    max_tokens: int | None = None
    temperature: float = 0.3


Summarizer: TypeAlias = Callable[[SummaryRequest], str]
"""Returns only the summary; an empty answer or an error leaves the stored summary unchanged."""

AsyncSummarizer: TypeAlias = Callable[[SummaryRequest], Awaitable[str]]
"""A `Summarizer` that is awaited."""


def ask(messages: Iterable[Message], previous: str, spec: SummarySpec, max_tokens: int | None = None) -> SummaryRequest:
    """The question: the previous summary, if there is one, then the messages, line by line, each with its label."""
    before = fill(spec.previous, {"summary": previous}) if previous.strip() else ""
    lines = "\n".join(line for message in messages for line in _lines(message, spec))
    text = f"{before}{spec.heading}{lines}"
    return SummaryRequest(spec.instruction, text, spec.max_tokens or max_tokens, spec.temperature)


def _lines(message: Message, spec: SummarySpec) -> Iterator[str]:
    text = message_text(message)
    limit = spec.limits.get(message.role, len(text))
    if message.role in spec.labels and text.strip():
        told = text if len(text) <= limit else text[:limit] + spec.truncated
        yield f"{spec.labels[message.role]}: {_indented(told, spec)}"
    if "call" in spec.labels:
        yield from (f"{spec.labels['call']}: {_indented(call_text(call), spec)}" for call in message.tool_calls)


def _indented(text: str, spec: SummarySpec) -> str:
    return f"\n{spec.indent}".join(text.splitlines()) if spec.indent else text


def select(messages: Sequence[Message], summary: str | Summary, spec: HistorySpec, count: CountTokens) -> HistoryCut:
    """The part of a conversation that goes into a request.

    Args:
        messages: the conversation before the current message, oldest first.
        summary: the summary stored with it; a bare text covers nothing.
        spec: the policy.
        count: tokens of a text.
    """
    return apply_summary(messages, summary, spec, count, None)


def summary_due(
    messages: Sequence[Message], summary: str | Summary, spec: HistorySpec, count: CountTokens
) -> SummaryRequest | None:
    """The request for a summarizer, or None if no summary is due; the arguments are those of `select`."""
    stored = _stored(summary)
    told = decide(messages, stored, spec, count).told
    if not told or spec.policy == "last":
        return None
    longest = max(1, int(spec.target * spec.budget)) if spec.policy == "tokens" else None
    return ask((message for unit in told for message in unit.messages), stored.text, spec.summary, longest)


def apply_summary(
    messages: Sequence[Message], summary: str | Summary, spec: HistorySpec, count: CountTokens, reply: str | None
) -> HistoryCut:
    """What to include, and what to store, after a summarizer has answered; None or a blank reply means no answer.

    An answer is ignored if no summary was due. The other arguments are those of `select`.
    """
    stored = _stored(summary)
    decision = decide(messages, stored, spec, count)
    kept = _selected(messages, stored, decision, spec, count)
    if spec.policy == "last" or not decision.told or not (reply and reply.strip()):
        return kept
    new = _new(messages, decision, reply.strip())
    if spec.summarize == "after":
        return replace(kept, store=new)
    if spec.policy == "tokens":
        tokens = cost(summary_message(new.text, spec.summary), count)
        if tokens > spec.budget:
            too_long = Cut("new summary", f"history.max_context: it does not fit into {spec.budget} tokens", tokens)
            return replace(kept, cuts=(*kept.cuts, too_long))
        decision = _compressed(decision)
    return replace(_selected(messages, new, decision, spec, count), store=new)


def _stored(summary: str | Summary) -> Summary:
    stored = Summary(summary) if isinstance(summary, str) else summary
    return stored if stored.text.strip() else Summary()


def _new(messages: Sequence[Message], decision: Decision, text: str) -> Summary:
    covers = max(unit.places[-1] for unit in decision.told) + 1
    return Summary(text, covers, messages[covers - 1].id)


def _compressed(decision: Decision) -> Decision:
    """One summary instead of all messages."""
    reason = "history.threshold: compressed into the summary"
    cutoff = replace(decision.cutoff, start=len(decision.units), overflow=True, reason=reason)
    return replace(decision, cutoff=cutoff, hidden="")


def _selected(
    messages: Sequence[Message], shown: Summary, decision: Decision, spec: HistorySpec, count: CountTokens
) -> HistoryCut:
    out = (*decision.out, *_left_out(decision, count))
    section, as_message = _show("" if decision.hidden else shown.text, spec)
    hidden = [Cut("history summary", decision.hidden, count(shown.text))] if decision.hidden and shown.text else []
    return HistoryCut(
        messages=tuple(message for unit in decision.units[decision.cutoff.start :] for message in unit.messages),
        summary=section,
        as_message=as_message,
        dropped=dropped(messages, out),
        cuts=(*cuts(out), *hidden),
        overflow=decision.cutoff.overflow,
        store=shown,
    )


def _show(text: str, spec: HistorySpec) -> tuple[str, Message | None]:
    if not text or spec.policy == "last":
        return "", None
    return ("", summary_message(text, spec.summary)) if spec.summary.show == "message" else (text, None)


def _left_out(decision: Decision, count: CountTokens) -> Iterator[OmittedMessage]:
    cutoff = decision.cutoff
    for unit in decision.units[: cutoff.loaded]:
        yield from (OmittedMessage(place, cutoff.unloaded) for place in unit.places)
    for unit in decision.units[cutoff.loaded : cutoff.start]:
        for place, message in zip(unit.places, unit.messages, strict=True):
            yield OmittedMessage(place, cutoff.reason, cost(message, count))
