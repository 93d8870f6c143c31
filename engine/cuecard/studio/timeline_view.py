"""The Timeline screen: conversations, their steps, what entered and left, and any two of them compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.studio.screen import Asked


def timeline(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return {"runs": asked.listed}
