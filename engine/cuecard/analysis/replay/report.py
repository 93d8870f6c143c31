"""What a conversation costs under each delivery: the figures behind the table, the JSON and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cuecard.analysis.cost import Bill, Prices, bill
from cuecard.analysis.replay.breaks import Break, breaks
from cuecard.analysis.replay.play import Definitions, Sent, play, without_searches
from cuecard.config.models_file import ModelProfile
from cuecard.config.transcript_file import RecordedUsage, TranscriptFile
from cuecard.engine import Engine
from cuecard.model import Delivery, TokenSource

NO_CACHE = "no caching"
"""The baseline: `rewrite`, every token at the plain price."""

FROZEN_DIRECT = "frozen, no searches"
"""`frozen` as it would go where the model need not search, because everything is there."""

DELIVERIES: tuple[Delivery, ...] = ("append", "rewrite", "frozen")


@dataclass(frozen=True, slots=True)
class Variant:
    """A conversation as it is sent under one delivery, and what it costs.

    Attributes:
        name: the delivery, or the name of a baseline.
        sent: its requests.
        bills: what they cost, by model.
        breaks: for each request, why it does not begin with the one before; None where it does.
    """

    name: str
    sent: tuple[Sent, ...]
    bills: Mapping[str, Bill]
    breaks: tuple[Break | None, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay says.

    Attributes:
        agent: the agent's name.
        transcript: the name of the file.
        models: the chosen profiles; the first is the one that figures are shown for.
        tokens: what counted.
        tools: how many tools the agent has.
        variants: the deliveries in the chosen order, then the baselines.
        reported: what the provider said of the recorded requests, added up; None when it was not kept.
    """

    agent: str
    transcript: str
    models: tuple[ModelProfile, ...]
    tokens: TokenSource
    tools: int
    variants: tuple[Variant, ...]
    reported: RecordedUsage | None = field(default=None)

    @property
    def model(self) -> str:
        """The model that figures are shown for."""
        return self.models[0].name

    def bill(self, variant: Variant) -> Bill:
        """What a variant costs with that model."""
        return variant.bills[self.model]

    def variant(self, name: str) -> Variant:
        """The variant of this name."""
        return next(variant for variant in self.variants if variant.name == name)


def replay(
    engine: Engine,
    transcript: TranscriptFile,
    models: Sequence[ModelProfile],
    *,
    name: str = "",
    deliveries: Sequence[Delivery] = DELIVERIES,
    definitions: Definitions = "deferred",
) -> Report:
    """Play a conversation under each delivery, and say what it costs with each model.

    Raises:
        InputError: with every missing, unknown or wrong input of a turn.
    """
    wanted: tuple[Delivery, ...] = (*dict.fromkeys((*deliveries, "frozen")),)
    played = {delivery: play(engine, transcript, delivery, definitions) for delivery in wanted}
    variants = [_variant(delivery, sent, models) for delivery, sent in played.items()]
    direct = without_searches(transcript, engine.search_tool)
    if direct != transcript:
        variants.append(_variant(FROZEN_DIRECT, play(engine, direct, "frozen", definitions), models))
    plain = played["rewrite"] if "rewrite" in played else play(engine, transcript, "rewrite", definitions)
    variants.append(_variant(NO_CACHE, plain, models))
    return Report(
        engine.name,
        name,
        tuple(models),
        engine.count.source,
        len(engine.tools),
        tuple(variants),
        _reported(transcript),
    )


def _variant(name: str, sent: tuple[Sent, ...], models: Sequence[ModelProfile]) -> Variant:
    # Nothing is kept where nothing is marked.
    requests = [replace(one.request, breakpoints=()) if name == NO_CACHE else one.request for one in sent]
    prices = {model.name: Prices(1.0, 1.0) if name == NO_CACHE else Prices.of(model) for model in models}
    bills = {model: bill(requests, price) for model, price in prices.items()}
    return Variant(name, sent, bills, (None, *_breaks(sent)) if sent else ())


def _breaks(sent: Sequence[Sent]) -> Iterator[Break | None]:
    return (breaks(before, after) for before, after in pairwise(sent))


def _reported(transcript: TranscriptFile) -> RecordedUsage | None:
    found = [request.usage for request in transcript.requests() if request.usage]
    if not found:
        return None
    return RecordedUsage(
        input_tokens=sum(usage.input_tokens for usage in found),
        cached_tokens=sum(usage.cached_tokens for usage in found),
        output_tokens=sum(usage.output_tokens for usage in found),
    )
