"""The Editor screen as pages: one tool's entry or one section, and what a person writes there and saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.studio.screen import Asked


def editor(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return {
        "entries": sum(card.instructions is not None for card in asked.engine.tools.values()) if asked.engine else None
    }
