"""Arguments and tools of completions."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast

from cuecard.adapters.block_places import CallNames
from cuecard.adapters.bodies import Body, is_offered, system_pieces, tool_name
from cuecard.adapters.content_places import NO_ANSWER, NO_RESULT, is_empty
from cuecard.adapters.host import HostTool
from cuecard.adapters.litellm.replays import copied
from cuecard.adapters.one_turn import behind_prompt, whole_system
from cuecard.config.model_profile import ModelProfile
from cuecard.config.models_file import ModelProfiles
from cuecard.model import Authority, Step

Cache: TypeAlias = Literal["5m", "1h"]
"""How long a provider keeps what it has cached, where it lets the host choose."""


_THINKING = ("thinking_blocks", "reasoning_content")
"""The fields of a message in which LiteLLM holds thinking."""

_THOUGHTS = ("thinking", "redacted_thinking")
"""The kinds of content that are thinking."""


@dataclass(frozen=True, slots=True)
class Target:
    """The model of a completion, and what LiteLLM makes of its messages on the way.

    Attributes:
        name: as the host writes it.
        provider: the part of the name in front of the first slash, else whose model it is known to be.
        endpoint: the address, if it is not the provider's own.
        profile: what is known of the model there.
    """

    name: str
    provider: str
    endpoint: str
    profile: ModelProfile

    @classmethod
    def of(cls, model: str, api_base: str, profiles: ModelProfiles) -> Target:
        """What is known of a model at an address; empty for its provider's own."""
        profile = profiles.find(model, endpoint=api_base)
        front, slash, _ = model.partition("/")
        return cls(model, front if slash else profile.provider, api_base, profile)

    @property
    def moves(self) -> bool:
        """Whether LiteLLM moves messages of the system to the front: of these, it is known that it does."""
        return self.provider in {"anthropic", "bedrock", "vertex_ai", "gemini", "google"}

    @property
    def role(self) -> Authority:
        """LiteLLM makes `developer` of OpenAI's models `system`; of other providers nobody knows what they do."""
        return "system" if self.provider == "openai" and self.profile.mid_conversation != "user" else "user"


def host_texts(messages: Iterable[Mapping[str, Any]], step: Step) -> list[str]:
    """What the host itself says in system messages at the front: those may be stored as they were sent."""
    found = ((message, behind_prompt(message, step)) for message in messages)
    texts = (text for message, behind in found for text in ([_plain_text(message)] if behind is None else behind))
    return [text for text in texts if text]


def system_message(step: Step, target: Target, tools: list[Body], behind: list[str], cache: Cache | None) -> Body:
    """The system prompt with the host's own texts behind it; for Claude in pieces, with breakpoints where they pay."""
    if target.provider != "anthropic":
        return {"role": "system", "content": "\n\n".join([whole_system(step), *behind])}
    pieces = system_pieces(step, target.profile, tools, target.profile.breakpoints - 1 if cache else 0)
    blocks = [{"type": "text", "text": text, **(_breakpoint(cache) if marked else {})} for text, marked in pieces]
    return {"role": "system", "content": [*blocks, *({"type": "text", "text": text} for text in behind)]}


def _breakpoint(cache: Cache | None) -> Body:
    return {"cache_control": {"type": "ephemeral", **({"ttl": "1h"} if cache == "1h" else {})}}


def caching(target: Target, cache: Cache | None, key: str, extra: Any, stays: int | None = None) -> Body:
    """What keeps the conversation cached: for Claude a breakpoint at its end, for OpenAI a key.

    Where the turn has a text of its own, `stays` is the message in front of it, which gets a breakpoint, too.
    """
    kept: Body = {}
    if cache and target.provider == "anthropic":
        control = _breakpoint(cache)["cache_control"]
        ends = (-1,) if stays is None else (stays, -1)
        points = [{"location": "message", "index": end, "control": control} for end in ends]
        kept["cache_control_injection_points"] = points
    elif cache and target.role == "system":
        extra = {"prompt_cache_key": key, **(extra or {})}
    return {**kept, "extra_body": extra} if extra else kept


