"""The search tool around any ranker."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import NoReturn, TypeVar, cast

from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.explanation import End, Explainer, Explanation, RankedTool, RankerReasons, Reasons
from cuecard.catalogue.fields import WEIGHTS, ToolNames, Weights
from cuecard.catalogue.ranker import (
    AsyncRanker,
    Ranker,
    Ranking,
    UnusableRankingError,
    calibrated,
    read_ranking,
    reason,
)
from cuecard.config.tools_spec import SearchSpec
from cuecard.config.values import fill
from cuecard.config.words_spec import ENGLISH, WordsSpec
from cuecard.errors import InputError, Problem, visible
from cuecard.model import CountTokens, Diagnostic, Hit, SearchResult, ToolCard
from cuecard.model.json_values import MAX_BITS
from cuecard.model.tools import Categories
from cuecard.records import dataclass

SURE = 0.9
"""An answer with this confidence covers the query: hits after a gap are about something else."""

GAP = 0.6
"""There is a gap before a hit that scores less than this share of the one before it."""


def worth_returning(hits: Sequence[Hit], spec: SearchSpec) -> tuple[Hit, ...]:
    """The hits that a search returns, out of hits sorted from the best. A cut of 0 leaves out none."""
    best = hits[0].score if hits else 0.0
    if best < spec.confidence:
        return ()
    kept = [hit for hit in hits if hit.score >= spec.cut * best]
    ends = (n for n, (hit, after) in enumerate(pairwise(kept), 1) if spec.cut and _is_gap(best, hit, after))
    return tuple(kept[: next(ends, None)])


def _is_gap(best: float, hit: Hit, after: Hit) -> bool:
    return best >= SURE and after.score < GAP * hit.score


def explained(
    query: str,
    hits: Sequence[Hit],
    result: SearchResult,
    *,
    limit: int,
    spec: SearchSpec,
    told: RankerReasons,
    named: Collection[str] = (),
) -> Explanation:
    """The result of a search among all examined hits, with the ranker's reasons."""
    best = result.confidence
    reasons = told.reasons or (Reasons(),) * len(hits)
    ranked = [
        RankedTool(hit.tool, hit.score, hit.score / best if best else 0.0, n < len(result.hits), why, hit.tool in named)
        for n, (hit, why) in enumerate(zip(hits, reasons, strict=True))
    ]
    return Explanation(
        query=query,
        words=told.words,
        ranked=tuple(ranked),
        confidence=best,
        needed=spec.confidence,
        cut=spec.cut,
        limit=limit,
        end=_end(hits, result, limit, spec),
        message=result.message,
        diagnostics=result.diagnostics,
        categories=result.categories,
    )


def _end(hits: Sequence[Hit], result: SearchResult, limit: int, spec: SearchSpec) -> End:
    if not result.hits:
        return "confidence" if hits else "end"
    if len(result.hits) == len(hits):
        return "end"
    if len(result.hits) == limit:
        return "limit"
    return "cut" if hits[len(result.hits)].score < spec.cut * result.confidence else "gap"


MAX_LIMIT = 50
MAX_QUERY = 2000
"""The maximum length of a query in characters; anything longer is not worth ranking."""

MAX_CATEGORIES = 400
"""The maximum length of what a search without a hit says of categories, in tokens."""

DEFAULTS = SearchSpec.usual()

_NEXT = 5
"""The maximum number of hits not returned that an explanation shows."""

_ECHO = 80
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class InstructedTools:
    """The tools that have instructions, and the section in which a model reads them."""

    place: str = ""
    tools: Collection[str] = ()


