"""An agent: what people wrote, checked as a whole and ready to render."""

from cuecard.agent.build import build_agent
from cuecard.agent.nouns import BUILT_IN, CURRENT_DATE, PROTOCOLS, UPDATE, WORKING_MEMORY, Agent, Section

__all__ = ["BUILT_IN", "CURRENT_DATE", "PROTOCOLS", "UPDATE", "WORKING_MEMORY", "Agent", "Section", "build_agent"]
