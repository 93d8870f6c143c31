"""pydantic-ai's models and tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from pydantic_ai import RunContext, Tool
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import CacheSetting, ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset

from cuecard.adapters.function_tools import search_card
from cuecard.adapters.host import active_only
from cuecard.config.model_profile import bare_name
from cuecard.config.models_file import ModelProfiles
from cuecard.engine import Engine
from cuecard.files.content import read_models
from cuecard.model import Authority, Call, Step, Turn

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
    """Whether found tools are defined mid-conversation, so that `tools` never changes by it."""
    return adds_tools(model) and all(not each.base_url or _in_place(each, profiles) for each in _single(model))


def adds_tools(model: Model) -> bool:
    """Whether the provider takes a tool's definition mid-conversation."""
    return all(each.tool_addition_mode is not None for each in _single(model))


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


Showing: TypeAlias = Literal["all", "revealed", "active"]
"""How a request shows tools that may be found.

`all`: every definition in front, from the start; a call of one that is not active is refused. `revealed`: the provider
gets the definition where the tool was found. `active`: those that are active, so that the list grows.
"""


@dataclass(frozen=True, slots=True)
class ToolList:
    """The definitions that a conversation has been sent, in the order in which they stand."""

    sent: tuple[ToolDefinition, ...] = ()

    def more(self, tools: Iterable[ToolDefinition], call: Call) -> ToolList:
        """The same list with tools that are new at its end, as the first list is sorted: those that are active from
        the start, then the others by name. What the agent no longer has stays: taking it out would change the front.
        """
        now = {tool.name: tool for tool in tools}
        known = [now.pop(tool.name, tool) for tool in self.sent]
        # Another process may have sent them before.
        first = {name: place for place, name in enumerate(dict.fromkeys((*call.host.front, *call.tools.initial)))}
        new = sorted(now.values(), key=lambda tool: (first.get(tool.name, len(first)), tool.name))
        return ToolList((*known, *new))


def shown_tools(
    tools: Sequence[ToolDefinition],
    step: Step,
    catalogue: Collection[str],
    showing: Showing,
    staying: Collection[str],
) -> list[ToolDefinition]:
    """The tools of one request; those that the catalogue does not know are the host's own, and always there.

    Definitions that are `staying` are never sent later, whether their tools are active or not.
    """
    if showing == "all":
        return list(tools)
    if showing == "active":
        return active_only({tool.name: tool for tool in tools}, step, catalogue)
    kept = {*step.base_tools, *step.initial_tools, *staying}
    late = {tool.name for tool in tools if tool.name in catalogue and tool.name not in kept}
    return [replace(tool, defer_loading=True) if tool.name in late else tool for tool in tools]


def search_toolset(engine: Engine, search: Callable[..., Awaitable[Any]]) -> FunctionToolset[Any]:
    """The search tool, under the name that the agent file gives it, described in the agent's words."""
    name, words = engine.search_tool, engine.words.search
    described = {"query": words.query_description, "limit": words.limit_description}

    async def in_words(_: RunContext[Any], tool: ToolDefinition) -> ToolDefinition:
        schema = tool.parameters_json_schema
        fields = {key: {**value, "description": described[key]} for key, value in schema["properties"].items()}
        return replace(tool, parameters_json_schema={**schema, "properties": fields})

    description = search_card(engine).description
    return FunctionToolset([Tool(search, name=name, description=description, prepare=in_words)])
