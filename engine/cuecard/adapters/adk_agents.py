"""What is to be known of ADK's agents: who there is, and what of a conversation their models get."""

from __future__ import annotations

from collections.abc import Iterator

from google.adk.agents.base_agent import BaseAgent
from google.genai import types


def agents_of(node: object) -> Iterator[BaseAgent]:
    """The agents of the app that a node belongs to, from the root on; of a workflow, which is no agent, none."""
    if isinstance(node, BaseAgent):
        yield from _from(node.root_agent)


def sees_one_turn(agent: BaseAgent | None) -> bool:
    """Whether each message of the user is the first to its model: `include_contents="none"`."""
    return getattr(agent, "include_contents", "default") == "none"


def sends_news_only(agent: BaseAgent | None) -> bool:
    """Whether the service keeps the conversation, so that nothing can be put into it but what is new."""
    return bool(getattr(getattr(agent, "model", None), "use_interactions_api", False))


def says_something(message: types.Content | None) -> bool:
    """Whether a message of the user says something, and does not only answer what a tool has asked for."""
    return message is None or any(not part.function_response for part in message.parts or ())


def _from(agent: BaseAgent) -> Iterator[BaseAgent]:
    yield agent
    for child in getattr(agent, "sub_agents", ()):
        yield from _from(child)
