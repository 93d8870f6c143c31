"""Which scores of a ranking are good enough: every ranking has its own scale."""

from __future__ import annotations

from cuecard.config.search_spec import SearchSpec
from cuecard.records import dataclass


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
