"""What is to be known of the model of a completion: what LiteLLM makes of its messages, and what keeps them cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cuecard.adapters.placing import Body, system_pieces
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


def system_message(
    step: Step, target: Target, tools: list[Body], own: list[Mapping[str, Any]], cache: Cache | None
) -> Body:
    """The system prompt with the host's own behind it; for Claude in pieces, with breakpoints where they pay."""
    behind = [text for text in map(_text_of, own) if text]
    if target.provider != "anthropic":
        return {"role": "system", "content": "\n\n".join([step.system.strip(), *behind])}
    pieces = system_pieces(step, target.profile, tools, target.profile.breakpoints - 1 if cache else 0)
    blocks = [{"type": "text", "text": text, **(_breakpoint(cache) if marked else {})} for text, marked in pieces]
    return {"role": "system", "content": [*blocks, *({"type": "text", "text": text} for text in behind)]}


def _breakpoint(cache: Cache | None) -> Body:
    return {"cache_control": {"type": "ephemeral", **({"ttl": "1h"} if cache == "1h" else {})}}


def caching(target: Target, cache: Cache | None, key: str, extra: Any, stays: int | None = None) -> Body:
    """What keeps the conversation cached: for Claude a breakpoint at its end, for OpenAI a key.

    Where the turn has a text of its own, `stays` is the message in front of it, which gets a breakpoint, too.
    """
    if cache and target.provider == "anthropic":
        control = _breakpoint(cache)["cache_control"]
        ends = (-1,) if stays is None else (stays, -1)
        points = [{"location": "message", "index": end, "control": control} for end in ends]
        return {"cache_control_injection_points": points, **({"extra_body": extra} if extra else {})}
    if cache and target.role == "system":
        return {"extra_body": {"prompt_cache_key": key, **(extra or {})}}
    return {"extra_body": extra} if extra else {}


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


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content.strip()
    return "\n\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping)).strip()
