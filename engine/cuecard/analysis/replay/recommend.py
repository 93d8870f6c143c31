"""The cheapest delivery for an agent and a conversation, and the number of tools at which that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cuecard.analysis.cost import Prices, bill
from cuecard.analysis.replay.play import Channel, play, without_searches
from cuecard.analysis.replay.report import DELIVERIES, FROZEN_DIRECT, Report
from cuecard.analysis.replay.resize import needed, resized
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.model import Delivery, ToolCard

MOST_TOOLS = 1_000
"""The largest catalogue that is tried."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The number of tools from which `frozen` costs more than the cheapest other delivery.

    Attributes:
        variant: `frozen`, or the same without searches.
        against: that other delivery.
        fewest: the smallest catalogue with which this conversation is possible: core tools, and tools that it calls.
        tools: the smallest catalogue, not below `fewest`, with which `against` costs less; None when there is none up
            to `MOST_TOOLS`.
    """

    variant: str
    against: str
    fewest: int
    tools: int | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The cheapest delivery with the first model, and where that changes."""

    delivery: str
    cost: float
    thresholds: tuple[Threshold, ...]


def recommend(report: Report, engine: Engine, transcript: TranscriptFile) -> Recommendation:
    """Play and bill the conversation again with smaller and larger catalogues (see `resized`), for the first model."""
    billing, model = report.billing, report.models[0]
    channel = billing.channel(model)
    real = [variant for variant in report.variants if variant.name in DELIVERIES]
    best = min(real, key=lambda variant: report.bill(variant).cost)
    rivals = [variant for variant in real if variant.name != "frozen"]
    if not rivals:
        return Recommendation(best.name, report.bill(best).cost, ())
    rival = min(rivals, key=lambda variant: report.bill(variant).cost)
    against = next(delivery for delivery in DELIVERIES if delivery == rival.name)
    fewest = len(engine.core_tools) + len(needed(engine, transcript))
    played = {"frozen": transcript, FROZEN_DIRECT: without_searches(transcript, engine.search_tool)}
    again = _Again(_told(engine, transcript), needed(engine, transcript), billing.prices(model), channel)

    def dearer(frozen: str, tools: int) -> bool:
        # What the others send does not depend on tools that nobody has found, but for their definitions.
        fixed = not channel.loads_all(ahead=engine.agent.spec.tools.ahead is not None)
        other = report.bill(rival).cost if fixed else again.cost(transcript, against, tools)
        return again.cost(played[frozen], "frozen", tools) > other

    found = [
        Threshold(variant.name, against, fewest, _first(partial(dearer, variant.name), fewest))
        for variant in report.variants
        if variant.name in played
    ]
    return Recommendation(best.name, report.bill(best).cost, tuple(found))


@dataclass(frozen=True, slots=True)
class _Again:
    """The conversation, played with catalogues of other sizes."""

    engine: Engine
    keep: tuple[str, ...]
    prices: Prices
    channel: Channel

    def cost(self, transcript: TranscriptFile, delivery: Delivery, tools: int) -> float:
        sized = resized(self.engine, tools, self.keep)
        sent = play(sized, _unlimited(transcript), delivery, self.channel)
        return bill([one.request for one in sent], self.prices).cost


def _told(engine: Engine, transcript: TranscriptFile) -> Engine:
    """The engine with the transcript's schemas, so that copies of its tools have them too."""
    cards = (ToolCard(tool.name, tool.description, tool.input_schema) for tool in transcript.tools)
    return engine.with_tools(card for card in cards if card.name in engine.tools)


def _unlimited(transcript: TranscriptFile) -> TranscriptFile:
    """Removes the turns' lists of available tools, which would keep the catalogue from growing."""
    turns = [turn.model_copy(update={"tools": None}) for turn in transcript.turns]
    return transcript.model_copy(update={"turns": turns})


def _first(holds: Callable[[int], bool], least: int) -> int | None:
    """The number from which the condition holds and keeps holding; None when it fails for `MOST_TOOLS`.

    Tries numbers at growing distances rather than searching by halves, because the condition can hold, fail and hold
    again: a model's minimum cacheable length can make the smallest prompts the most expensive.
    """
    tried = [least]
    while tried[-1] < MOST_TOOLS:
        tried.append(min(tried[-1] + 1 + tried[-1] // 2, MOST_TOOLS))
    above = least
    for number in reversed(tried):
        if not holds(number):
            return None if number == tried[-1] else _between(holds, number, above)
        above = number
    return least


def _between(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number for which the condition holds, given that it fails for `low` and holds for `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
