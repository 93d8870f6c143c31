"""Whether instructions are complete in a text, since sections have conditions and budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuecard.agent import Agent, Section
from cuecard.pipeline.segments import as_shown

NOT_SHOWN = "no section of this call shows its instructions"


def not_whole(agent: Agent, sections: Sequence[Section], text: str, tools: Sequence[str]) -> str:
    """Why the instructions of one of these tools are incomplete in a text; empty if all are complete.

    Args:
        agent: the compiled agent.
        sections: those that show instructions, with their budgets.
        text: the text that they show, possibly among other text.
        tools: those whose instructions should be included.
    """
    limit = section_limit(sections)
    if limit and cut_out(agent, text, tools):
        return limit
    absent = [tool for tool in tools if f"{tool}>" not in text]
    return NOT_SHOWN if absent and any(tool in agent.protocols for tool in absent) else ""


def cut_out(agent: Agent, text: str, tools: Iterable[str]) -> tuple[str, ...]:
    """The tools whose instructions are missing in a text or incomplete."""
    known = ((tool, agent.protocols.get(tool)) for tool in tools)
    return tuple(tool for tool, made in known if made and as_shown(agent, made.text).strip() not in text)


def section_limit(sections: Iterable[Section]) -> str:
    """The budget of the first section that has one, as the reason for a cut; empty if none has."""
    limited = next((section for section in sections if section.spec.budget is not None), None)
    return f"budget of the section `{limited.id}`: {limited.spec.budget} tokens" if limited else ""
