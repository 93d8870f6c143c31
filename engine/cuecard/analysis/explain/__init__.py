"""Why a prompt differs from the previous one: what changed, section by section, and where the common start ends."""

from cuecard.analysis.explain.answered import with_answer
from cuecard.analysis.explain.compare import compare
from cuecard.analysis.explain.comparison import Break, Cause, CauseKind, Change, Comparison, Kind
from cuecard.analysis.explain.provider import ProviderReason, provider_reason

__all__ = [
    "Break",
    "Cause",
    "CauseKind",
    "Change",
    "Comparison",
    "Kind",
    "ProviderReason",
    "compare",
    "provider_reason",
    "with_answer",
]
