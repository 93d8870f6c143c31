"""An agent: what people wrote, checked as a whole and ready to render."""

from cuecard.agent.build import build_agent
from cuecard.agent.nouns import (
    BUILT_IN,
    CONTENT,
    CURRENT_DATE,
    PROTOCOLS,
    SUMMARY,
    UPDATE,
    WORKING_MEMORY,
    Agent,
    Section,
)
from cuecard.agent.skilled import usable_skills_of

__all__ = [
    "BUILT_IN",
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
