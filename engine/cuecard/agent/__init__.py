"""An agent: its files, checked as a whole and ready to render."""

from cuecard.agent.agent import Agent, AgentFacts, usable_skills_of
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
    "AgentFacts",
    "Section",
    "build_agent",
    "usable_skills_of",
]
