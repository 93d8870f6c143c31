"""A counter for each encoding that all engines of these tests share: what many of them say is counted once."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cuecard import Engine
from cuecard.types import TokenCounter


@cache
def counter(encoding: str = "o200k_base") -> TokenCounter:
    with TemporaryDirectory() as folder:
        agent = Path(folder) / "agent.yaml"
        text = f"agent: a\nsections: [{{id: a, text: Hi.}}]\ntokens: {{encoding: {encoding}}}\n"
        agent.write_text(text, encoding="utf-8")
        return Engine.open(agent, cache=False).count
