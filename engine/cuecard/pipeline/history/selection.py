"""Which messages go into a request: the entry points, the same for every history policy.

    selected = select(messages, summary, spec, count)                   what goes in, with what is known now
    request  = summary_due(messages, summary, spec, count)              a summary is wanted: ask a Summarizer
    selected = apply_summary(messages, summary, spec, count, reply)     what goes in, and to store, with its answer

`spec.summarize` says when to ask: before the request or after the reply. Everything here is pure, and `select` is
`apply_summary` without an answer: a summarizer that fails, is slow or returns nothing does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cuecard.config.history_spec import HistorySpec
from cuecard.model import CountTokens, Cut
from cuecard.model.messages import Message, Summary
from cuecard.pipeline.history.decision import Decision, decide, summary_message
from cuecard.pipeline.history.record import Selected, cuts, dropped
from cuecard.pipeline.history.summary import SummaryRequest, ask
from cuecard.pipeline.history.text import cost
from cuecard.pipeline.history.units import LeftOut


def select(messages: Sequence[Message], summary: str | Summary, spec: HistorySpec, count: CountTokens) -> Selected:
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
) -> Selected:
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
) -> Selected:
    out = (*decision.out, *_left_out(decision, count))
    section, as_message = _show("" if decision.hidden else shown.text, spec)
    hidden = [Cut("history summary", decision.hidden, count(shown.text))] if decision.hidden and shown.text else []
    return Selected(
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


def _left_out(decision: Decision, count: CountTokens) -> Iterator[LeftOut]:
    cutoff = decision.cutoff
    for unit in decision.units[: cutoff.loaded]:
        yield from (LeftOut(place, cutoff.unloaded) for place in unit.places)
    for unit in decision.units[cutoff.loaded : cutoff.start]:
        for place, message in zip(unit.places, unit.messages, strict=True):
            yield LeftOut(place, cutoff.reason, cost(message, count))
