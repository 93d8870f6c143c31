"""A provider's report on its cache, read from an answer and compared with two manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cuecard.model import CacheOutcome, CacheVerdict, DeliveryChoice

Layer: TypeAlias = Literal["model", "tools", "system", "messages", "settings"]
"""The part of a request that a provider names: everything before it was read from the cache."""

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
    """A provider's report on a request and the one that it was compared with.

    Attributes:
        outcome: whether the prefix was found.
        reason: the provider's reason for a miss, such as `system_changed`; empty for a hit.
        tokens: approximately how many tokens were not read from the cache because of it; None if not reported.
    """

    outcome: CacheOutcome
    reason: str = ""
    tokens: int | None = None

    @property
    def layers(self) -> frozenset[Layer]:
        """The parts of a request that the reason can mean; empty for an unknown word."""
        return _LAYERS.get(self.reason, frozenset())


def provider_reason(answer: Mapping[str, Any]) -> ProviderReason | None:
    """An answer's report on the cache, in `diagnostics` (Anthropic) or `prompt_cache_diagnostics` (OpenAI).

    None if there is none. Anthropic's null is read as the answer to a compared request without a mismatch.

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
    """Anthropic only names reasons; while the comparison is still running, there is none."""
    reason = told.get("cache_miss_reason")
    if not isinstance(reason, Mapping):
        return ProviderReason("unknown", "pending")
    word = str(reason.get("type", ""))
    outcome: CacheOutcome = "miss" if word in _LAYERS else "unknown"
    return ProviderReason(outcome, word, _count(reason.get("cache_missed_input_tokens")))


def verdict(ours: frozenset[Layer], told: ProviderReason) -> CacheVerdict:
    """Whether a provider agrees with the manifests; `ours` are the parts in which the prompt broke."""
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
