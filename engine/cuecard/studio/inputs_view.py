"""The Inputs screen: a form from the declared inputs, with the prompt beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuecard.studio.screen import Asked


def inputs(asked: Asked) -> Mapping[str, Any]:
    """What the template of the screen shows."""
    return {"declared": asked.engine.agent.spec.inputs if asked.engine else {}}
