"""What the terminal and the page both say in words."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.replay.recommend import MOST_TOOLS, Recommendation, Threshold
from cuecard.replay.report import FROZEN_DIRECT, Report


def headline(report: Report) -> str:
    """Whose conversation this is, and how long."""
    sent = report.variants[0].sent
    turns = len({one.turn for one in sent})
    return (
        f"{report.agent} · {report.transcript} · {_count(turns, 'turn')}, {_count(len(sent), 'request')}, "
        f"{_count(report.tools, 'tool')} · costs in plain input tokens"
    )


def advice_lines(report: Report, advice: Recommendation) -> Iterator[str]:
    """The cheapest delivery, and the number of tools at which another one is."""
    yield f"{advice.delivery} is the cheapest delivery here, with {report.model}: {advice.cost:,.0f}"
    yield from (_threshold(threshold) for threshold in advice.thresholds)


def percent(share: float) -> str:
    """A share of 0 to 1 as people read it."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _threshold(threshold: Threshold) -> str:
    frozen = "frozen without the searches" if threshold.variant == FROZEN_DIRECT else "frozen"
    against = threshold.against
    if threshold.tools is None:
        return f"{frozen} costs less than {against} even with {MOST_TOOLS:,} tools like these"
    if threshold.tools <= threshold.fewest:
        return f"{frozen} costs more than {against} even with the {threshold.fewest} tools that this conversation needs"
    return f"from {threshold.tools:,} tools on, {against} costs less than {frozen}; with fewer, {frozen} does"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
