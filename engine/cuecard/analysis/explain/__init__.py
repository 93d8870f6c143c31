"""Why a prompt differs from the previous one: what changed, section by section, and where the common start ends."""

from cuecard.analysis.explain.answered import with_answer
from cuecard.analysis.explain.compare import compare_manifests
from cuecard.analysis.explain.comparison import Break, Cause, CauseKind, Change, ChangeKind, Comparison
from cuecard.analysis.explain.provider import ProviderReason, provider_reason

__all__ = [
    "Break",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeKind",
    "Comparison",
    "ProviderReason",
    "compare_manifests",
    "provider_reason",
    "with_answer",
]
