"""`cuecard render`: the prompt of one step, as the model sees it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.cli.json_text import json_text
from cuecard.cli.step import call_from, open_engine
from cuecard.model import Appended, DeliveryWish, Host, Json, Step
from cuecard.model.messages import Message
from cuecard.pipeline.prompt_split import split_prompt

Form: TypeAlias = Literal["text", "json", "manifest", "messages", "compiled"]
"""The output format: for people, or for machines as everything, the manifest, all messages, or stable and dynamic
text separately.
"""


def render(
    agent: Path,
    *,
    discovered: str,
    values: Sequence[str],
    turn: Path | None,
    delivery: DeliveryWish | None,
    form: Form,
    allow_code: bool = False,
) -> None:
    """Print the system prompt, then each appended block below a line with its place; or JSON."""
    engine = open_engine(agent, delivery, allow_code=allow_code)
    # What is compiled is for hosts that set a system prompt and nothing else.
    host: Host | None = "system-only" if form == "compiled" else None
    call, step = call_from(engine, discovered=discovered, values=values, turn=turn, host=host)
    if form == "text":
        sys.stdout.write(_text(step))
        return
    forms: dict[Form, Callable[[], Json]] = {
        "json": lambda: step.to_json(),  # noqa: PLW0108 - likewise
        "manifest": lambda: step.manifest.to_json(),  # noqa: PLW0108 - made only when asked for
        "messages": lambda: [message.to_json() for message in _messages(step)],
        "compiled": lambda: split_prompt(engine.agent, call, step).to_json(),
    }
    sys.stdout.write(json_text(forms[form]()) + "\n")


def _messages(step: Step) -> tuple[Message, ...]:
    """The whole message stack, with the texts of this turn alone at its end; without a conversation in the turn, it
    begins with the system prompt.
    """
    stack = step.messages or (Message("system", step.system, persist=False),)
    passing = (block for block in step.appended if not block.stays)
    return (*stack, *(Message("system", block.text.removesuffix("\n"), persist=False) for block in passing))


def _text(step: Step) -> str:
    blocks = [f"\n--- {place_of(block)} ---\n{block.text}" for block in step.appended]
    return "".join([step.system, *blocks])


def place_of(block: Appended) -> str:
    """Where a block goes, for people."""
    if block.lifetime == "step":
        return "at the end of this request alone"
    if block.stays or block.after_call_id:
        return f"appended after {block.after_call_id}"
    return "with the user's message, for this turn alone"
