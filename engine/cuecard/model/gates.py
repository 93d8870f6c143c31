"""What switches tools on and off for one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one call.

    Attributes:
        enabled: names of the tools that are switched on; empty for all.
        harness: categories of harness tools that belong to this kind of run.
        flags: feature flags; only one that is exactly False switches anything off.
        secrets: names of the available secrets; None if the host does not say, in which case none is required.
        allowed: only these tools; None for all.
        blocked: never these, even if allowed.
    """

    enabled: tuple[str, ...] = ()
    harness: tuple[str, ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    secrets: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None
    blocked: tuple[str, ...] = ()
