"""What a provider's cache makes of a request: read, written or neither, how far it was kept, and what changed first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from cuecard.config.model_profile import ModelProfile
from cuecard.model import Manifest
from cuecard.records import dataclass
from cuecard.studio.steps import Sent
from cuecard.workbench.bill import BillBlock, Prices, Request, Row, bill


@dataclass(frozen=True, slots=True)
class Mark:
    """A breakpoint: the tokens in front of it, what ends there, and whether the cache was read up to it."""

    tokens: int
    label: str
    kept: bool


@dataclass(frozen=True, slots=True)
class CacheView:
    """The cache bar of a request.

    Attributes:
        total: the tokens of the whole request; the next three add up to them.
        read: read from the cache.
        written: written to it.
        fresh: neither.
        cost: of the request with its answer, in plain input tokens.
        missed: the same if nothing had been in the cache.
        marks: the breakpoints in order.
        most: how many breakpoints the model takes; 0 if it caches by itself.
        told: what happened, in words.
        block: the section that is new or has changed first; empty if only messages are.
        tools: the tokens of the definitions of tools at its beginning.
        whole: whether the whole request is known, and not the prompt alone.
        broken: whether a part of the request before was changed or left out.
        again: tokens that the request before had sent already, and that are not read from the cache.
    """

    total: int
    read: int
    written: int
    fresh: int
    cost: float
    missed: float
    marks: tuple[Mark, ...]
    most: int
    told: str
    block: str
    tools: int
    whole: bool
    broken: bool
    again: int

    @property
    def share(self) -> float:
        """The percentage that was read from the cache."""
        return 100 * self.read / self.total if self.total else 0.0


def cache_view(steps: Sequence[Sent], place: int, model: ModelProfile) -> CacheView:
    """The cache bar of a step for a model; of the prompt alone where only manifests are known."""
    requests = [sent.billed for sent in steps[: place + 1]]
    prices = Prices.of(model)
    row, alone = bill(requests, prices).rows[-1], bill(requests[-1:], prices).rows[-1]
    now, before = requests[-1], requests[-2] if place else None
    block, shared = _first(steps[place], now.blocks, before, row) if before else ("", 0)
    return CacheView(
        row.input_tokens,
        row.cached,
        row.written,
        row.fresh,
        row.cost,
        alone.cost,
        tuple(_marks(now, row)) if prices.explicit else (),
        model.breakpoints,
        _told(row, before, now, prices, model),
        block,
        sum(each.tokens for each in now.blocks if each.label.startswith("tools/")),
        steps[place].whole,
        row.rewrites,
        max(0, shared - row.cached),
    )


def section_of(block: BillBlock, manifest: Manifest) -> str:
    """The id of the section that a block of a request belongs to; empty for messages and definitions of tools."""
    if block.key.startswith("system/"):
        return block.label.partition("/")[2]
    told = block.key.removeprefix("appended:")
    return next((each.id for each in manifest.sections if each.placement == "appended" and each.sha256 == told), "")


def _first(now: Sent, blocks: Sequence[BillBlock], before: Request, row: Row) -> tuple[str, int]:
    """The first section that is new or changed, and how many tokens of this request the one before had, too."""
    same = {block.key for block in before.blocks}
    shared = sum(block.tokens for block in blocks if block.key in same)
    start, end = (len(before.blocks), None) if row.first_break is None else (row.first_break, row.first_break + 1)
    named = (section_of(block, now.manifest) for block in blocks[start:end])
    return next(filter(None, named), ""), shared


def _marks(request: Request, row: Row) -> Iterator[Mark]:
    sums = [0, *accumulate(block.tokens for block in request.blocks)]
    groups = [block.label.partition("/")[0] for block in request.blocks]
    for place in request.breakpoints:
        kept = sums[place] == row.cached > 0
        inside = place < len(groups) and groups[place] == "system"
        label = "static" if inside else "system" if groups[place - 1] == "system" else ""
        yield Mark(sums[place], "kept up to" if kept else label, kept)


def _told(row: Row, before: Request | None, now: Request, prices: Prices, model: ModelProfile) -> str:
    if before is None:
        return "The first request of the conversation: nothing was in the cache yet."
    if row.first_break is not None:
        if row.first_break == len(now.blocks):
            return "The end of the request before was left out; nothing in front of it has changed."
        return "Something that was sent before has changed."
    late = prices.lifetime is not None and now.at is not None and before.at is not None
    if late and now.at - before.at > prices.lifetime and not row.cached:  # type: ignore[operator]  # `late` says that none is None
        return f"Nothing sent before has changed, but the cache keeps it for {prices.lifetime:,.0f} seconds only."
    if row.below_minimum:
        return (
            f"Nothing sent before has changed, but {model.name} caches nothing shorter than {prices.minimum:,} tokens."
        )
    return "Nothing sent before has changed."
