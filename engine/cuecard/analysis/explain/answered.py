"""Adds the provider's report on its cache to the manifest of an answered request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cuecard.analysis.explain.compare import compare_manifests
from cuecard.model import CacheRecord, Manifest


def with_answer(before: Manifest, after: Manifest, answer: Mapping[str, Any]) -> Manifest:
    """The later manifest with the provider's report on its cache; unchanged if there is none.

    Args:
        before: the manifest of the request that the later one was compared with.
        after: the manifest of the answered request.
        answer: the answer as plain JSON, such as `message.model_dump(mode="json")`.

    Raises:
        InputError: when the fingerprints were made with different salts.
    """
    comparison = compare_manifests(before, after, answer=answer)
    told, seen = comparison.told, comparison.verdict
    if told is None or seen is None:
        return after
    ours = str(comparison.first_break) if comparison.first_break else ""
    if comparison.other_model:
        ours = f"model: {comparison.other_model}"
    return replace(after, cache=CacheRecord(told.outcome, told.reason, told.tokens, ours, seen, before.sha256))
