"""The bills of the pages on where people come from: what their tables say, worked out anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cuecard import Engine, Turn

DOCS = Path(__file__).parents[2] / "docs"
MODEL, PRICE = "gpt-5", 1.25
"""What a million of its input tokens cost in US dollars: the price file of litellm 1.83.0, read on 2026-11-22."""

LONG = "Promise nothing. " + "Say what it costs and when it is ready. " * 200
"""Rules of 2,000 tokens, in place of the short ones of the pages."""

BLOCK = r"^`{name}`:\n\n```\w+\n(.*?)^```$"
ROW = re.compile(r"^\| (before|after) \| ([\d,]+) \| ([\d,]+) \| \$([\d.]+) \|$", re.MULTILINE)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Page:
    """A page: its agent file, what its rules are, and the prompt before, of a customer and a time."""

    agent: str
    rules: str
    before: Callable[[str, datetime], str]
    files: tuple[str, ...] = ()


def _jinja(_customer: str, now: datetime) -> str:
    return f"You answer the mail of a bakery.\nIt is {now:%H:%M}.\n{LONG}\n\n- rye\n\n- rolls\n\n"


def _poml(customer: str, _now: datetime) -> str:
    return (
        f"# Role\n\nYou answer the mail of a bakery.\n\n# Task\n\nAnswer {customer} in two sentences.\n\n"
        f"- rye\n- rolls\n\n# Output Format\n\n{LONG}"
    )


def _strings(customer: str, _now: datetime) -> str:
    return f"You answer the mail of a bakery.\n\n{customer} is a regular: be warm.\n\n{LONG}\n\nOrders:\n- rye\n- rolls"


PAGES = {
    "from-jinja2": Page("agent.yaml", "Promise nothing.", _jinja),
    "from-poml": Page("poml.yaml", "Plain text.", _poml, ("agent.xml",)),
    "from-strings": Page("agent.yaml", "Promise nothing.", _strings),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_bill_of_a_page_is_what_it_costs(name: str, tmp_path: Path) -> None:
    page = PAGES[name]
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for file in (page.agent, *page.files):
        found = re.search(BLOCK.format(name=re.escape(file)), text, re.MULTILINE | re.DOTALL)
        assert found, file
        (tmp_path / file).write_text(found[1].replace(page.rules, LONG), encoding="utf-8")
    engine = Engine.open(tmp_path / page.agent)

    def after(customer: str, now: datetime) -> str:
        inputs = {"customer": customer} if "customer" in engine.inputs else {}
        return engine.prepare_step(engine.prepare_call(Turn(inputs=inputs, now=now))).system

    made = {"before": _bill(page.before), "after": _bill(after)}

    assert f"${PRICE} for a million input tokens" in text
    assert {row[1]: row.groups()[1:] for row in ROW.finditer(text)} == made


def _bill(prompt: Callable[[str, datetime], str]) -> tuple[str, str, str]:
    """Tokens of a request, those of them that the one before has left in the cache, and 1,000 requests in dollars."""
    engine = Engine.open(DOCS.parent / "prompts" / "cms")
    count, model = engine.count, engine.models.find(MODEL)
    assert engine.encoding == "o200k_base"
    first, second = prompt("Jana", NOON), prompt("Max", NOON + timedelta(minutes=1))
    same = next(at for at, pair in enumerate(zip(first, second, strict=False)) if len({*pair}) > 1)
    tokens, shared = count(second), count(second[:same])
    kept = shared if shared >= (model.min_cache_tokens or 0) else 0
    dollars = (tokens - kept + kept * (model.cache_read or 1)) * PRICE / 1000
    return f"{tokens:,}", f"{kept:,}", f"{dollars:.2f}"