NOBODY = InstructedTools()


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The index behind the search tool. Immutable, so threads may share it.

    Attributes:
        names: the tools that can be found.
        ranker: ranks them for a query; unknown names are dropped.
        cards: the same tools, for what is said when nothing was found.
        called: gives the names of tools and categories, by which a query may call for them.
        fallback: makes the ranker that answers if the first one fails.
        diagnostics: diagnostics of every answer for the host, such as that a model could not be loaded.
        count: counts the tokens of categories; without it, an answer has none.
        hidden: the names that do not exist for this search: they take no places in the result, and the host is told
            about them.
        known: the names that a conversation has found already: nobody has to be told how to find them.
    """

    names: frozenset[str]
    ranker: Ranker
    cards: tuple[ToolCard, ...]
    called: Callable[[], ToolNames]
    fallback: Callable[[], Ranker]
    diagnostics: tuple[Diagnostic, ...]
    count: CountTokens | None
    hidden: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        cards: Iterable[ToolCard],
        *,
        weights: Weights = WEIGHTS,
        ranker: Ranker | None = None,
        fallback: Callable[[], Ranker] | None = None,
        diagnostics: Sequence[Diagnostic] = (),
        count: CountTokens | None = None,
    ) -> SearchIndex:
        """An index of these cards, ranked by BM25 unless a ranker is given."""
        cards = tuple(cards)
        names = frozenset(card.name for card in cards)
        words = fallback or cache(lambda: Bm25Ranker.build(cards, weights))
        called = cache(lambda: ToolNames.of(cards))
        return cls(names, ranker or words(), cards, called, words, tuple(diagnostics), count)

    def search(
        self,
        query: str,
        limit: int | None = None,
        *,
        spec: SearchSpec = DEFAULTS,
        instructed: InstructedTools = NOBODY,
        words: WordsSpec = ENGLISH,
    ) -> SearchResult:
        """The tools that answer the query, best first: none below the confidence, and no hit below the cut.

        What the query names, a tool or a category, comes before what the ranker finds. If there is nothing, the answer
        has the categories.

        Args:
            query: capability words, such as `attach an image`.
            limit: the maximum number of tools, 1 to 50; by default the spec's.
            spec: limit, confidence and cut from the agent file.
            instructed: the tools that have instructions, for the message when some were found.
            words: the words of the message.

        Raises:
            InputError: when the limit is out of range.
        """
        limit = _allowed(spec.limit if limit is None else limit)
        if not query.strip():
            return self._nothing(words.search.empty_query, words)
        if len(query) > MAX_QUERY:
            return self._nothing(fill(words.search.long_query, {"limit": str(MAX_QUERY)}), words)
        ranking, ranker = self._ranked(query, min(limit + len(self.hidden), MAX_LIMIT), words)
        hits = tuple(hit for hit in ranking.hits if hit.tool not in self.hidden)[:limit]
        sure = calibrated(spec, ranker)
        told = (*self.diagnostics, *ranking.diagnostics, *self._absent(worth_returning(ranking.hits[:limit], sure)))
        confidence = hits[0].score if hits else 0.0
        kept = worth_returning(hits, sure)
        if not kept:
            said = fill(words.search.nothing, {"query": words.quoted(_echo(query))})
            return self._nothing(said, words, confidence, told)
        return SearchResult(kept, found_message([hit.tool for hit in kept], instructed, words), confidence, told)

    def explain(
        self,
        query: str,
        cards: Mapping[str, ToolCard],
        limit: int | None = None,
        *,
        spec: SearchSpec = DEFAULTS,
        instructed: InstructedTools = NOBODY,
        words: WordsSpec = ENGLISH,
    ) -> Explanation:
        """The same search with its reasons, and the next hits that it leaves out.

        Args:
            query: capability words, as for `search`.
            cards: the tools by name.
            limit: as for `search`.
            spec: as for `search`.
            instructed: as for `search`.
            words: as for `search`.

        Raises:
            InputError: when the limit is out of range.
        """
        result = self.search(query, limit, spec=spec, instructed=instructed, words=words)
        limit = spec.limit if limit is None else limit
        if not query.strip() or len(query) > MAX_QUERY:
            return explained(query, (), result, limit=limit, spec=spec, told=RankerReasons((), ()))
        ranking, ranker = self._ranked(query, min(limit + _NEXT, MAX_LIMIT), words)
        hits, asked = ranking.hits[: len(result.hits) + _NEXT], cast("object", ranker)
        told = RankerReasons((), ())
        if isinstance(asked, Explainer):
            told = asked.explain(query, [cards[hit.tool] for hit in hits])
        tools, of_category = self.called().named(query, words.search.other)
        spec, named = calibrated(spec, ranker), {*tools, *of_category}
        return explained(query, hits, result, limit=limit, spec=spec, told=told, named=named)

    def _nothing(
        self, said: str, words: WordsSpec, confidence: float = 0.0, told: tuple[Diagnostic, ...] = ()
    ) -> SearchResult:
        """The answer without a hit: what to try, and the categories of the tools that are left to find."""
        left = [card for card in self.cards if card.name not in self.hidden and card.name not in self.known]
        categories = _categories(left, words, self.count) if self.count else ()
        more = (_advice(left, words), words.search.categories if categories else "")
        message = " ".join(filter(None, (said, *more)))
        return SearchResult((), message, confidence, told, categories=categories)

    def _absent(self, hits: Iterable[Hit]) -> Iterator[Diagnostic]:
        for hit in hits:
            if hit.tool in self.hidden:
                yield Diagnostic("absent_tool", f"`{hit.tool}` matches the query but does not exist for this call")

    def _ranked(self, query: str, limit: int, words: WordsSpec) -> tuple[Ranking, Ranker]:
        """The ranker's answer behind the tools that the query names, which are as sure as can be."""
        ranking, ranker = self._asked(query, limit)
        tools, of_category = self.called().named(query, words.search.other)
        place = {hit.tool: n for n, hit in enumerate(ranking.hits)}
        near = sorted(of_category, key=lambda name: place.get(name, len(place)))
        first = sorted(dict.fromkeys((*tools, *near)), key=self.hidden.__contains__)
        named = [Hit(name, 1.0) for name in first[:limit]]
        rest = [hit for hit in ranking.hits if hit.tool not in first]
        return replace(ranking, hits=(*named, *rest)[:limit]), ranker

    def _asked(self, query: str, limit: int) -> tuple[Ranking, Ranker]:
        """The ranker's answer; if it is unusable, the fallback's answer and the reason."""
        try:
            return read_ranking(self.ranker(query, limit), self.names, limit), self.ranker
        except UnusableRankingError as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - whatever a host's ranker raises, the conversation goes on
            why = reason(error)
        ranker = self.fallback()
        failed = Diagnostic("ranker_failed", f"the ranker failed, so BM25 answered instead: {why}")
        return replace(read_ranking(ranker(query, limit), self.names, limit), diagnostics=(failed,)), ranker


