"""The bill of the page on migration: what its table says, worked out anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cuecard import Engine, Turn

DOCS = Path(__file__).parents[2] / "docs"
MODEL, PRICE = "gpt-5", 1.25
"""What a million of its input tokens cost in US dollars: the price file of litellm 1.83.0, read on 2026-11-22."""

LONG = "Never lose one. " + "Say what it costs and when it is ready. " * 200
"""Rules of 2,000 tokens, in place of the short ones of the page."""

ROW = re.compile(r"^\| (before|after) \| ([\d,]+) \| ([\d,]+) \| \$([\d.]+) \|$", re.MULTILINE)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_the_bill_of_a_page_is_what_it_costs(tmp_path: Path) -> None:
    text = (DOCS / "migrate.md").read_text(encoding="utf-8").partition("## Jinja")[2]
    agent = re.search(r"^`agent.yaml`:\n\n```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert agent
    (tmp_path / "agent.yaml").write_text(agent[1].replace("Never lose one.", LONG), encoding="utf-8")
    engine = Engine.open(tmp_path / "agent.yaml")

    def before(now: datetime) -> str:
        return f"You keep notes for a user.\nIt is {now:%H:%M}.\n{LONG}\n\n- tax\n\n- bread\n\n"

    def after(now: datetime) -> str:
        return engine.prepare_step(engine.prepare_call(Turn(now=now))).system

    assert f"${PRICE} for a million input tokens" in text
    assert {row[1]: row.groups()[1:] for row in ROW.finditer(text)} == {"before": _bill(before), "after": _bill(after)}


def _bill(prompt: Callable[[datetime], str]) -> tuple[str, str, str]:
    """Tokens of a request, those of them that the one before has left in the cache, and 1,000 requests in dollars."""
    engine = Engine.open(DOCS.parent / "prompts" / "cms")
    count, model = engine.count, engine.models.find(MODEL)
    assert engine.encoding == "o200k_base"
    first, second = prompt(NOON), prompt(NOON + timedelta(minutes=1))
    same = next(at for at, pair in enumerate(zip(first, second, strict=False)) if len({*pair}) > 1)
    tokens, shared = count(second), count(second[:same])
    kept = shared if shared >= (model.min_cache_tokens or 0) else 0
    dollars = (tokens - kept + kept * (model.cache_read or 1)) * PRICE / 1000
    return f"{tokens:,}", f"{kept:,}", f"{dollars:.2f}"
