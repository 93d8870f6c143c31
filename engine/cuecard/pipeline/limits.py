"""A section within its own budget."""

from __future__ import annotations

from cuecard.config.sections.section_spec import SectionSpec
from cuecard.model import CountTokens, Cut


def within_budget(spec: SectionSpec | None, body: str, count: CountTokens) -> tuple[str, tuple[Cut, ...]]:
    """As many whole lines of a section's body as its `budget` allows, and what that cost."""
    tokens = count(body) if spec and spec.budget is not None else 0
    if spec is None or spec.budget is None or tokens <= spec.budget:
        return body, ()
    lines = body.splitlines(keepends=True)
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count("".join(lines[:middle]).rstrip()) <= spec.budget
        low, high = (middle, high) if fits else (low, middle - 1)
    kept = "".join(lines[:low]).rstrip()
    return kept, (Cut(spec.id, f"budget: {spec.budget} tokens", tokens - count(kept)),)
