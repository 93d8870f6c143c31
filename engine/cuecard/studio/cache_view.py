"""What a provider's cache makes of a request: read, written or neither, how far it was kept, and what changed first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

from cuecard.config.model_profile import ModelProfile
from cuecard.model import Manifest
from cuecard.records import dataclass
from cuecard.studio.steps import StudioRequest
from cuecard.workbench.bill import BillBlock, BillRow, Prices, Request, bill


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint: the tokens in front of it, what ends there, and whether the cache was read up to it."""

    tokens: int
    label: str
    kept: bool

    @property
    def text(self) -> str:
        """The words under the bar."""
        return f"{self.label} {self.tokens:,}"


_CHARACTER = 1.5
"""The width of a character under the bar, in percent of the narrowest bar that has several of these words."""

_MIDDLE, _LAST = 50.0, 99.0


@dataclass(frozen=True, slots=True)
class Label:
    """Words under the bar at a percentage of it, ending or starting there."""

    at: float
    text: str
    kept: bool = False
    anchor: Literal["start", "end"] = "end"

    def over(self, other: Label) -> bool:
        """Whether the words would lie over those of another one."""
        (a, b), (c, d) = self._span, other._span
        return a < d and c < b

    @property
    def _span(self) -> tuple[float, float]:
        width = _CHARACTER * (len(self.text) + 1)
        return (self.at, self.at + width) if self.anchor == "start" else (self.at - width, self.at)


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
    marks: tuple[Breakpoint, ...]
    most: int
    told: str
    block: str
    tools: int
    whole: bool
    broken: bool
    again: int

    @property
    def labels(self) -> tuple[Label, ...]:
        """The words under the bar; where two would lie over each other, the less telling one is left out."""
        wanted = [Label(100 * each.tokens / self.total, each.text, each.kept) for each in self.marks if each.label]
        wanted.sort(key=lambda each: not each.kept)
        ends = [Label(100.0, f"{self.total:,}"), Label(0.0, f"tools {self.tools:,}", anchor="start")]
        placed: list[Label] = []
        for each in (*wanted, *ends):
            sides = (each, replace(each, anchor="start")) if 0 < each.at < _LAST else (each,)
            sides = sides[::-1] if each.at < _MIDDLE else sides  # so that none leaves a narrow bar
            fits = [side for side in sides if not any(side.over(other) for other in placed)]
            placed += fits[:1]
        return tuple(sorted(placed, key=lambda each: each.at))

    @property
    def is_kept(self) -> bool:
        """Whether the words under the bar say how far the cache was read."""
        return any(each.kept for each in self.marks)

    @property
    def share(self) -> float:
        """The percentage that was read from the cache."""
        return 100 * self.read / self.total if self.total else 0.0


def cache_view(steps: Sequence[StudioRequest], place: int, model: ModelProfile) -> CacheView:
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


def _first(now: StudioRequest, blocks: Sequence[BillBlock], before: Request, row: BillRow) -> tuple[str, int]:
    """The first section that is new or changed, and how many tokens of this request the one before had, too."""
    same = {block.key for block in before.blocks}
    shared = sum(block.tokens for block in blocks if block.key in same)
    start, end = (len(before.blocks), None) if row.first_break is None else (row.first_break, row.first_break + 1)
    named = (section_of(block, now.manifest) for block in blocks[start:end])
    return next(filter(None, named), ""), shared


def _marks(request: Request, row: BillRow) -> Iterator[Breakpoint]:
    sums = [0, *accumulate(block.tokens for block in request.blocks)]
    groups = [block.label.partition("/")[0] for block in request.blocks]
    for place in request.breakpoints:
        kept = sums[place] == row.cached > 0
        inside = place < len(groups) and groups[place] == "system"
        label = "static" if inside else "system" if groups[place - 1] == "system" else ""
        yield Breakpoint(sums[place], "kept up to" if kept else label, kept)


def _told(row: BillRow, before: Request | None, now: Request, prices: Prices, model: ModelProfile) -> str:
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