def _allowed(limit: int) -> int:
    if 1 <= limit <= MAX_LIMIT:
        return limit
    hint = f"ask for 1 to {MAX_LIMIT} tools; {DEFAULTS.limit} is the default"
    raise InputError(Problem("search-limit", f"a search cannot return {_number(limit)} tools", hint, name="limit"))


def _number(limit: int) -> str:
    """The number, if it is short enough to print."""
    return str(limit) if limit.bit_length() <= MAX_BITS else "that many"


def wrong_limit(limit: int, words: WordsSpec) -> str:
    """The message for a limit that is out of range."""
    numbers = {"limit": _number(limit), "most": str(MAX_LIMIT), "usual": str(DEFAULTS.limit)}
    return fill(words.search.wrong_limit, numbers)


def found_message(tools: Sequence[str], instructed: InstructedTools, words: WordsSpec) -> str:
    """The message when these tools were found; it sends nobody to instructions that a tool does not have."""
    told = [name for name in tools if name in instructed.tools] if instructed.place else []
    said, one = words.search, len(tools) == 1
    where = said.place_some if len(told) < len(tools) else said.place_one if one else said.place
    values = {"count": str(len(tools)), "place": instructed.place, "tools": words.listed(told)}
    found = fill(said.found_one if one else said.found, values)
    return f"{found} {fill(where, values) if told else ''}".strip()


def _echo(query: str) -> str:
    words = " ".join(query.split())
    return visible(words if len(words) <= _ECHO else f"{words[:_ECHO].rstrip()}...")


def _advice(left: Sequence[ToolCard], words: WordsSpec) -> str:
    """What to search with; the examples are phrases of tools that are left to find."""
    queries = [fill(words.search.example, {"query": words.quoted(example)}) for example in _examples(left)]
    if not queries:
        return words.search.advice
    return fill(words.search.advice_with_examples, {"examples": words.marks.between.join(queries)})


def _examples(cards: Sequence[ToolCard]) -> tuple[str, ...]:
    """The first phrase of the first tool of each category: short, realistic, and spread over the catalogue."""
    first: dict[str, str] = {}
    for card in cards:
        if len(first) == _EXAMPLES:
            break
        if card.category not in first and (phrase := next(filter(None, map(_echo, card.phrases)), "")):
            first[card.category] = phrase
    return tuple(first.values())


def _categories(left: Sequence[ToolCard], words: WordsSpec, count: CountTokens) -> Categories:
    """The categories with their tools; without them, or only the first ones, where there is no room for all."""
    found: dict[str, list[str]] = {}
    for card in left:
        found.setdefault(words.quoted(_echo(card.category)) or words.search.other, []).append(card.name)

    def fits(said: Categories) -> bool:
        return count(json.dumps({"categories": said}, ensure_ascii=False)) <= MAX_CATEGORIES

    whole = {category: tuple(names) for category, names in found.items()}
    if whole and len(left) <= MAX_CATEGORIES and fits(whole):  # no name is shorter than a token
        return whole
    names = (*found,)[:MAX_CATEGORIES]
    return names[: bisect_left(range(len(names)), 1, key=lambda last: int(not fits(names[: last + 1])))]


Answer = TypeVar("Answer")


async def search_remotely(index: SearchIndex, ranker: AsyncRanker, search: Callable[[SearchIndex], Answer]) -> Answer:
    """The result of a search with an awaited ranker; if it fails, the index's fallback answers.

    The ranker is not called if the search would not call one: for a blank query, or one that is too long.

    Args:
        index: the index to search; its own ranker is not used.
        ranker: is used instead.
        search: the search as a function of an index.
    """
    asked: list[tuple[str, int]] = []

    def note(query: str, limit: int) -> Sequence[tuple[str, float]]:
        asked.append((query, limit))
        return ()

    refused = search(replace(index, ranker=note))
    if not asked:
        return refused
    try:
        hits = await ranker(*asked[0])
    except Exception as error:  # noqa: BLE001 - as with a ranker that is not awaited, the conversation goes on
        return search(replace(index, ranker=partial(_fail, error)))
    return search(replace(index, ranker=lambda *_: hits))


def _fail(error: Exception, _query: str, _limit: int) -> NoReturn:
    raise error
