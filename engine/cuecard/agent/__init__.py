"""An agent: its files, checked as a whole and ready to render.

The compiler is imported on first use, since a cached agent does not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuecard.agent.agent import Agent
from cuecard.agent.sections.section import (
    BUILT_IN,
    CHOICE,
    CONTENT,
    CURRENT_DATE,
    PROTOCOLS,
    SUMMARY,
    UPDATE,
    WORKING_MEMORY,
    Section,
)
from cuecard.agent.skills import usable_skills_of

if TYPE_CHECKING:
    from cuecard.agent.build import build_agent

__all__ = [
    "BUILT_IN",
    "CHOICE",
    "CONTENT",
    "CURRENT_DATE",
    "PROTOCOLS",
    "SUMMARY",
    "UPDATE",
    "WORKING_MEMORY",
    "Agent",
    "Section",
    "build_agent",
    "usable_skills_of",
]


def __getattr__(name: str) -> Any:
    if name != "build_agent":
        raise AttributeError(f"module 'cuecard.agent' has no attribute {name!r}")
    from cuecard.agent.build import build_agent as build  # noqa: PLC0415 - see above

    return build
