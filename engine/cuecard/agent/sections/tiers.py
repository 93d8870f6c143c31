"""How often a section may change: inferred from what it reads, or declared, and then checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuecard.agent.sections.section import BUILT_IN
from cuecard.agent.sections.section_source import is_constant
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.model import Tier

RHYTHM: Sequence[Tier] = ("static", "call", "step")
"""The tiers, from the least to the most changing."""


def tier_of(reads: Iterable[str], spec: SectionSpec | None = None) -> Tier:
    """How often something that reads these inputs may change; with `spec`, its source and condition count, too."""
    tiers = {BUILT_IN.get(name, "call") for name in reads}
    if "step" in tiers:
        return "step"
    return "call" if tiers or (spec and not is_constant(spec)) else "static"
