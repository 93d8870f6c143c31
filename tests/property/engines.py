"""Engines of agents that a test writes. They share a counter: what many of them say is counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cuecard import Engine
from cuecard.types import TokenCounter


def opened(texts: Mapping[str, str]) -> Engine:
    """The engine of the agent in these files, by their paths; the first of them is its agent file."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        engine = Engine.open(Path(folder) / next(iter(texts)), cache=False)
    return replace(engine, count=counter(engine.encoding))


@cache
def counter(encoding: str = "o200k_base") -> TokenCounter:
    with TemporaryDirectory() as folder:
        agent = Path(folder) / "agent.yaml"
        text = f"agent: a\nsections: [{{id: a, text: Hi.}}]\ntokens: {{encoding: {encoding}}}\n"
        agent.write_text(text, encoding="utf-8")
        return Engine.open(agent, cache=False).count
