"""The Switches screen: which tools the model has, and what switching them on or off does to the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.studio.screen import Asked


def switches(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return {"tools": len(asked.engine.tools) if asked.engine else None}
