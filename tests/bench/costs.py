"""What seeded sessions cost under each delivery, and how that changes with tools and steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench.sessions import Plan, between_turns, cms, session
from cuecard import Engine
from cuecard.config.transcript_file import TranscriptFile
from cuecard.types import Definitions
from cuecard.workbench.bill import Bill, Prices, bill
from cuecard.workbench.replay.play import Channel, SentRequest, play, without_searches
from cuecard.workbench.replay.recommend import resized
from cuecard.workbench.replay.report import FROZEN_DIRECT
from shipped import read_models

MODEL = "claude-sonnet-5"
"""Anthropic's prices for entries that live five minutes, and its most common minimum: 1,024 tokens."""

ADDING = "claude-opus-5"
"""The same prices, a minimum of 512 tokens, and tools that a message may add."""

RESPONSES = "gpt-5.6"
"""OpenAI's prices on the Responses interface, where items define tools."""

BETWEEN_TURNS = "rewrite between turns"
WAYS = ("append", "rewrite", BETWEEN_TURNS, "frozen", FROZEN_DIRECT)
"""How the prompt reaches the model. `rewrite` makes all of it anew for each request, as hosts without a plan do; the
next makes it anew for each turn and each discovery only."""

TOOLS = (10, 50, 200, 1_000)
STEPS = {5: Plan(1, 5, (1,)), 15: Plan(), 60: Plan(6, 10, (1, 4, 7, 11, 21, 31, 41, 51))}
"""Sessions of so many requests."""


@dataclass(frozen=True)
class Point:
    """The mean cost of sessions of one kind, by way."""

    tools: int
    steps: int
    costs: dict[str, float]


def played(engine: Engine, talk: TranscriptFile, way: str, channel: Channel) -> tuple[SentRequest, ...]:
    """Every request of a session, sent in this way."""
    search = engine.agent.spec.tools.search.tool
    match way:
        case "append" | "frozen":
            return play(engine, talk, way, channel)
        case "rewrite":
            return play(engine, talk, "rewrite", channel)
        case _ if way == BETWEEN_TURNS:
            return play(engine, between_turns(talk), "rewrite", channel)
        case _:
            return play(engine, without_searches(talk, search), "frozen", channel)


def bills(
    engine: Engine,
    talks: Sequence[TranscriptFile],
    way: str,
    definitions: Definitions | None = "deferred",
    *,
    model: str = MODEL,
) -> list[Bill]:
    """What each session costs with the prices of a model; `definitions` is None for what its profile says."""
    profile = read_models().find(model)
    channel = Channel.of(profile)
    channel = replace(channel, definitions=definitions) if definitions else channel
    return [bill([sent.request for sent in played(engine, talk, way, channel)], Prices.of(profile)) for talk in talks]


def bill_of(engine: Engine, talks: Sequence[TranscriptFile], way: str, model: str = MODEL) -> float:
    """What these sessions cost together."""
    return sum(one.cost for one in bills(engine, talks, way, model=model))


def curve(seeds: int) -> Iterator[Point]:
    """Every number of tools with every number of steps. Sessions find tools among those that there are."""
    for steps, plan in STEPS.items():
        for tools in TOOLS:
            engine = resized(cms(), tools, ())
            names = [name for name in engine.tools if name not in engine.agent.spec.tools.core]
            talks = [session(seed, plan, names) for seed in range(seeds)]
            means = {way: _mean(bills(engine, talks, way)) for way in WAYS}
            yield Point(tools, steps, means)


def _mean(found: Sequence[Bill]) -> float:
    return sum(one.cost for one in found) / len(found)
