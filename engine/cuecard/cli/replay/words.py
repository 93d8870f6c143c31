"""The sentences shared by the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cuecard.analysis.replay.recommend import MOST_TOOLS, Recommendation, Threshold
from cuecard.analysis.replay.report import FROZEN_DIRECT, Report, Variant

_NAMED = 6


def headline(report: Report) -> str:
    """The agent of this conversation, and its length."""
    sent = report.variants[0].sent
    turns = len({one.turn for one in sent})
    return (
        f"{report.agent} · {report.transcript} · {_count(turns, 'turn')}, {_count(len(sent), 'request')}, "
        f"{_count(report.tools, 'tool')} · costs in plain input tokens"
    )


def advice_lines(report: Report, advice: Recommendation) -> Iterator[str]:
    """The cheapest delivery, and the number of tools from which another one is cheaper."""
    yield f"{advice.delivery} is the cheapest delivery here, with {report.model}: {advice.cost:,.0f}"
    yield from (_threshold(threshold) for threshold in advice.thresholds)


@dataclass(frozen=True, slots=True)
class BreakGroup:
    """Breaks of one delivery at the same block for the same reason: where, and the total loss."""

    variant: str
    id: str
    cause: str
    places: tuple[str, ...]
    lost: int

    @property
    def where(self) -> str:
        """The requests, with the first one named."""
        more = len(self.places) - _NAMED
        return ", ".join(self.places[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def break_groups(variant: Variant) -> list[BreakGroup]:
    """Every break of a variant, in the order of its first request."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for sent, broken in zip(variant.sent, variant.breaks, strict=True):
        if broken:
            place = f"{sent.turn}.{sent.number}"
            found.setdefault((broken.id, broken.cause), []).append((place, broken.lost))
    return [
        BreakGroup(variant.name, name, cause, tuple(place for place, _ in rows), sum(lost for _, lost in rows))
        for (name, cause), rows in found.items()
    ]


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _threshold(threshold: Threshold) -> str:
    frozen = "frozen without the searches" if threshold.variant == FROZEN_DIRECT else "frozen"
    against = threshold.against
    if threshold.tools is None:
        return f"{frozen} costs less than {against} even with {MOST_TOOLS:,} tools like these"
    if threshold.tools <= threshold.fewest:
        return f"{frozen} costs more than {against} even with just the {threshold.fewest} tools this conversation needs"
    return (
        f"with {threshold.tools:,} tools or more, {against} costs less than {frozen}; with fewer, {frozen} costs less"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
