"""Which hits are worth their tokens: none of an unsure answer, and none that is far below the best."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.catalogue.explanation import End, Explained, Explanation, Ranked, Reasons
from cuecard.config.search_spec import SearchSpec
from cuecard.model import Hit, SearchResult


def worth_returning(hits: Sequence[Hit], spec: SearchSpec) -> tuple[Hit, ...]:
    """Of hits that are sorted, the best first: those that a search returns."""
    best = hits[0].score if hits else 0.0
    return tuple(hit for hit in hits if hit.score >= spec.cut * best) if best >= spec.confidence else ()


def explained(
    query: str, hits: Sequence[Hit], result: SearchResult, *, limit: int, spec: SearchSpec, told: Explained
) -> Explanation:
    """The result of a search among all hits that were looked at, with what the ranker tells of them."""
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
        end=_end(hits, result, limit),
        message=result.message,
    )


def _end(hits: Sequence[Hit], result: SearchResult, limit: int) -> End:
    if not result.hits:
        return "confidence" if hits else "end"
    if len(result.hits) == len(hits):
        return "end"
    return "limit" if len(result.hits) == limit else "cut"
