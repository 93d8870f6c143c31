"""The agent of the CMS, as many tests take it: opened when a test asks for it, once in each process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cms.tools import TOOLS as MADE
from cuecard import Engine
from cuecard.types import DeliveryWish

CMS = Path(__file__).parents[1] / "prompts" / "cms" / "agent.yaml"
CORE = ("tool_search", "final_answer", "acknowledge")
TOOLS = sorted(name for name in MADE if name not in CORE)
"""The tools that a conversation has to find."""


@cache
def cms(delivery: DeliveryWish = "append") -> Engine:
    return Engine.open(CMS, delivery=delivery)
