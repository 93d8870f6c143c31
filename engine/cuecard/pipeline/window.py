"""Whether a window over the history has moved: earlier messages, including blocks, are then no longer sent."""

from __future__ import annotations

from itertools import takewhile

from cuecard.config.history_spec import HistorySpec
from cuecard.model import Call
from cuecard.model.messages import Message, Part
from cuecard.pipeline.history.selection import HistoryCut
from cuecard.pipeline.history.units import prefixed
from cuecard.pipeline.request import CallRequest
from cuecard.records import replace

_MOVED = "the history window moved: earlier messages are gone, so the system prompt is rebuilt"


def with_window(request: CallRequest, chosen: HistoryCut) -> CallRequest:
    """The request, as after a compaction if its messages no longer begin with those of the previous call.

    Under `rewrite`, and for a host that can only set the system prompt, there are no blocks among the messages.
    """
    previous = request.previous
    if previous is None or request.kept is not None or not previous.prompt.messages:
        return request
    policy = request.agent.spec.history
    if previous.delivery.rebuilds or request.turn.host == "system-only" or not _moved(previous, chosen, policy):
        return request
    current = request.turn.message.id if request.turn.message else ""
    before = [m for m in chosen.messages if m.role == "user" and not (current and m.id == current)]
    return replace(request, kept=len(before), lost=_MOVED)


def _moved(previous: Call, chosen: HistoryCut, policy: HistorySpec | None) -> bool:
    summaries, sent = _sent(previous)
    if not sent or not chosen.messages:
        return bool(sent)
    summary = [chosen.as_message.content] if chosen.as_message else []
    *history, current = sent
    kept = chosen.messages
    if summaries != summary or any(_said(one) != _said(other) for one, other in zip(history, kept, strict=False)):
        return True
    if len(kept) <= len(history):  # the newest is not among them: it was dropped, or is being asked again
        return bool(chosen.dropped)
    return not _is_later(current, kept[len(history)], policy)


def _sent(call: Call) -> tuple[list[str | tuple[Part, ...]], list[Message]]:
    """The summaries before the history, and the history including the message that was then the newest."""
    system = call.prompt.system
    front = takewhile(lambda message: not message.persist, call.prompt.messages)
    shown = call.prompt.shown
    summaries = [m.content for m in front if m.role == "system" and m.id not in shown and m.content != system]
    return summaries, [message for message in call.prompt.messages if message.persist]


def _said(message: Message) -> tuple[object, ...]:
    return message.role, message.content, message.tool_calls, message.tool_call_id


def _is_later(current: Message, stored: Message, policy: HistorySpec | None) -> bool:
    """Whether a message of the history is the one that was then the newest, which has the policy's prefix by now."""
    if isinstance(current.content, str) and isinstance(stored.content, str):
        now = replace(stored, content=current.content)
        prefixes = (now, prefixed(now, policy)) if policy else (now,)
        return stored.role == current.role and stored.content in [each.content for each in prefixes]
    return stored.role == current.role
