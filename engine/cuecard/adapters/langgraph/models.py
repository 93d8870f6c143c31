"""What is to be known of a LangChain chat model: its name, where it is, and what its provider takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import merge_configs
from langchain_core.runnables.configurable import DynamicRunnable

from cuecard.adapters.bodies import system_pieces
from cuecard.adapters.one_turn import whole_system
from cuecard.config.model_profile import ModelProfile
from cuecard.errors import InputError, Problem
from cuecard.model import Authority, Step, Turn

Cache: TypeAlias = Literal["5m", "1h"]
"""How long a provider keeps what it has cached, where it lets the host choose."""

_NAMES = ("model_name", "model", "model_id", "deployment_name")
_ADDRESSES = ("anthropic_api_url", "openai_api_base", "azure_endpoint", "base_url", "endpoint_url", "groq_api_base")
_OWN = ("anthropic-chat", "openai-chat")
"""The kinds of models that go to their providers where they have no address; others go who knows where."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A chat model as a request has to know it.

    Attributes:
        name: its name; empty for a test double that has none.
        endpoint: the base URL of its service; empty where it has none.
        profile: what is known of it there.
        kind: which integration it is of, such as `anthropic-chat`.
        claude: whether LangChain's package for Claude makes its requests.
        in_place: whether that takes a message of the system mid-conversation.
    """

    name: str
    endpoint: str
    profile: ModelProfile
    kind: str = ""
    claude: bool = False
    in_place: bool = True

    @property
    def role(self) -> Authority:
        """Whose words blocks are: those of a test double without a name stay the system's."""
        if not self.name:
            return "system"
        known = self.endpoint or self.kind in _OWN
        return self.profile.mid_conversation if known and self.in_place else "user"

    @property
    def defers(self) -> bool:
        """Whether definitions can be kept back, and be revealed by the search result that names them."""
        return self.claude and self.profile.definitions == "deferred"

    def speaks(self, said: Authority) -> Authority:
        """The role that blocks get, where the call has `said` one: Claude takes none that LangChain would move."""
        role = self.role if said == "unknown" else said
        return role if self.in_place else "user"

    def named_in(self, turn: Turn) -> Turn:
        """The turn with this model, where it names none itself, and with the role that blocks get."""
        if not self.name:
            return turn
        role = self.speaks(turn.authority or "unknown")
        named = (turn.model, turn.endpoint) if turn.model else (self.name, self.endpoint)
        return replace(turn, model=named[0], endpoint=named[1], authority=role)


def bare_model(model: Any) -> BaseChatModel:
    """The chat model behind its wrappers: of fallbacks the first, of several the one that the configuration names."""
    inner, config = model, None
    while not isinstance(inner, BaseChatModel):
        inner, config = _behind(inner, config)
    return inner


def _behind(wrapper: Any, config: RunnableConfig | None) -> tuple[Any, RunnableConfig | None]:
    """What a wrapper asks, and with which configuration."""
    if isinstance(wrapper, RunnableBindingBase):
        return wrapper.bound, merge_configs(wrapper.config, config)
    if isinstance(wrapper, RunnableWithFallbacks):
        return wrapper.runnable, config
    if isinstance(wrapper, DynamicRunnable):
        return wrapper.prepare(config)
    try:
        return wrapper._model(config), config  # noqa: SLF001 - `init_chat_model` has no other way to what it chooses
    except (AttributeError, TypeError) as error:  # another kind of wrapper, or nobody has named a model
        told = f"no chat model is known behind this `{type(wrapper).__name__}`"
        raise InputError(Problem("wrong-argument", told, "pass the model that will answer", "model")) from error


def facts_of(model: Any, find: Callable[[str, str], ModelProfile]) -> ModelFacts:
    """What is known of a chat model, however wrapped; `find` gives the profile of a name at an address.

    Raises:
        InputError: when there is no chat model.
    """
    model = bare_model(model)
    name, endpoint = _first(model, _NAMES), _first(model, _ADDRESSES)
    if not endpoint and "root_client" in type(model).model_fields:  # OpenAI's clients know an address from elsewhere
        endpoint = str(getattr(getattr(model, "root_client", None), "base_url", None) or "")
    profile = find(name, endpoint)
    claude = _is_claude(model)
    said = cast("dict[str, Any]", getattr(model, "profile", None) or {})
    in_place = not claude or bool(said.get("mid_conversation_system_messages"))
    return ModelFacts(name, endpoint, profile, str(model._llm_type), claude, in_place)  # noqa: SLF001 - for subclasses


def _first(model: BaseChatModel, names: Iterable[str]) -> str:
    held = type(model).model_fields  # asking a model for what it lacks takes long
    values = (getattr(model, name, None) for name in names if name in held)
    return next((value for value in values if isinstance(value, str) and value), "")


def _is_claude(model: BaseChatModel) -> bool:
    package = sys.modules.get("langchain_anthropic")  # whose model it is, it is imported
    return package is not None and isinstance(model, package.ChatAnthropic)


def system_message(
    step: Step,
    model: ModelFacts,
    tools: list[dict[str, Any]],
    cache: Cache | None,
    own: SystemMessage | None,
    marks: int,
) -> SystemMessage:
    """The system prompt, with the agent's own behind it; for Claude in pieces, with breakpoints where they pay.

    Args:
        step: what is to be sent.
        model: who gets it.
        tools: the tools that stand in front, as far as they count for the provider's minimum.
        cache: how long what is cached is kept; None to set no breakpoint.
        own: what the agent itself has for a system prompt.
        marks: how many breakpoints the messages have, beside that at their end.
    """
    if not model.claude:
        return SystemMessage("\n\n".join(text for text in (whole_system(step), own.text if own else "") if text))
    limit = model.profile.breakpoints - 1 - marks if cache else 0
    pieces = system_pieces(step, model.profile, tools, limit)
    blocks: list[str | dict[str, Any]] = [
        {"type": "text", "text": text, **({"cache_control": breakpoint_of(cache)} if marked and cache else {})}
        for text, marked in pieces
    ]
    behind = own.content if own else []
    return SystemMessage([*blocks, *([{"type": "text", "text": behind}] if isinstance(behind, str) else behind)])


def breakpoint_of(cache: Cache) -> dict[str, str]:
    """A cache breakpoint as Anthropic takes it."""
    return {"type": "ephemeral", **({"ttl": cache} if cache != "5m" else {})}


def settings_of(model: ModelFacts, cache: Cache | None, key: str) -> dict[str, Any]:
    """What keeps a conversation cached: for Claude a breakpoint that moves with its end, for OpenAI a key."""
    if not cache:
        return {}
    if model.claude:
        return {"cache_control": breakpoint_of(cache)}
    return {"prompt_cache_key": key} if model.kind == "openai-chat" and model.role != "user" else {}
