"""The same agent with fewer or more tools, to see what a catalogue of another size would cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count, islice

from cuecard.catalogue.catalogue import Catalogue
from cuecard.config.agent_file import BudgetSpec
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.model import ToolCard
from cuecard.sources.protocols import make_protocol


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
    protocols = {card.name: protocol for card in cards if (protocol := make_protocol(card, words, cues))}
    spec = engine.agent.spec.model_copy(update={"budget": BudgetSpec()})
    agent = engine.agent.with_catalogue(Catalogue(cards))
    return replace(engine, agent=replace(agent, spec=spec, protocols=protocols))


def needed(engine: Engine, transcript: TranscriptFile) -> tuple[str, ...]:
    """The tools, apart from core tools, that a conversation has called; no smaller catalogue would have been enough."""
    called = dict.fromkeys(call.tool for request in transcript.requests() for call in request.calls)
    core = engine.core_tools
    return tuple(name for name in called if name in engine.tools and name not in core)


def _grown(engine: Engine, core: Collection[str], keep: Collection[str]) -> Iterator[ToolCard]:
    others = [card for name, card in engine.tools.items() if name not in core]
    yield from (card for card in others if card.name in keep)
    yield from (card for card in others if card.name not in keep)
    for number in count(2) if others else ():
        yield from (replace(card, name=f"{card.name}_{number}") for card in others)
