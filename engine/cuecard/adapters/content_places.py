"""The places of appended blocks in messages whose content is a list of blocks: those of Anthropic, and of Bedrock.

A block is a system message of its own, or a text in the user's turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cuecard.adapters.homes import Reader, homes
from cuecard.adapters.placing import Body, Message, reminder
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Appended, Step


def text_block(text: str) -> Body:
    """A block of text, as Anthropic writes it."""
    return {"type": "text", "text": text}


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a provider writes the blocks of a message.

    Attributes:
        text: makes a block of a text.
        call: the call id of a block that is a tool result, None for every other one.
    """

    text: Callable[[str], Body]
    call: Callable[[Message], str | None]

    def is_result(self, block: Message) -> bool:
        """Whether a block is a tool result."""
        return self.call(block) is not None

    def result_ids(self, turn: Message) -> tuple[str, ...]:
        """The call ids of the tool results in a message."""
        return tuple(call for block in turn["content"] if (call := self.call(block)) is not None)

    def says(self, turn: Message, apart_from: frozenset[str] | set[str] = frozenset()) -> bool:
        """Whether the user's words are in a message: beside results, reminders are none."""
        if turn["role"] != "user":
            return False
        others = [block for block in turn["content"] if not self.is_result(block)]
        return len(others) == len(turn["content"]) or any(block.get("text") not in apart_from for block in others)


ANTHROPIC = Blocks(text_block, lambda block: block["tool_use_id"] if block.get("type") == "tool_result" else None)


def place(turns: Sequence[Body], step: Step, model: ModelProfile, form: Blocks = ANTHROPIC) -> list[Body]:
    """The messages with the blocks in their places, exactly once; those of an earlier request are recognised."""
    if model.mid_conversation == "user":
        return _as_reminders(turns, step, form)
    return _as_messages(turns, step, form)


def result_ids(turn: Message) -> tuple[str, ...]:
    """The call ids of the tool results in a message of Anthropic's."""
    return ANTHROPIC.result_ids(turn)


def _as_reminders(turns: Sequence[Body], step: Step, form: Blocks) -> list[Body]:
    """Reminders about tools right behind the results, those about a turn at the end of its message.

    So what the host adds to a message with results stands behind what was sent there. A text is a reminder that was
    placed before only where it stands at its place, since the user may write the same, and never if it stands alone.
    """
    make = partial(reminder, form=step.reminder)
    texts = {make(block.text) for block in step.appended}
    reader = Reader(form.result_ids, partial(form.says, apart_from=texts))
    found = homes(reader.read(turns), step.appended, step.turns)
    placed = list(turns)
    for at, blocks in found.items():
        by_call = [form.text(make(block.text)) for block in blocks if block.after_call_id is not None]
        by_turn = [form.text(make(block.text)) for block in blocks if block.after_call_id is None]
        results, rest = _split(turns[at]["content"], form)
        if results:
            rest = rest[_same_start(rest, by_call) :]
            content = [*results, *by_call, *rest[: len(rest) - _same_end(rest, by_turn)], *by_turn]
        else:
            ours = [*by_call, *by_turn]
            kept = len(rest) - _same_end(rest[1:], ours)
            content = [*rest[:kept], *ours]
        placed[at] = {**turns[at], "content": content}
    return placed


def _split(content: Sequence[Body], form: Blocks) -> tuple[list[Body], list[Body]]:
    """What ends with the last tool result, and what follows."""
    end = max((place + 1 for place, block in enumerate(content) if form.is_result(block)), default=0)
    return list(content[:end]), list(content[end:])


def _same_start(content: Sequence[Body], blocks: Sequence[Body]) -> int:
    """How many of these blocks the content begins with."""
    return next(n for n in range(min(len(content), len(blocks)), -1, -1) if list(content[:n]) == list(blocks[:n]))


def _same_end(content: Sequence[Body], blocks: Sequence[Body]) -> int:
    """How many of these blocks, from the first on, the content ends with."""
    most = min(len(content), len(blocks))
    return next(n for n in range(most, -1, -1) if list(content[len(content) - n :]) == list(blocks[:n]))


def _as_messages(turns: Sequence[Body], step: Step, form: Blocks) -> list[Body]:
    """A system message is refused unless it follows a whole user turn and ends the list or precedes the model's."""
    texts = {block.text for block in step.appended}
    bare = [_without(turn, texts) if turn["role"] == "system" else turn for turn in turns]
    bare = [turn for turn in bare if turn["content"] or turn["role"] != "system"]
    found = homes(Reader(form.result_ids, form.says).read(bare), step.appended, step.turns)
    placed: list[Body] = []
    waiting: list[Body] = []
    for place_, turn in enumerate(bare):
        if waiting and turn["role"] == "system":  # the host's own stands here already
            placed.append({**turn, "content": [*turn["content"], *waiting]})
            waiting = []
            continue
        if waiting and turn["role"] == "assistant":
            placed.append({"role": "system", "content": waiting})
            waiting = []
        placed.append(turn)
        waiting = [*waiting, *_texts(found.get(place_, ()), form)]
    return [*placed, {"role": "system", "content": waiting}] if waiting else placed


def _texts(blocks: Sequence[Appended], form: Blocks) -> list[Body]:
    return [form.text(block.text) for block in blocks]


def _without(turn: Body, texts: set[str]) -> Body:
    """A message of the system without blocks: users write none of those, so that the text is enough."""
    return {**turn, "content": [block for block in turn["content"] if block.get("text") not in texts]}
