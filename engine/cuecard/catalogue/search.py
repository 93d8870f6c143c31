"""The search tool around any ranker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import NoReturn, TypeVar, cast

from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.explanation import End, Explainer, Explanation, Ranked, RankerReasons, Reasons
from cuecard.catalogue.fields import WEIGHTS, Weights
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
from cuecard.model import Diagnostic, Hit, SearchResult, ToolCard
from cuecard.model.json_values import MAX_BITS
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
    query: str, hits: Sequence[Hit], result: SearchResult, *, limit: int, spec: SearchSpec, told: RankerReasons
) -> Explanation:
    """The result of a search among all examined hits, with the ranker's reasons."""
    best = result.confidence
    reasons = told.reasons or (Reasons(),) * len(hits)
    ranked = [
        Ranked(hit.tool, hit.score, hit.score / best if best else 0.0, n < len(result.hits), why)
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

DEFAULTS = SearchSpec.usual()

_NEXT = 5
"""The maximum number of hits not returned that an explanation shows."""

_ECHO = 80
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The index behind the search tool. Immutable, so threads may share it.

    Attributes:
        names: the tools that can be found.
        ranker: ranks them for a query; unknown names are dropped.
        examples: queries that would find something, for the message when nothing was found.
        fallback: makes the ranker that answers if the first one fails.
        diagnostics: diagnostics of every answer for the host, such as that a model could not be loaded.
        hidden: the names that do not exist for this search: they take no places in the result, and the host is told
            about them.
    """

    names: frozenset[str]
    ranker: Ranker
    examples: tuple[str, ...] = ()
    fallback: Callable[[], Ranker] = lambda: _nothing
    diagnostics: tuple[Diagnostic, ...] = ()
    hidden: frozenset[str] = frozenset()

    @classmethod
    def build(
        cls,
        cards: Iterable[ToolCard],
        *,
        weights: Weights = WEIGHTS,
        ranker: Ranker | None = None,
        fallback: Callable[[], Ranker] | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> SearchIndex:
        """An index of these cards, ranked by BM25 unless a ranker is given."""
        cards = tuple(cards)
        names = frozenset(card.name for card in cards)
        words = fallback or cache(lambda: Bm25Ranker.build(cards, weights))
        return cls(names, ranker or words(), _examples(cards), words, tuple(diagnostics))

    def search(
        self,
        query: str,
        limit: int | None = None,
        *,
        spec: SearchSpec = DEFAULTS,
        place: str = "",
        words: WordsSpec = ENGLISH,
    ) -> SearchResult:
        """The tools that answer the query, best first: none below the confidence, and no hit below the cut.

        Args:
            query: capability words, such as `attach an image`.
            limit: the maximum number of tools, 1 to 50; by default the spec's.
            spec: limit, confidence and cut from the agent file.
            place: where the instructions of tools are, for the message when some were found.
            words: the words of the message.

        Raises:
            InputError: when the limit is out of range.
        """
        limit = _allowed(spec.limit if limit is None else limit)
        if not query.strip():
            return SearchResult((), self._advised(words.search.empty_query, words))
        if len(query) > MAX_QUERY:
            said = fill(words.search.long_query, {"limit": str(MAX_QUERY)})
            return SearchResult((), self._advised(said, words))
        ranking, ranker = self._ranked(query, min(limit + len(self.hidden), MAX_LIMIT))
        hits = tuple(hit for hit in ranking.hits if hit.tool not in self.hidden)[:limit]
        sure = calibrated(spec, ranker)
        told = (*self.diagnostics, *ranking.diagnostics, *self._absent(worth_returning(ranking.hits[:limit], sure)))
        confidence = hits[0].score if hits else 0.0
        kept = worth_returning(hits, sure)
        if not kept:
            return SearchResult((), self.nothing(query, words), confidence, told)
        return SearchResult(kept, found_message(len(kept), place, words), confidence, told)

    def explain(
        self,
        query: str,
        cards: Mapping[str, ToolCard],
        limit: int | None = None,
        *,
        spec: SearchSpec = DEFAULTS,
        place: str = "",
        words: WordsSpec = ENGLISH,
    ) -> Explanation:
        """The same search with its reasons, and the next hits that it leaves out.

        Args:
            query: capability words, as for `search`.
            cards: the tools by name.
            limit: as for `search`.
            spec: as for `search`.
            place: as for `search`.
            words: as for `search`.

        Raises:
            InputError: when the limit is out of range.
        """
        result = self.search(query, limit, spec=spec, place=place, words=words)
        limit = spec.limit if limit is None else limit
        if not query.strip() or len(query) > MAX_QUERY:
            return explained(query, (), result, limit=limit, spec=spec, told=RankerReasons((), ()))
        ranking, ranker = self._ranked(query, min(limit + _NEXT, MAX_LIMIT))
        hits, asked = ranking.hits[: len(result.hits) + _NEXT], cast("object", ranker)
        told = RankerReasons((), ())
        if isinstance(asked, Explainer):
            told = asked.explain(query, [cards[hit.tool] for hit in hits])
        return explained(query, hits, result, limit=limit, spec=calibrated(spec, ranker), told=told)

    def nothing(self, query: str, words: WordsSpec) -> str:
        """The message when no tool matches."""
        return self._advised(fill(words.search.nothing, {"query": words.quoted(_echo(query))}), words)

    def _absent(self, hits: Iterable[Hit]) -> Iterator[Diagnostic]:
        for hit in hits:
            if hit.tool in self.hidden:
                yield Diagnostic("absent_tool", f"`{hit.tool}` matches the query but does not exist for this call")

    def _ranked(self, query: str, limit: int) -> tuple[Ranking, Ranker]:
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

    def _advised(self, said: str, words: WordsSpec) -> str:
        """The message that something went wrong, and what to try."""
        if not self.examples:
            return f"{said} {words.search.advice}".strip()
        examples = [fill(words.search.example, {"query": words.quoted(example)}) for example in self.examples]
        shown = {"examples": words.marks.between.join(examples)}
        return f"{said} {fill(words.search.advice_with_examples, shown)}".strip()


def _nothing(_query: str, _limit: int) -> Sequence[tuple[str, float]]:
    return ()


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


def found_message(count: int, place: str, words: WordsSpec) -> str:
    """The message when tools were found, whose instructions are in `place`."""
    said, told = words.search, {"count": str(count), "place": place}
    found, where = (said.found_one, said.place_one) if count == 1 else (said.found, said.place)
    return f"{fill(found, told)} {fill(where, told) if place else ''}".strip()


def _echo(query: str) -> str:
    words = " ".join(query.split())
    return visible(words if len(words) <= _ECHO else f"{words[:_ECHO].rstrip()}...")


def _examples(cards: Sequence[ToolCard]) -> tuple[str, ...]:
    """The first phrase of the first tool of each category: short, realistic, and spread over the catalogue."""
    first: dict[str, str] = {}
    for card in cards:
        if len(first) == _EXAMPLES:
            break
        if card.category not in first and (phrase := next(filter(None, map(_echo, card.phrases)), "")):
            first[card.category] = phrase
    return tuple(first.values())


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
