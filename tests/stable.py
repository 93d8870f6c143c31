"""The part of a prompt that a provider's cache can keep."""

from __future__ import annotations

from itertools import takewhile

from cuecard import Step


def stable_text(step: Step) -> str:
    """What stands in front of the boundary; without one, in front of the first section that may change."""
    bounded = any(not segment.stable for segment in step.segments)
    before = takewhile(lambda each: each.stable if bounded else each.tier == "static", step.segments)
    return "".join(segment.text for segment in before)
