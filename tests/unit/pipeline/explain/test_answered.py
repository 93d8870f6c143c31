"""What a provider says of its cache stands in the stored manifest beside our own reason; `cuecard diff` shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cms_agent import cms
from cuecard import Manifest, Step, Turn, with_answer
from cuecard.types import CacheRecord, Delivery
from unit.pipeline.explain.answers import FOUND, claude, gpt, manifests
from unit.workbench.diff import test_command

run = test_command.run
MISSED = {"cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 900}}
OURS = "tool-usage-instructions: discovery cms_createPage"
OPENAI = {"type": "cache_miss", "reason": "input_changed", "cache_missed_tokens": 1200}


@pytest.mark.parametrize(
    ("delivery", "answer", "ours", "told", "verdict"),
    [
        ("rewrite", claude(MISSED), OURS, "system_changed", "agrees"),
        ("rewrite", gpt(OPENAI), OURS, "input_changed", "agrees"),
        ("rewrite", claude(None), OURS, "", "overlooked"),
        ("append", claude(None), "", "", "agrees"),
        ("append", gpt({"type": "cache_hit"}), "", "", "agrees"),
        ("append", claude(MISSED), "", "system_changed", "elsewhere"),
        (
            "append",
            claude({"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 4000}}),
            "",
            "tools_changed",
            "elsewhere",
        ),
        (
            "rewrite",
            claude({"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 4000}}),
            OURS,
            "tools_changed",
            "differs",
        ),
    ],
)
def test_both_reasons_are_shown_side_by_side(
    delivery: Delivery, answer: dict[str, Any], ours: str, told: str, verdict: str
) -> None:
    before, after = manifests(delivery)
    kept = Manifest.from_json(json.loads(json.dumps(with_answer(before, after, answer).to_json())))

    assert kept.cache is not None
    assert (kept.cache.reason, kept.cache.verdict, kept.cache.before) == (told, verdict, before.sha256)
    assert kept.cache.ours == ours
    assert kept.sha256 == after.sha256
    assert with_answer(before, after, {"id": "msg_2"}) == after


def test_another_model_is_our_reason_whatever_else_changed() -> None:
    before, after = manifests("rewrite", ("claude-opus-4-8", "claude-opus-5"))
    told = {"cache_miss_reason": {"type": "model_changed", "cache_missed_input_tokens": 900}}
    kept = with_answer(before, after, claude(told)).cache

    assert kept == CacheRecord(
        "miss", "model_changed", 900, "model: claude-opus-4-8 -> claude-opus-5", "agrees", before.sha256
    )


def stored(folder: Path, delivery: Delivery, answer: dict[str, Any]) -> list[str]:
    """Two steps of a run as files, the later one with what the provider said."""
    engine = cms(delivery)
    call = engine.prepare_call(Turn())
    one, other = engine.prepare_step(call), engine.prepare_step(call, FOUND)
    manifest = with_answer(one.manifest, other.manifest, answer)
    paths = folder / "before.json", folder / "after.json"
    paths[0].write_text(json.dumps(one.to_json()))
    paths[1].write_text(
        json.dumps({**other.to_json(), "manifest": {k: v for k, v in manifest.to_json().items() if k != "format"}})
    )
    assert Step.from_json(json.loads(paths[1].read_text())).manifest == manifest
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("delivery", "answer", "line"),
    [
        ("rewrite", claude(MISSED), "provider    miss system_changed, about 900 tokens: agrees with this"),
        ("append", claude(None), "provider    hit: agrees with this"),
    ],
)
def test_diff_shows_both(
    tmp_path: Path, run: test_command.Run, delivery: Delivery, answer: dict[str, Any], line: str
) -> None:
    before, after = stored(tmp_path, delivery, answer)

    assert line in run(before, after)[1]
    assert json.loads(run(before, after, "--json")[1])["provider"]["verdict"] == "agrees"
    assert json.loads(run(after, before, "--json")[1])["provider"] is None  # the answer is to the other comparison


def test_diff_says_what_the_provider_missed_where_nothing_changed(tmp_path: Path, run: test_command.Run) -> None:
    engine = cms()
    manifest = engine.prepare_step(engine.prepare_call(Turn())).manifest
    told = {"cache_miss_reason": {"type": "messages_changed", "cache_missed_input_tokens": 5}}
    (tmp_path / "a.json").write_text(json.dumps(manifest.to_json()))
    (tmp_path / "b.json").write_text(json.dumps(with_answer(manifest, manifest, claude(told)).to_json()))

    shown = run(tmp_path / "a.json", tmp_path / "b.json")[1]
    assert "miss messages_changed, about 5 tokens: the prompt did not change, so check messages" in shown
