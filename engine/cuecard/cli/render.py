"""`cuecard render`: the prompt of one step, as the model gets it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.cli.step import open_engine, step_from
from cuecard.manifest import manifest_json
from cuecard.model import DeliveryWish, Json, Step

Form: TypeAlias = Literal["text", "json", "manifest"]
"""For people, everything for machines, or only the record, which holds no text of the prompt."""


def render(
    agent: Path,
    *,
    discovered: str,
    values: Sequence[str],
    turn: Path | None,
    delivery: DeliveryWish | None,
    form: Form,
) -> None:
    """Print the system prompt, then each appended block under a line that says where it goes; or JSON."""
    step = step_from(open_engine(agent, delivery), discovered=discovered, values=values, turn=turn)
    if form == "text":
        sys.stdout.write(_text(step))
        return
    data = manifest_json(step.manifest) if form == "manifest" else step_json(step)
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def step_json(step: Step) -> dict[str, Json]:
    """The step as plain JSON."""
    return asdict(step)


def _text(step: Step) -> str:
    blocks = [f"\n--- appended after {block.after_call_id} ---\n{block.text}" for block in step.appended]
    return "".join([step.system, *blocks])
