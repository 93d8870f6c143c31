"""What is to be known of a model of the OpenAI Agents SDK: its name, where it is, and what reaches it."""

from __future__ import annotations

from dataclasses import replace

from agents import Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig
from agents.agent import AgentBase

from cuecard.config.models_file import ModelProfiles
from cuecard.model import Turn


def with_model(turn: Turn, agent: AgentBase, config: RunConfig, profiles: ModelProfiles) -> Turn:
    """The turn with the model that answers it, where the turn itself names none.

    A model of another kind than OpenAI's two interfaces is reached through a translation of the items: nobody knows
    what becomes of a role there, so instructions are reminders of the user.
    """
    if turn.model:
        return turn
    model = _model(agent, config)
    name = getattr(model, "model", None)
    if not isinstance(name, str):
        return turn
    if not isinstance(model, (OpenAIResponsesModel, OpenAIChatCompletionsModel)):
        return replace(turn, model=name, authority=turn.authority or "user")
    named = replace(turn, model=name, endpoint=_address(model))
    role = profiles.find(name, endpoint=named.endpoint).mid_conversation
    return replace(named, authority=turn.authority or role)


def checks_thinking(agent: AgentBase, config: RunConfig, profiles: ModelProfiles) -> bool:
    """Whether the model that answers accepts its thinking only while the text before it is the same."""
    model = _model(agent, config)
    name, endpoint = getattr(model, "model", None), getattr(model, "base_url", None)
    if isinstance(model, (OpenAIResponsesModel, OpenAIChatCompletionsModel)):
        endpoint = _address(model)
    return isinstance(name, str) and profiles.find(name, endpoint=str(endpoint or "")).checks_thinking


def _model(agent: AgentBase, config: RunConfig) -> Model:
    chosen = config.model or getattr(agent, "model", None)
    return chosen if isinstance(chosen, Model) else config.model_provider.get_model(chosen)


def _address(model: OpenAIResponsesModel | OpenAIChatCompletionsModel) -> str:
    client = getattr(model, "_client", None)
    return str(client.base_url) if client is not None else ""
