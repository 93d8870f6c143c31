"""What a provider says of its cache, read from an answer and held against what two manifests tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cuecard.model import CacheOutcome, CacheVerdict, DeliveryChoice

Layer: TypeAlias = Literal["model", "tools", "system", "messages", "settings"]
"""The part of a request that a provider names: what stands before what it names was read from the cache."""

_LAYERS: Mapping[str, frozenset[Layer]] = {
    "model_changed": frozenset({"model"}),
    "tools_changed": frozenset({"tools"}),
    "system_changed": frozenset({"system"}),
    "messages_changed": frozenset({"messages"}),
    "input_changed": frozenset({"system", "messages"}),  # OpenAI's system prompt may be the first item of the input
    "context_compacted": frozenset({"system", "messages"}),
    "prompt_cache_key_changed": frozenset({"settings"}),
    "text_format_changed": frozenset({"settings"}),
    "reasoning_effort_changed": frozenset({"settings"}),
    "verbosity_changed": frozenset({"settings"}),
    "service_tier_changed": frozenset({"settings"}),
}


@dataclass(frozen=True, slots=True)
class ProviderReason:
    """What a provider says of a request and the one that it was compared with.

    Attributes:
        outcome: whether the prefix was found.
        reason: the provider's word for why not, such as `system_changed`; empty for a hit.
        tokens: about how many tokens were not read from the cache by it; None where it does not say.
    """

    outcome: CacheOutcome
    reason: str = ""
    tokens: int | None = None

    @property
    def layers(self) -> frozenset[Layer]:
        """The parts of a request that the reason can mean; empty where the word is not known."""
        return _LAYERS.get(self.reason, frozenset())


def provider_reason(answer: Mapping[str, Any]) -> ProviderReason | None:
    """What an answer says of the cache, in `diagnostics` (Anthropic) or `prompt_cache_diagnostics` (OpenAI).

    None where it says nothing. Anthropic's null is taken for the answer to a request that was compared: nothing was in
    the way.

    Args:
        answer: the answer as plain JSON, such as `message.model_dump()`.
    """
    told = answer.get("prompt_cache_diagnostics")
    if isinstance(told, Mapping):
        return _of_openai(told)
    if "diagnostics" not in answer:
        return None
    told = answer["diagnostics"]
    return _of_anthropic(told) if isinstance(told, Mapping) else ProviderReason("hit")


def _of_openai(told: Mapping[str, Any]) -> ProviderReason:
    kind = str(told.get("type", ""))
    if kind == "cache_miss":
        return ProviderReason("miss", str(told.get("reason", "")), _count(told.get("cache_missed_tokens")))
    return ProviderReason("hit") if kind == "cache_hit" else ProviderReason("unknown", kind)


def _of_anthropic(told: Mapping[str, Any]) -> ProviderReason:
    """Anthropic names reasons only; where the comparison has not ended yet, there is none."""
    reason = told.get("cache_miss_reason")
    if not isinstance(reason, Mapping):
        return ProviderReason("unknown", "pending")
    word = str(reason.get("type", ""))
    outcome: CacheOutcome = "miss" if word in _LAYERS else "unknown"
    return ProviderReason(outcome, word, _count(reason.get("cache_missed_input_tokens")))


def verdict(ours: frozenset[Layer], told: ProviderReason) -> CacheVerdict:
    """Whether a provider sees what the manifests show; `ours` are the parts in which the prompt broke."""
    if told.outcome == "unknown" or (told.outcome == "miss" and not told.layers):
        return "unknown"
    if told.outcome == "hit":
        return "overlooked" if ours else "agrees"
    if not ours:
        return "elsewhere"
    return "agrees" if ours & told.layers else "differs"


def model_differs(before: DeliveryChoice, after: DeliveryChoice) -> bool:
    """Whether two requests name different models; caches are kept by model."""
    return bool(before.model and after.model and before.model != after.model)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
