"""What a ranker is, and how its answers are read: defensively, each on its own scale."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from math import isfinite
from numbers import Real
from typing import TypeAlias

from cuecard.config.tools_spec import SearchSpec
from cuecard.errors import visible
from cuecard.model import Diagnostic, Hit
from cuecard.records import dataclass

Ranker: TypeAlias = Callable[[str, int], Sequence[tuple[str, float]]]
"""Query and limit to names with scores from 0 to 1, best first; the first score is the confidence of the answer."""

AsyncRanker: TypeAlias = Callable[[str, int], Awaitable[Sequence[tuple[str, float]]]]
"""A `Ranker` that is awaited: query and limit to names with scores from 0 to 1, best first."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A ranker's own thresholds, in its attribute `calibration`; an agent file can override them.

    Attributes:
        confidence: an answer with a lower best score counts as empty.
        cut: hits that score below this share of the best are not returned.
    """

    confidence: float
    cut: float


def calibrated(spec: SearchSpec, ranker: object) -> SearchSpec:
    """The settings of a search: from the agent file, then from the ranker, then the defaults."""
    says = getattr(ranker, "calibration", None)
    if not isinstance(says, Calibration):
        return spec
    told = {"confidence": says.confidence, "cut": says.cut}
    return spec.model_copy(update={key: value for key, value in told.items() if key not in spec.model_fields_set})


_SHOWN = 200
_OVER = 1.001  # rounding may carry a cosine a little over


@dataclass(frozen=True, slots=True)
class Ranking:
    """Known tools, each once, best first, with scores from 0 to 1; and the problems of the ranker's answer."""

    hits: tuple[Hit, ...]
    diagnostics: tuple[Diagnostic, ...]


class UnusableRankingError(Exception):
    """A ranker's answer is entirely unusable; the message says why."""


def read_ranking(said: object, names: frozenset[str], limit: int) -> Ranking:
    """A ranker's answer as hits.

    Invalid entries are left out: unknown names, scores that are not numbers, and repeated names. A list is read only up
    to the number of tools. Scores out of range count as 0 or 1.

    Raises:
        UnusableRankingError: when it is not a sequence of pairs, or when all of its entries are invalid.
    """
    if not isinstance(said, Sequence) or isinstance(said, (str, bytes)):
        raise UnusableRankingError(_not_a_list(said))
    scores: dict[str, float] = {}
    faults: list[str] = []
    entries = list(islice(said, len(names) + 1))
    for entry in entries:
        if fault := _fault(entry, names, scores):
            faults.append(fault)
        else:
            scores[entry[0]] = min(1.0, max(0.0, float(entry[1])))
    if entries and not scores:
        raise UnusableRankingError(f"no part of its answer is usable: {faults[0]}")
    highest = max((entry[1] for entry in entries if not _fault(entry, names, {})), default=0)
    if highest > _OVER:
        faults.append(f"scores above 1, such as {highest:.3g}, which are treated as 1")
    hits = sorted(scores.items(), key=lambda hit: -hit[1])[:limit]
    found = (Diagnostic("ranker_mended", _summary(faults)),) if faults else ()
    return Ranking(tuple(Hit(name, score) for name, score in hits), found)


def _fault(entry: object, names: frozenset[str], known: dict[str, float]) -> str:
    if not isinstance(entry, Sequence) or isinstance(entry, (str, bytes)) or len(entry) != 2:
        return f"`{_shown(entry)}` is not a name with a score"
    name, score = entry
    if not isinstance(name, str) or name not in names:
        return f"no tool is named `{_shown(name)}`"
    if not isinstance(score, Real) or not isfinite(score):
        return f"the score of `{name}` is `{_shown(score)}`, not a number"
    return f"`{name}` is named twice" if name in known else ""


def _not_a_list(said: object) -> str:
    if inspect.iscoroutine(said):
        said.close()
        return "it is asynchronous; it must be a plain function"
    return f"its answer is of type {type(said).__name__}, not a list of names with scores"


def _summary(faults: Sequence[str]) -> str:
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"part of the ranker's answer was ignored: {faults[0]}{more}"


def reason(error: Exception) -> str:
    """An exception on one short line, whatever its message."""
    said = _shown(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _shown(value: object) -> str:
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - whatever a stranger's object does when it is printed
        text = type(value).__name__
    return visible(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
