"""What is to be known of ADK's agents: who there is, what of a conversation their models get, who waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from google.adk.agents.base_agent import BaseAgent
from google.adk.events.event import Event
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


def waits(events: Sequence[Event], invocation: str, agent: str) -> bool:
    """Whether an agent waits for somebody to answer one of its calls, so that its turn goes on then."""
    own = (each for each in events if each.invocation_id == invocation and each.author == agent)
    asked = {call for each in own for call in each.long_running_tool_ids or ()}
    answers = (response.id for each in events if each.author == "user" for response in each.get_function_responses())
    return bool(asked.difference(answers))


def _from(agent: BaseAgent) -> Iterator[BaseAgent]:
    yield agent
    for child in getattr(agent, "sub_agents", ()):
        yield from _from(child)
