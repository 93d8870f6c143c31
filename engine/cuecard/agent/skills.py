"""The skills of an agent that a turn may use, whether or not the prompt shows them."""

from __future__ import annotations

from cuecard.agent.agent import Agent
from cuecard.agent.sections.body import SkillsFill
from cuecard.model import Turn
from cuecard.model.skills import Skill
from cuecard.sources.skills.selection import usable_skills


def usable_skills_of(agent: Agent, turn: Turn) -> tuple[Skill, ...]:
    """The skills of all sections of the turn's profile and variant, each slug once.

    Raises:
        InputError: when the turn names a profile or a variant that does not exist.
    """
    found: dict[str, Skill] = {}
    for section in agent.edition(turn.profile, turn.variant):
        if isinstance(section.fill, SkillsFill):
            skills, _ = usable_skills(section.fill.skills, section.fill.spec, turn.environment, turn.tools)
            for skill in skills:
                found.setdefault(skill.slug, skill)
    return tuple(found.values())
