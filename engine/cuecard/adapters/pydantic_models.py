"""What is to be known of a pydantic-ai model: its name, where it is, and what reaches it mid-conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic_ai import RunContext
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import CacheSetting, ModelSettings

from cuecard.config.model_name import bare_name
from cuecard.config.models_file import ModelProfiles
from cuecard.model import Authority, Turn
from cuecard.outside.models import read_models

_FRAMEWORK = {"google": "google", "anthropic": "anthropic", "openai": "openai", "deepseek": "deepseek"}


def framework_name(name: str) -> str:
    """The name of a model as pydantic-ai takes it: the provider that the models file knows is put in front."""
    profile = read_models().find(name)
    provider = _FRAMEWORK.get(profile.provider)
    if ":" in name or not provider:
        return name
    return f"{provider}:{bare_name(name)}"


def with_model(turn: Turn, model: Model, profiles: ModelProfiles) -> Turn:
    """The turn with the model that answers it, where the turn itself names none.

    Of several that take over from each other the first is named; a test double without an address is none.
    """
    first = next(_single(model))
    if turn.model or not first.base_url:
        return turn
    named = replace(turn, model=first.model_name, endpoint=first.base_url)
    granted = keeps_roles(model, profiles) and all(_inlines(each) for each in _single(model))
    role = first.profile.get("openai_system_prompt_role") or "system"
    return replace(named, authority=cast("Authority", role) if granted else "user")


def keeps_roles(model: Model, profiles: ModelProfiles) -> bool:
    """Whether a system message mid-conversation may be sent to the model as one.

    pydantic-ai knows which models heed it, and marks it as text of the user for the others; the models file knows which
    endpoints leave it in its place. Of models that take over from each other, the most restricted one decides. Without
    an address, pydantic-ai alone does.
    """
    return all(not _inlines(each) or not each.base_url or _in_place(each, profiles) for each in _single(model))


def settings_for(ctx: RunContext[Any], cache: CacheSetting | None, key: str) -> ModelSettings:
    """The settings that keep a prompt cached, where the host has set none of the kind: its own always hold.

    Beside the caching itself (`cache`; None for none), pydantic-ai explains its `<system>` blocks to models that need
    it from the first request on, and not in front of everything once there is one.
    """
    wanted: dict[str, Any] = {"framing_announcement": "always"}
    if cache is not None:
        wanted["cache"] = cache
    if cache and ctx.model.system == "openai":
        wanted["openai_prompt_cache_key"] = key
    said: Mapping[str, Any] = ctx.model_settings or {}
    return cast("ModelSettings", {name: value for name, value in wanted.items() if name not in said})


def reveals_tools(model: Model, profiles: ModelProfiles) -> bool:
    """Whether the provider takes a tool's definition mid-conversation, so that `tools` never changes by it."""
    return all(
        each.tool_addition_mode is not None and (not each.base_url or _in_place(each, profiles))
        for each in _single(model)
    )


def checks_thinking(model: Model, profiles: ModelProfiles) -> bool:
    """Whether a model accepts its thinking only while the text before it is the same."""
    return any(profiles.find(each.model_name, endpoint=each.base_url or "").checks_thinking for each in _single(model))


def _inlines(model: Model) -> bool:
    return bool(model.profile.get("supports_inline_system_prompts"))


def _in_place(model: Model, profiles: ModelProfiles) -> bool:
    return profiles.find(model.model_name, endpoint=model.base_url or "").mid_conversation != "user"


def _single(model: Model) -> Iterator[Model]:
    if isinstance(model, WrapperModel):
        yield from _single(model.wrapped)
    elif isinstance(model, FallbackModel):
        for each in model.models:
            yield from _single(each)
    else:
        yield model
