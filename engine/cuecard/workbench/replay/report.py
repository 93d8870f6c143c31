"""What a conversation costs under each delivery: figures, breaks, and texts of one turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias

from cuecard.config.model_profile import Definitions, ModelProfile
from cuecard.config.transcript_file import RecordedUsage, TranscriptFile
from cuecard.engine import Engine
from cuecard.model import Delivery, Manifest, TokenSource
from cuecard.pipeline.comparison import compare_manifests
from cuecard.workbench.bill import Bill, Prices, bill, first_break
from cuecard.workbench.replay.play import Channel, SentRequest, play, without_searches


@dataclass(frozen=True, slots=True)
class PrefixBreak:
    """The first block that differs from the previous request.

    Attributes:
        id: what it is: `system/` and the id of a section, `tools/`, `messages/` or `appended/` and a name.
        cause: why, such as `memory` or `discovery cms_getPage`.
        lost: the tokens from there to the end of the previous request, which the provider cached for nothing.
    """

    id: str
    cause: str
    lost: int


def breaks(before: SentRequest, after: SentRequest) -> PrefixBreak | None:
    """The break between two consecutive requests; None when the later one only adds to the earlier."""
    at = first_break(before.request, after.request)
    if at is None:
        return None
    lost = sum(block.tokens for block in before.request.blocks[at:])
    there = [sent.request.blocks[at].label for sent in (before, after) if at < len(sent.request.blocks)]
    label = _shared(there)
    return PrefixBreak(label, _cause(label, before.manifest, after.manifest), lost)


def _shared(labels: list[str]) -> str:
    """What stood there, or, when a definition was put in front of it, what stands there now."""
    old, new = labels[0], labels[-1]
    return new if new.startswith("tools/") else old


def _cause(label: str, before: Manifest, after: Manifest) -> str:
    """The cause. Manifests cover what cuecard wrote, but not tool definitions and messages."""
    group, _, name = label.partition("/")
    if group == "tools":
        came = [tool for tool in after.active_tools if tool not in before.active_tools]
        gone = [tool for tool in before.active_tools if tool not in after.active_tools]
        named = ", ".join(came or gone)
        return f"discovery {named}" if named else "order"
    if group == "messages":
        return "history"
    changes = compare_manifests(before, after).changes
    causes = [str(change.cause) for change in changes if change.cause and _names(change.id, name)]
    return causes[0] if causes else "order"


def _names(section: str, name: str) -> bool:
    """Whether a section of the manifest is what a label names; the ids of appended blocks end in a fingerprint."""
    return section == name or section.startswith(f"{name}-")


@dataclass(frozen=True, slots=True)
class TextPrice:
    """The price of the texts of one turn in a conversation, in plain input tokens, beyond what it costs without them.

    With T tokens in a turn of k requests, which send m tokens each behind the text, at a price of w for writing and r
    for reading: staying costs wT + rT(k-1), and once the turn has ended (w-r)km, because what was said behind the text
    is written again; moving costs Tk. Where nothing is cached, both cost Tk.

    Attributes:
        tokens: the tokens of all of them, each counted once a turn.
        requests: in how many requests they are.
        staying: with `lifetime: turn`, as they are sent.
        moving: with `lifetime: step`: at the end of each request, where nothing is cached.
    """

    tokens: int
    requests: int
    staying: float
    moving: float


def text_price(sent: Sequence[SentRequest], prices: Prices) -> TextPrice | None:
    """The price of the texts of one turn in these requests; None if there are none."""
    own = [one for one in sent if one.own]
    if not own:
        return None
    without, moving = ([getattr(one, name) or one.request for one in sent] for name in ("without", "moving"))
    least = bill(without, prices).cost
    first = {one.turn: sum(one.own) for one in reversed(own)}
    return TextPrice(
        tokens=sum(first.values()),
        requests=len(own),
        staying=round(bill((one.request for one in sent), prices).cost - least, 2),
        moving=round(bill(moving, prices).cost - least, 2),
    )


NO_CACHE = "no caching"
"""The baseline: `rewrite`, with every token at the uncached price."""

FROZEN_DIRECT = "frozen, no searches"
"""`frozen` without searches: everything is there, so the model need not search."""

DELIVERIES: tuple[Delivery, ...] = ("append", "rewrite", "frozen")


@dataclass(frozen=True, slots=True)
class Variant:
    """A conversation as it is sent under one delivery, and what it costs.

    Attributes:
        name: the delivery, or the name of a baseline.
        sent: its requests as the first model gets them; models differ in how they accept late definitions.
        bills: what they cost, by model.
        breaks: for each request, why it does not begin with the previous one; None where it does.
        texts: what its texts of one turn cost, by model; empty if it has none.
    """

    name: str
    sent: tuple[SentRequest, ...]
    bills: Mapping[str, Bill]
    breaks: tuple[PrefixBreak | None, ...]
    texts: Mapping[str, TextPrice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BillingModels:
    """The models for which a conversation is billed, and how.

    Attributes:
        models: their profiles; the first is the one that figures are shown for.
        definitions: where tool definitions stand; None for what each model can do.
        long: whether entries of the cache live for the longer of two lifetimes.
    """

    models: Sequence[ModelProfile]
    definitions: Definitions | None = None
    long: bool = False

    def channel(self, model: ModelProfile) -> Channel:
        """How a model accepts definitions and reminders mid-conversation."""
        channel = Channel.of(model)
        return replace(channel, definitions=self.definitions) if self.definitions else channel

    def prices(self, model: ModelProfile) -> Prices:
        """A model's prices."""
        return Prices.of(model, long=self.long)


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The result of a replay.

    Attributes:
        agent: the agent's name.
        transcript: the name of the file.
        billing: for which models, and how.
        tokens: the name of the token counter.
        tools: how many tools the agent has.
        variants: the deliveries in the chosen order, then the baselines.
        reported: the usage that the provider reported for the recorded requests, summed; None when it was not recorded.
    """

    agent: str
    transcript: str
    billing: BillingModels
    tokens: TokenSource
    tools: int
    variants: tuple[Variant, ...]
    reported: RecordedUsage | None = field(default=None)

    @property
    def models(self) -> Sequence[ModelProfile]:
        """The chosen profiles."""
        return self.billing.models

    @property
    def model(self) -> str:
        """The model that figures are shown for."""
        return self.models[0].name

    def bill(self, variant: Variant) -> Bill:
        """The cost of a variant with that model."""
        return variant.bills[self.model]

    def variant(self, name: str) -> Variant:
        """The variant of this name."""
        return next(variant for variant in self.variants if variant.name == name)


def replay(
    engine: Engine,
    transcript: TranscriptFile,
    billing: BillingModels,
    *,
    name: str = "",
    deliveries: Sequence[Delivery] = DELIVERIES,
) -> ReplayReport:
    """Play a conversation under each delivery, and bill it for each model.

    Raises:
        InputError: with every missing, unknown or wrong input of a turn.
    """
    channels = dict.fromkeys(map(billing.channel, billing.models))

    def played(delivery: Delivery, talk: TranscriptFile = transcript) -> _Played:
        return {channel: play(engine, talk, delivery, channel) for channel in channels}

    wanted: tuple[Delivery, ...] = (*dict.fromkeys((*deliveries, "frozen")),)
    found = {delivery: played(delivery) for delivery in wanted}
    variants = [_variant(delivery, sent, billing) for delivery, sent in found.items()]
    direct = without_searches(transcript, engine.search_tool)
    if direct != transcript:
        variants.append(_variant(FROZEN_DIRECT, played("frozen", direct), billing))
    variants.append(_variant(NO_CACHE, found.get("rewrite") or played("rewrite"), billing))
    return ReplayReport(
        engine.name,
        name,
        billing,
        engine.count.source,
        len(engine.tools),
        tuple(variants),
        _reported(transcript),
    )


_Played: TypeAlias = Mapping[Channel, tuple[SentRequest, ...]]
"""The requests of a conversation, by how models accept them."""


def _variant(name: str, played: _Played, billing: BillingModels) -> Variant:
    bills = {model.name: _bill(name, played[billing.channel(model)], billing.prices(model)) for model in billing.models}
    sent = played[billing.channel(billing.models[0])]
    priced = {each.name: text_price(played[billing.channel(each)], billing.prices(each)) for each in billing.models}
    texts = {model: price for model, price in priced.items() if price and name != NO_CACHE}
    return Variant(name, sent, bills, (None, *_breaks(sent)) if sent else (), texts)


def _bill(name: str, sent: Sequence[SentRequest], prices: Prices) -> Bill:
    if name == NO_CACHE:  # nothing is kept where nothing is marked
        plain = Prices(1.0, 1.0, output=prices.output)
        return bill((replace(one.request, breakpoints=()) for one in sent), plain)
    return bill((one.request for one in sent), prices)


def _breaks(sent: Sequence[SentRequest]) -> Iterator[PrefixBreak | None]:
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
