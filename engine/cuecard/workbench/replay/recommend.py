"""The cheapest delivery, and the number of tools at which that changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice

from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.agent_file import BudgetSpec
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.model import Delivery, ToolCard
from cuecard.sources.tools import make_protocol
from cuecard.workbench.bill import Prices, bill
from cuecard.workbench.replay.play import Channel, play, without_searches
from cuecard.workbench.replay.report import DELIVERIES, FROZEN_DIRECT, ReplayReport


def resized(engine: Engine, tools: int, keep: Collection[str]) -> Engine:
    """The engine with `count` tools: core tools first, then those to keep, the others, and copies of all but core
    tools.

    A copy has the instructions, description and schema of its original under a longer name. Its sizes are therefore
    those of the agent's own tools. Core tools are never left out. Budgets are lifted: they were set for the agent's own
    catalogue, and would leave tools out of a larger one.
    """
    core = engine.core_tools
    fixed = [card for name, card in engine.tools.items() if name in core]
    cards = (*fixed, *islice(_grown(engine, core, keep), max(0, tools - len(fixed))))
    words, cues = engine.words.protocols, engine.agent.spec.tools.cues
    protocols = {
        card.name: protocol for card in cards if (protocol := make_protocol(card.name, card.instructions, words, cues))
    }
    spec = engine.agent.spec.model_copy(update={"budget": BudgetSpec()})
    agent = engine.agent.with_catalogue(Catalogue(cards))
    return replace(engine, agent=replace(agent, spec=spec, protocols=protocols))


def needed(engine: Engine, transcript: TranscriptFile) -> tuple[str, ...]:
    """The tools, apart from core tools, that a conversation has called; no smaller catalogue would have been enough."""
    called = dict.fromkeys(call.tool for request in transcript.requests() for call in request.calls)
    core = engine.core_tools
    return tuple(name for name in called if name in engine.tools and name not in core)


def at_size(engine: Engine, transcript: TranscriptFile, tools: int) -> tuple[Engine, TranscriptFile]:
    """The agent with another number of tools, and the conversation without what would keep it from having them."""
    return resized(_told(engine, transcript), tools, needed(engine, transcript)), _unlimited(transcript)


def _grown(engine: Engine, core: Collection[str], keep: Collection[str]) -> Iterator[ToolCard]:
    others = [card for name, card in engine.tools.items() if name not in core]
    yield from (card for card in others if card.name in keep)
    yield from (card for card in others if card.name not in keep)
    for number in count(2) if others else ():
        yield from (replace(card, name=f"{card.name}_{number}") for card in others)


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


def recommend(report: ReplayReport, engine: Engine, transcript: TranscriptFile) -> Recommendation:
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
    fewest = len([*filter(engine.tools.__contains__, engine.core_tools)]) + len(needed(engine, transcript))
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
