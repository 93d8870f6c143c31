"""Which hits are worth their tokens: none of an unsure answer, none far below the best, none after a wide gap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cuecard.catalogue.explanation import End, Explained, Explanation, Ranked, Reasons
from cuecard.config.search_spec import SearchSpec
from cuecard.model import Hit, SearchResult

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
    query: str, hits: Sequence[Hit], result: SearchResult, *, limit: int, spec: SearchSpec, told: Explained
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
