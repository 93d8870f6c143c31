"""The price of a prompt: the cost of a sequence of requests if the provider caches prefixes.

A request is a list of blocks in the order in which the provider hashes them: tools, system prompt, messages. What it
shares with earlier requests, block by block from the start, can be read from the cache. The model is deliberately
simple: whole blocks, exact lifetimes, and every request reaches the cache. Thinking is unknown and not billed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from cuecard.config.model_profile import ModelProfile

_STEPS = {"openai": 128, "vllm": 16}
"""Cached prefixes grow in steps of this many tokens (developers.openai.com, prompt caching guide; docs.vllm.ai)."""


@dataclass(frozen=True, slots=True)
class BillBlock:
    """A piece of a request that is cached as a whole or not at all: equal keys mean equal content.

    `label` tells people what it is, such as the id of a section; comparisons ignore it.
    """

    key: str
    tokens: int
    label: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    `breakpoints` are the numbers of blocks before each cache breakpoint. `at` is the time in seconds, relative to any
    origin that all requests share; None if unknown. `answer` is the number of tokens in the model's answer.
    """

    blocks: tuple[BillBlock, ...]
    breakpoints: tuple[int, ...] = ()
    at: float | None = None
    answer: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of the whole request."""
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Prices:
    """A provider's prices, relative to a plain input token.

    Attributes:
        read: price of a token read from the cache.
        write: price of a token written to it.
        minimum: shorter prefixes are not cached, in tokens as counted here.
        step: cached tokens are rounded down to a multiple of this, if `explicit` is false.
        explicit: entries exist only at breakpoints; otherwise every prefix of every request is cached.
        lifetime: the lifetime of an unused entry in seconds; None for unlimited.
        look_back: how many blocks back from a breakpoint, including its own, entries are searched; None for no limit.
        output: price of a token of the answer.
    """

    read: float
    write: float
    minimum: int = 1024
    step: int = 1
    explicit: bool = True
    lifetime: float | None = None
    look_back: int | None = None
    output: float = 0.0

    @classmethod
    def of(cls, profile: ModelProfile, *, long: bool = False) -> Prices:
        """The prices of a model, with its minimum in tokens as cuecard counts them.

        Args:
            profile: what is known about the model.
            long: entries live for the longer of its lifetimes, if it has one, and are written at that price.
        """
        explicit = profile.breakpoints > 0
        lasts = long and profile.long_cache_lifetime is not None
        return cls(
            profile.cache_read,
            profile.long_cache_write or profile.cache_write if lasts else profile.cache_write,
            math.ceil(profile.min_cache_tokens / profile.token_factor),
            1 if explicit else _STEPS.get(profile.provider, 1),
            explicit,
            profile.long_cache_lifetime if lasts else profile.cache_lifetime,
            profile.look_back if explicit else None,
            profile.output,
        )

    def split(self, cached: int, written: int, fresh: int, answer: int) -> tuple[float, float, float, float]:
        """What each kind of tokens costs, in plain input tokens; together, that is the cost."""
        return cached * self.read, written * self.write, float(fresh), answer * self.output


@dataclass(frozen=True, slots=True)
class BillRow:
    """The cost of one request.

    Attributes:
        input_tokens: all tokens of the request; `cached`, `written` and `fresh` add up to them.
        cached: read from the cache.
        written: written to the cache.
        fresh: neither, at the plain price.
        output_tokens: tokens of the answer.
        cost: of all of it, in plain input tokens.
        first_break: the first block that differs from the previous request, counted from 0; None if the request only
            adds to it. If it equals the number of blocks, the previous request had more.
        below_minimum: tokens that would have been read if the model had no minimum.
    """

    input_tokens: int
    cached: int
    written: int
    fresh: int
    output_tokens: int
    cost: float
    first_break: int | None
    below_minimum: int

    @property
    def rewrites(self) -> bool:
        """Whether the request changes or drops parts of the previous one."""
        return self.first_break is not None


@dataclass(frozen=True, slots=True)
class Bill:
    """The cost of a conversation, by request and in total."""

    rows: tuple[BillRow, ...]

    @property
    def input_tokens(self) -> int:
        """Tokens of all requests."""
        return sum(row.input_tokens for row in self.rows)

    @property
    def output_tokens(self) -> int:
        """Tokens of all answers."""
        return sum(row.output_tokens for row in self.rows)

    @property
    def cached(self) -> int:
        """Tokens read from the cache."""
        return sum(row.cached for row in self.rows)

    @property
    def kinds(self) -> tuple[int, int, int, int]:
        """Tokens read from the cache, written to it, neither, and of answers, as `Prices.split` takes them."""
        rows = self.rows
        return self.cached, sum(row.written for row in rows), sum(row.fresh for row in rows), self.output_tokens

    @property
    def cached_share(self) -> float:
        """The share of all tokens that was read from the cache, from 0 to 1."""
        return self.cached / self.input_tokens if self.input_tokens else 0.0

    @property
    def cost(self) -> float:
        """In plain input tokens."""
        return math.fsum(row.cost for row in self.rows)

    @property
    def rewrites(self) -> int:
        """The number of requests that change or drop parts of the previous one."""
        return sum(row.rewrites for row in self.rows)

    @property
    def below_minimum(self) -> int:
        """Tokens that would have been read if the model had no minimum."""
        return sum(row.below_minimum for row in self.rows)


def bill(requests: Iterable[Request], prices: Prices) -> Bill:
    """The cost of these requests in sequence, beginning with an empty cache."""
    return Bill(tuple(map(Billing(prices).row, requests)))


def first_break(before: Request, after: Request) -> int | None:
    """The first block of a request that differs from the previous one; None if the request only adds to it."""
    pairs = zip(before.blocks, after.blocks, strict=False)
    same = next((n for n, (old, new) in enumerate(pairs) if old.key != new.key), None)
    if same is None and len(after.blocks) < len(before.blocks):
        return len(after.blocks)
    return same


class Billing:
    """Bills requests one after the other, beginning with an empty cache."""

    def __init__(self, prices: Prices) -> None:
        self._prices, self._cache = prices, _Cache()
        self._before: Request | None = None

    def row(self, request: Request) -> BillRow:
        """The cost of the next request."""
        prices, cache = self._prices, self._cache
        path = cache.path(request)
        sums = [0, *accumulate(block.tokens for block in request.blocks)]
        cache.forget(request.at, prices.lifetime)
        seen = _seen(request, prices)
        reached = max((sums[n] for n in seen if path[n] in cache.marked), default=0)
        hit = max((sums[n] for n in seen if path[n] in cache.kept), default=0)
        if not prices.explicit:
            reached, hit = reached - reached % prices.step, hit - hit % prices.step
        hit = hit if hit >= prices.minimum else 0
        ends = request.breakpoints if prices.explicit else range(1, len(path))
        kept = [n for n in ends if sums[n] >= prices.minimum or not prices.explicit]
        stored = max((sums[n] for n in kept), default=0) if prices.explicit else sums[-1]
        written = max(0, stored - hit)
        fresh = sums[-1] - hit - written
        cost = sum(prices.split(hit, written, fresh, request.answer))
        broken = first_break(self._before, request) if self._before else None
        cache.keep(path, kept, ends, request.at)
        self._before = request
        return BillRow(sums[-1], hit, written, fresh, request.answer, cost, broken, reached - hit)


def _seen(request: Request, prices: Prices) -> Iterable[int]:
    """The numbers of blocks after which entries are searched."""
    if prices.look_back is None:
        return range(1, len(request.blocks) + 1)
    return {n for end in request.breakpoints for n in range(max(1, end - prices.look_back + 1), end + 1)}


class _Cache:
    """The cached prefixes. A prefix is a node in the tree of all requests; node 0 is the empty one."""

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, str], int] = {}
        self.kept: dict[int, float | None] = {}
        self.marked: dict[int, float | None] = {}

    def path(self, request: Request) -> list[int]:
        """The node of each prefix of a request, shortest first."""
        path = [0]
        for block in request.blocks:
            path.append(self.nodes.setdefault((path[-1], block.key), len(self.nodes) + 1))
        return path

    def keep(self, path: list[int], kept: Iterable[int], marked: Iterable[int], at: float | None) -> None:
        """Store entries at these prefixes, and mark those along the request's path as used."""
        self.kept.update({node: at for n, node in enumerate(path) if n and (node in self.kept)})
        self.kept.update({path[n]: at for n in kept})
        self.marked.update({node: at for n, node in enumerate(path) if n and (node in self.marked)})
        self.marked.update({path[n]: at for n in marked})

    def forget(self, now: float | None, lifetime: float | None) -> None:
        """Drop entries unused for longer than the lifetime; entries without a known time are kept."""
        if now is not None and lifetime is not None:
            self.kept, self.marked = (_young(entries, now - lifetime) for entries in (self.kept, self.marked))


def _young(entries: dict[int, float | None], oldest: float) -> dict[int, float | None]:
    return {node: used for node, used in entries.items() if used is None or used >= oldest}
