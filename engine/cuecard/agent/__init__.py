"""An agent: its files, checked as a whole and ready to render."""

from cuecard.agent.agent import Agent
from cuecard.agent.build import build_agent
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
