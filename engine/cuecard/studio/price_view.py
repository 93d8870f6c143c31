"""The Price screen: what the conversations of an agent cost under each delivery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.studio.screen import Asked


def price(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return {"conversations": len(asked.listed)}
