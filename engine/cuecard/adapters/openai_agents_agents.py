"""Agents of the OpenAI Agents SDK that a run may be handed to."""

from __future__ import annotations

from collections.abc import Iterator

from agents import Agent, Handoff
from agents.agent import AgentBase


def reachable(agent: AgentBase) -> list[AgentBase]:
    """The agent, and all that it and they may hand the run to, each once, the nearest first."""
    found = [agent]
    for each in found:
        found += [target for target in _targets(each) if not any(target is known for known in found)]
    return found


def _targets(agent: AgentBase) -> Iterator[AgentBase]:
    for each in getattr(agent, "handoffs", ()):
        target = _target(each) if isinstance(each, Handoff) else each
        if isinstance(target, Agent):
            yield target


def _target(handoff: Handoff[object, Agent[object]]) -> object:
    """A handoff knows its agent weakly, and by no public name."""
    held = getattr(handoff, "_agent_ref", None)
    return held() if callable(held) else None