def told_apart(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages, in which calls that share an id have one of their own: each block then has one place."""
    names, told = CallNames(), list[Mapping[str, Any]]()
    for each in messages:
        if calls := each.get("tool_calls"):
            ids = [str(call.get("id") or "") for call in calls]
            own = names.of_calls(ids)
            named = [{**call, "id": name} for call, name in zip(calls, own, strict=True)]
            told.append(each if own == ids else {**each, "tool_calls": named})
        elif call := each.get("tool_call_id"):
            name = names.of_result(str(call))
            told.append(each if name == call else {**each, "tool_call_id": name})
        else:
            told.append(each)
    return told


def without_earlier_thinking(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages without the thinking of earlier turns, for models that check it against what stands before it.

    Which of these turns had a text of their own, nobody knows here, since nothing is kept.
    """
    now = max((place for place, each in enumerate(messages) if each.get("role") == "user"), default=0)
    bare = [_unthinking(each) for each in messages[:now]]
    return [*(each for each in bare if each is not None), *messages[now:]]


def _unthinking(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if message.get("role") != "assistant":
        return message
    kept = {name: value for name, value in message.items() if name not in _THINKING}
    said = kept.get("content")
    if isinstance(said, list):
        parts = [each for each in said if not (isinstance(each, Mapping) and each.get("type") in _THOUGHTS)]
        kept["content"] = parts or None
    return kept if kept.get("content") or kept.get("tool_calls") else None


def legible(messages: Iterable[Mapping[str, Any]], target: Target) -> list[Mapping[str, Any]]:
    """The messages for a service that refuses texts of nothing or of spaces, which LiteLLM passes on in part."""
    return [*map(_legible, messages)] if target.moves else [*messages]


def _legible(message: Mapping[str, Any]) -> Mapping[str, Any]:
    role, said = message.get("role"), message.get("content")
    if role not in {"assistant", "tool"}:
        return message
    kept: Any = said if isinstance(said, str) and said.strip() else None
    if isinstance(said, list):
        kept = [part for part in said if not (isinstance(part, Mapping) and is_empty(part))]
    if kept == said and kept:
        return message
    calls = role == "assistant" and message.get("tool_calls")
    return {**message, "content": kept or (None if calls else NO_RESULT if role == "tool" else NO_ANSWER)}


def _plain_text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content.strip()
    return "\n\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping)).strip()


def _told(tool: Mapping[str, Any]) -> HostTool:
    function = tool.get("function")
    said: Mapping[str, Any] = function if isinstance(function, Mapping) else tool
    return HostTool.of(tool_name(tool), str(said.get("description") or ""), said.get("parameters"))


_ORDERS = 64
"""For how many baselines the tools are kept in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class ToolOffer:
    """The tools of a conversation, the search tool included.

    Attributes:
        names: their names, in the order of the host.
        told: what they say of themselves.
    """

    names: tuple[str, ...]
    told: tuple[HostTool, ...]
    _given: list[Any]
    _packed: bytes
    _orders: dict[tuple[str, ...], tuple[list[str], bytes]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Sequence[Mapping[str, Any]], search: Body) -> ToolOffer:
        """The tools that a host offers; where the search tool is not among them, it is in front."""
        named = {tool_name(each) for each in given}
        tools = [dict(each) for each in given]
        tools = tools if tool_name(search) in named else [search, *tools]
        packed = pickle.dumps(tools)
        return cls(tuple(map(tool_name, tools)), tuple(map(_told, tools)), copied(list(given)), packed)

    def is_of(self, given: Sequence[Any]) -> bool:
        """Whether it was made of these tools."""
        return self._given == given

    def copies(self) -> list[Body]:
        """The tools, which whoever gets them may change: LiteLLM does."""
        return cast("list[Body]", pickle.loads(self._packed))  # noqa: S301 - our own

    def keeping(self, before: ToolOffer | None, gone: Collection[str]) -> ToolOffer:
        """These tools, and those of the request before that are gone since: their definitions stay in front."""
        kept = [each for each in before.copies() if tool_name(each) in gone] if before and gone else []
        if not kept:
            return self
        tools = [*self.copies(), *kept]
        return replace(self, names=tuple(map(tool_name, tools)), _packed=pickle.dumps(tools), _orders={})

    def sent(self, step: Step, catalogue: Collection[str] | None) -> list[Body]:
        """What a request shows, in an order that neither discovery, nor a withdrawal, nor the host changes.

        Args:
            step: what is to be sent.
            catalogue: the names of which only those are shown that are active; None to show all.
        """
        names, packed = self._ordered(step.base_tools)
        tools = cast("list[Body]", pickle.loads(packed))  # noqa: S301 - our own
        hidden = {*catalogue} - {*step.active_tools} if catalogue is not None else set[str]()
        named = zip(names, tools, strict=True)
        return [tool for name, tool in named if name not in hidden and is_offered(name, step)]

    def _ordered(self, base: tuple[str, ...]) -> tuple[list[str], bytes]:
        if base not in self._orders:
            first = {name: place for place, name in enumerate(base)}
            named = zip(self.names, self.copies(), strict=True)
            ordered = sorted(named, key=lambda each: (first.get(each[0], len(first)), each[0]))
            if len(self._orders) >= _ORDERS:
                self._orders.clear()
            self._orders[base] = [name for name, _ in ordered], pickle.dumps([tool for _, tool in ordered])
        return self._orders[base]
