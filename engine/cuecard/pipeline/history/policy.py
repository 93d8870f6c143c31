"""Where the history of a request begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cuecard.config.history_spec import BlockHistory, HistorySpec, LastHistory, SummarySpec, TokenHistory, WindowHistory
from cuecard.config.values import fill
from cuecard.model import CountTokens
from cuecard.model.messages import Message, Summary
from cuecard.pipeline.history.units import MessageUnit, OmittedMessage, cost, prefixed, units
from cuecard.records import dataclass, replace
from cuecard.template import element_names
from cuecard.template.guards.escaping import escape_text


@dataclass(frozen=True, slots=True)
class Cutoff:
    """What a policy decides about units, oldest first.

    Attributes:
        start: the first unit to include, with all units after it.
        loaded: the first unit that was considered.
        overflow: whether a summary must replace what is left out.
        reason: why the units from `loaded` to `start` are left out.
        unloaded: why those before `loaded` are left out.
    """

    start: int
    loaded: int = 0
    overflow: bool = False
    reason: str = ""
    unloaded: str = ""


def window(units: Sequence[MessageUnit], spec: WindowHistory) -> Cutoff:
    """Up to `keep` messages, all of them are included; beyond that, only the last `on_overflow`."""
    sizes = [len(unit) for unit in units]
    if sum(sizes) <= spec.keep:
        return Cutoff(0)
    return Cutoff(
        newest(sizes, spec.on_overflow),
        newest(sizes, spec.load),
        overflow=True,
        reason=f"history.on_overflow: more than {spec.keep} messages, so only the last {spec.on_overflow} are included",
        unloaded=f"history.load: older than the newest {spec.load} messages",
    )


def last(units: Sequence[MessageUnit], spec: LastHistory) -> Cutoff:
    """The last `limit` messages, and no summary."""
    start = newest([len(unit) for unit in units], spec.limit)
    return Cutoff(start, start, unloaded=f"history.limit: older than the last {spec.limit} messages")


def fits(costs: Sequence[int], loaded: int, room: int, spec: TokenHistory) -> Cutoff:
    """The newest units that fit into `room` tokens, if not all do."""
    start = max(loaded, newest(costs, room))
    return Cutoff(
        start,
        loaded,
        overflow=start > 0,
        reason=f"history.max_context: no room left in {spec.budget} tokens",
        unloaded=f"history.load: older than the newest {spec.load} messages",
    )


def blocks(units: Sequence[MessageUnit], costs: Sequence[int], spec: BlockHistory) -> Cutoff:
    """The beginning moves by whole blocks, whenever there are more than `limit` messages or `max_tokens` tokens.

    It depends only on the messages, processed in order: so it is the same in every call until it moves, and between two
    moves, each history begins with the previous one.
    """
    most = float("inf") if spec.max_tokens is None else spec.max_tokens
    start, size, tokens = 0, 0, 0
    for at, unit in enumerate(units):
        size, tokens = size + len(unit), tokens + costs[at]
        many, dear, moved = size > spec.limit, tokens > most, 0
        while (many and (moved < spec.block or size > spec.limit)) or (dear and tokens > most * spec.low):
            if start > at or (start == at and size <= spec.limit and tokens <= most):
                break  # the newest unit is kept if it fits alone
            moved, size, tokens = moved + len(units[start]), size - len(units[start]), tokens - costs[start]
            start += 1
    return Cutoff(start, 0, overflow=start > 0, reason="history.block: the window has moved on")


def newest(costs: Sequence[int], room: int) -> int:
    """The first of the newest units that fit together, going backwards up to the first that does not."""
    used = accumulate(reversed(costs))
    return len(costs) - next((taken for taken, total in enumerate(used) if total > room), len(costs))


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a policy.

    Attributes:
        units: the units to choose from, oldest first.
        out: what is left out in any case.
        cutoff: which of the units to include.
        told: the units to summarise; none if no summary is due.
        hidden: why the stored summary, if any, is not shown; empty if it is.
    """

    units: tuple[MessageUnit, ...]
    out: tuple[OmittedMessage, ...]
    cutoff: Cutoff
    told: tuple[MessageUnit, ...] = ()
    hidden: str = ""


def decide(messages: Sequence[Message], summary: Summary, spec: HistorySpec, count: CountTokens) -> Decision:
    """The decision of the policy of `spec`."""
    whole, out = units(messages, spec)
    seen = (
        tuple(replace(u, messages=tuple(prefixed(m, spec) for m in u.messages)) for u in whole)
        if spec.prefix
        else whole
    )
    if spec.policy == "window":
        return _window(seen, out, spec)
    if spec.policy == "tokens":
        return _tokens(seen, out, replace(summary, covers=summary.covered(messages)), spec, count)
    if spec.policy == "blocks":
        return _blocks(seen, out, summary.covered(messages), spec, count)
    return Decision(seen, out, last(seen, spec), hidden="history.policy: `last` shows no summary")


def summary_message(text: str, spec: SummarySpec) -> Message:
    """The summary as a system message, created for each request."""
    return Message(
        "system",
        fill(spec.message, {"summary": escape_text(text, element_names(spec.message), mode="names")}),
        persist=False,
    )


def unit_cost(unit: MessageUnit, count: CountTokens) -> int:
    """The total cost of a unit's messages in tokens."""
    return sum(cost(message, count) for message in unit.messages)


def _window(seen: tuple[MessageUnit, ...], out: tuple[OmittedMessage, ...], spec: WindowHistory) -> Decision:
    cutoff = window(seen, spec)
    if not cutoff.overflow:
        return Decision(seen, out, cutoff, hidden="history.keep: nothing has overflowed for it to replace")
    told = seen[cutoff.loaded : cutoff.start] if spec.summarize != "never" else ()
    return Decision(seen, out, cutoff, told)


def _blocks(
    seen: tuple[MessageUnit, ...], out: tuple[OmittedMessage, ...], covered: int, spec: BlockHistory, count: CountTokens
) -> Decision:
    costs = [0] * len(seen) if spec.max_tokens is None else [unit_cost(unit, count) for unit in seen]
    cutoff = blocks(seen, costs, spec)
    if not cutoff.overflow:
        return Decision(seen, out, cutoff, hidden="history.limit: nothing has moved out for it to replace")
    told = [unit for unit in seen[: cutoff.start] if unit.places[-1] >= covered]
    return Decision(seen, out, cutoff, tuple(told) if spec.summarize != "never" else ())


def _tokens(
    seen: tuple[MessageUnit, ...],
    out: tuple[OmittedMessage, ...],
    stored: Summary,
    spec: TokenHistory,
    count: CountTokens,
) -> Decision:
    before = tuple(unit for unit in seen if unit.places[-1] < stored.covers)
    rest = tuple(unit for unit in seen if unit.places[-1] >= stored.covers)
    told_before = [OmittedMessage(place, "covered by the stored summary") for unit in before for place in unit.places]
    loaded = newest([len(unit) for unit in rest], spec.load)
    costs = [0] * loaded + [unit_cost(unit, count) for unit in rest[loaded:]]
    shown = cost(summary_message(stored.text, spec.summary), count) if stored.text else 0
    due = spec.summarize != "never" and sum(costs) + shown >= int(spec.threshold * spec.budget)
    hidden = "" if shown < spec.budget else f"history.max_context: it alone takes {shown} of {spec.budget} tokens"
    cutoff = fits(costs, loaded, spec.budget - (0 if hidden else shown), spec)
    return Decision(rest, (*out, *told_before), cutoff, rest[loaded:] if due else (), hidden)
