"""`cuecard render`: the prompt of one step, as the model gets it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cuecard.cli.step import open_engine, step_from
from cuecard.model import Delivery, Json, Step


def render(
    agent: Path,
    *,
    discovered: str,
    values: Sequence[str],
    turn: Path | None,
    delivery: Delivery | None,
    as_json: bool,
) -> None:
    """Print the system prompt, then each appended block under a line that says where it goes."""
    step = step_from(open_engine(agent, delivery), discovered=discovered, values=values, turn=turn)
    sys.stdout.write(json.dumps(step_json(step), indent=2, ensure_ascii=False) + "\n" if as_json else _text(step))


def step_json(step: Step) -> dict[str, Json]:
    """The step as plain JSON."""
    return asdict(step)


def _text(step: Step) -> str:
    blocks = [f"\n--- appended after {block.after_call_id} ---\n{block.text}" for block in step.appended]
    return "".join([step.system, *blocks])
