"""What providers say of their caches, as their own types write it, held against what the manifests tell."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard import compare_manifests as compare
from cuecard.pipeline.cache_report import provider_reason
from cuecard.types import ProviderReason
from unit.pipeline.explain.answers import claude, gpt, manifests


def missed(kind: str, tokens: int | None = 900) -> dict[str, Any]:
    more = {} if tokens is None else {"cache_missed_input_tokens": tokens}
    return claude({"cache_miss_reason": {"type": kind, **more}})


def gpt_missed(reason: str) -> dict[str, Any]:
    return gpt({"type": "cache_miss", "reason": reason, "cache_missed_tokens": 900})


def test_what_each_provider_says_is_read_from_its_own_types() -> None:
    assert provider_reason(missed("system_changed")) == ProviderReason("miss", "system_changed", 900)
    assert provider_reason(gpt_missed("input_changed")) == ProviderReason("miss", "input_changed", 900)
    assert provider_reason(claude(None)) == provider_reason(gpt({"type": "cache_hit"})) == ProviderReason("hit")
    assert provider_reason(missed("unavailable", None)) == ProviderReason("unknown", "unavailable")
    assert provider_reason(claude({"cache_miss_reason": None})) == ProviderReason("unknown", "pending")
    assert provider_reason({"id": "chat_1"}) is None


@pytest.mark.parametrize("odd", [{"diagnostics": 7}, {"diagnostics": {"cache_miss_reason": "x"}}])
def test_an_answer_of_another_form_is_not_an_error(odd: dict[str, Any]) -> None:
    assert provider_reason(odd) is not None
    assert provider_reason({"prompt_cache_diagnostics": {"type": []}}) == ProviderReason("unknown", "[]")


@pytest.mark.parametrize("answer", [missed("system_changed"), gpt_missed("input_changed")], ids=["claude", "gpt"])
def test_a_system_prompt_that_is_rebuilt_is_seen_by_both(answer: dict[str, Any]) -> None:
    comparison = compare(*manifests("rewrite"), answer=answer)

    assert comparison.first_break
    assert comparison.first_break.placement == "system"
    assert str(comparison.first_break.cause) == "discovery cms_createPage"
    assert comparison.verdict == "agrees"
    assert comparison.told == provider_reason(answer)


@pytest.mark.parametrize("answer", [claude(None), gpt({"type": "cache_hit"})], ids=["claude", "gpt"])
def test_an_appended_block_breaks_nothing_for_either(answer: dict[str, Any]) -> None:
    comparison = compare(*manifests("append"), answer=answer)

    assert comparison.first_break is None
    assert comparison.verdict == "agrees"


@pytest.mark.parametrize("reason", ["tools_changed", "messages_changed"])
def test_a_miss_that_cuecard_has_no_part_in_is_said_to_be_elsewhere(reason: str) -> None:
    assert compare(*manifests("append"), answer=missed(reason)).verdict == "elsewhere"
    assert compare(*manifests("append"), answer=gpt_missed("reasoning_effort_changed")).verdict == "elsewhere"


def test_another_model_is_another_cache_for_both() -> None:
    pair = manifests("append", ("claude-opus-4-8", "claude-opus-5"))

    assert compare(*pair, answer=missed("model_changed")).verdict == "agrees"


def test_a_disagreement_between_the_two_is_reported() -> None:
    assert compare(*manifests("rewrite"), answer=claude(None)).verdict == "overlooked"
    assert compare(*manifests("rewrite"), answer=missed("tools_changed")).verdict == "differs"
    assert compare(*manifests("rewrite"), answer=missed("previous_message_not_found", None)).verdict == "unknown"


def test_without_an_answer_nothing_is_announced() -> None:
    comparison = compare(*manifests("rewrite"))

    assert (comparison.told, comparison.verdict) == (None, None)
