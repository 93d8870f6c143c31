"""How often a section may change, and how long its text lives: inferred from what it reads, or declared and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cuecard.agent.sections.section import BUILT_IN
from cuecard.agent.sections.section_source import is_constant
from cuecard.config.agent_file import InputSpec
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.model import Lifetime, Tier

RHYTHM: Sequence[Tier] = ("static", "call", "step")
"""The tiers, from the least to the most changing."""

LIVES: Sequence[Lifetime] = ("conversation", "turn", "step")
"""The lifetimes, from the longest to the shortest."""


def tier_of(reads: Iterable[str], spec: SectionSpec | None, inputs: Mapping[str, InputSpec]) -> Tier:
    """How often something that reads these inputs may change; with `spec`, its source and condition count, too."""
    tiers = {BUILT_IN.get(name) or (inputs[name].tier if name in inputs else "call") for name in reads}
    if "step" in tiers:
        return "step"
    return "call" if tiers or (spec and not is_constant(spec)) else "static"


def lifetime_of(reads: Iterable[str], inputs: Mapping[str, InputSpec]) -> Lifetime:
    """How long a text lives that reads these inputs: as long as the one that lives shortest."""
    return max((inputs[name].lives for name in reads if name in inputs), key=LIVES.index, default="conversation")


def shorter(one: Lifetime, other: Lifetime) -> Lifetime:
    """The shorter of two lifetimes."""
    return other if outlives(one, other) else one


def outlives(one: Lifetime, other: Lifetime) -> bool:
    """Whether the first lifetime is the longer one."""
    return LIVES.index(one) < LIVES.index(other)
