"""The places of appended blocks in messages whose content is a list of blocks: those of Anthropic, and of Bedrock.

A block is a system message of its own, or a text in the user's turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from cuecard.adapters.block_places import MessageReader, homes, turn_places
from cuecard.adapters.bodies import Body, Message, reminder
from cuecard.adapters.one_turn import EndedTexts, ended_turns, without_thinking
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Appended, Lifetime, Step


def text_block(text: str) -> Body:
    """A block of text, as Anthropic writes it."""
    return {"type": "text", "text": text}


def is_empty(block: Message) -> bool:
    """Whether a block is a text without anything to read, which models give and providers refuse."""
    return "text" in block and not str(block["text"]).strip()


NO_ANSWER = "(no answer)"
"""What stands for an answer without content: leaving it out would join the messages around it."""
NO_RESULT = "(no result)"
"""What stands for a tool result without content: each call needs its result."""


def filled(blocks: Iterable[Body], filler: Body) -> list[Body]:
    """The blocks without empty texts, or what stands for them."""
    return [block for block in blocks if not is_empty(block)] or [filler]


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a provider writes the blocks of a message.

    Attributes:
        text: makes a block of a text.
        call: the call id of a block that is a tool result, None for every other one.
        thinks: whether a block is thinking.
    """

    text: Callable[[str], Body]
    call: Callable[[Message], str | None]
    thinks: Callable[[Message], bool]

    def is_result(self, block: Message) -> bool:
        """Whether a block is a tool result."""
        return self.call(block) is not None

    def result_ids(self, turn: Message) -> tuple[str, ...]:
        """The call ids of the tool results in a message."""
        return tuple(call for block in turn["content"] if (call := self.call(block)) is not None)

    def says(self, turn: Message, apart_from: frozenset[str] | set[str] = frozenset()) -> int:
        """How many texts of the user are in it, one for pictures alone: beside results, reminders are none."""
        if turn["role"] != "user":
            return 0
        others = [block for block in turn["content"] if not self.is_result(block)]
        own = [block for block in others if block.get("text") not in apart_from]
        if not own:
            return int(len(others) == len(turn["content"]))
        return sum("text" in block for block in own) or 1


THINKING = frozenset({"thinking", "redacted_thinking"})

ANTHROPIC = Blocks(
    text_block,
    lambda block: block["tool_use_id"] if block.get("type") == "tool_result" else None,
    lambda block: block.get("type") in THINKING,
)


def place(turns: Sequence[Body], step: Step, model: ModelProfile, form: Blocks = ANTHROPIC) -> list[Body]:
    """The messages with the blocks in their places, exactly once; those of an earlier request are recognised.

    Texts that have ended are taken out and, for models that check it, the thinking that followed them.
    """
    if step.ended:
        turns = _without_ended(turns, EndedTexts(step), form)
        if model.checks_thinking:
            turns = without_thinking(turns, MessageReader(form.result_ids, form.says).read(turns), step, form.thinks)
    if model.mid_conversation == "user":
        return _as_reminders(turns, step, form)
    return _as_messages(turns, step, form)


def _without_ended(turns: Sequence[Body], ended: EndedTexts, form: Blocks) -> list[Body]:
    """The messages without ended texts; a message of the user that is nothing else is the user's own."""
    kept = [{**turn, "content": list(_staying(turn, ended, form))} for turn in turns]
    return [turn for turn in kept if turn["content"] or turn["role"] != "system"]


def _staying(turn: Body, ended: EndedTexts, form: Blocks) -> Iterator[Body]:
    for at, block in enumerate(turn["content"]):
        text = block.get("text")
        if turn["role"] == "system":
            is_ended = ended.is_text(text)
        else:
            is_ended = at > 0 and turn["role"] == "user" and ended.is_reminder(text)
        if not is_ended or form.is_result(block):
            yield block


def result_ids(turn: Message) -> tuple[str, ...]:
    """The call ids of the tool results in a message of Anthropic's."""
    return ANTHROPIC.result_ids(turn)


def _as_reminders(turns: Sequence[Body], step: Step, form: Blocks) -> list[Body]:
    """Reminders about tools right behind the results, those about a turn at the end of its message.

    So what the host adds to a message with results stands behind what was sent there. Where several turns share a
    message, each has its own behind its texts. A text is a reminder that was placed before only where it stands at its
    place, since the user may write the same, and never if it stands alone.
    """
    make = partial(reminder, form=step.reminder)
    texts = {make(block.text) for block in step.appended}
    read = MessageReader(form.result_ids, partial(form.says, apart_from=texts)).read(turns)
    places = turn_places(read, step.turns)
    placed = list(turns)
    for at, blocks in homes(read, step.appended, step.turns).items():
        sharing = [turn for turn, home in places.items() if home == at]
        results, rest = _split(turns[at]["content"], form)
        by_call = [form.text(make(block.text)) for block in blocks if block.after_call_id is not None]
        if results:
            rest = rest[_same_start(rest, by_call) :]
            results, by_call = [*results, *by_call], []
        parts = _parts(rest, len(sharing), texts)
        ours: list[list[Body]] = [*([] for _ in parts[1:]), by_call]
        for block in blocks:
            if block.after_call_id is None:
                part = sharing.index(block.turn) if block.turn in sharing else len(parts)
                ours[min(part, len(parts) - 1)].append(form.text(make(block.text)))
        content = list(results)
        for held, added in zip(parts, ours, strict=True):
            kept = len(held) - _same_end(held if content else held[1:], added)
            content += [*held[:kept], *added]
        placed[at] = {**turns[at], "content": content}
    return placed


def _parts(content: list[Body], turns: int, reminders: set[str]) -> list[list[Body]]:
    """The content of a message that so many turns share, one part for each; undivided where their texts do not tell."""
    own = [at for at, block in enumerate(content) if "text" in block and block["text"] not in reminders]
    each, rest = divmod(len(own), max(turns, 1))
    starts = [own[each * turn] for turn in range(1, turns)] if each and not rest else []
    return [content[a:b] for a, b in pairwise([0, *starts, len(content)])]


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
    found = homes(MessageReader(form.result_ids, form.says).read(bare), step.appended, step.turns)
    placed: list[Body] = []
    waiting: list[Body] = []
    for place_, turn in enumerate(bare):
        if turn["role"] == "system":  # the host's own stands here already
            placed.append({**turn, "content": [*turn["content"], *waiting]})
            waiting = []
        else:
            if waiting and turn["role"] == "assistant":
                placed.append({"role": "system", "content": waiting})
                waiting = []
            placed.append(turn)
            waiting += _texts(found.get(place_, ()), form)
    return [*placed, {"role": "system", "content": waiting}] if waiting else placed


def _texts(blocks: Sequence[Appended], form: Blocks) -> list[Body]:
    return [form.text(block.text) for block in blocks]


def _without(turn: Body, texts: set[str]) -> Body:
    """A message of the system without blocks: users write none of those, so that the text is enough."""
    return {**turn, "content": [block for block in turn["content"] if block.get("text") not in texts]}


@dataclass(frozen=True, slots=True)
class Ends:
    """Where cache breakpoints belong in messages whose blocks are in their places.

    Each place is a message and how many of its blocks come before the breakpoint, the most important place first.
    """

    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, turns: Sequence[Body], step: Step, form: Blocks = ANTHROPIC) -> Ends:
        """The end of the request, and that of what it shares with the request before.

        A turn's own texts leave the messages when it ends, so what stays ends in front of them: the first request of a
        turn has a breakpoint there, and the next turn's first request one at the same place, which finds the entry.
        Texts of one request are never cached.
        """
        end = _first_of(turns, step, "step") or _whole(turns, len(turns))
        answer = _answer(turns)
        before = _whole(turns, answer) if answer else None
        places = turn_places(MessageReader(form.result_ids, form.says).read(turns), step.turns) if step.turns else {}
        now = len(step.turns) - 1
        if now not in places or answer > places[now]:
            return cls(_known(end, before))
        if now - 1 in ended_turns(step) and now - 1 in places:
            last = places[now - 1]
            beside = last + 1 < len(turns) and turns[last + 1]["role"] == "system"
            before = _whole(turns, last + 1 + beside)
        return cls(_known(end, _first_of(turns, step, "turn"), before))


def _known(*places: tuple[int, int] | None) -> tuple[tuple[int, int], ...]:
    return tuple(dict.fromkeys(place for place in places if place))


def _whole(turns: Sequence[Body], messages: int) -> tuple[int, int]:
    """The end of so many messages."""
    return messages - 1, len(turns[messages - 1]["content"]) if messages else 0


def _answer(turns: Sequence[Body]) -> int:
    """Where the model's last answer begins, which may be several messages; 0 without one."""
    answer = max((place for place, turn in enumerate(turns) if turn["role"] == "assistant"), default=0)
    while answer and turns[answer - 1]["role"] == "assistant":
        answer -= 1
    return answer


def _first_of(turns: Sequence[Body], step: Step, lifetime: Lifetime) -> tuple[int, int] | None:
    """The place of the first block of this lifetime behind the model's last answer."""
    blocks = [block for block in step.appended if block.lifetime == lifetime]
    texts = {text for block in blocks for text in (block.text, reminder(block.text, step.reminder))}
    for place, turn in enumerate(turns[_answer(turns) :], _answer(turns)):
        if turn["role"] != "assistant":
            for at, block in enumerate(turn["content"]):
                if block.get("text") in texts and (at or turn["role"] == "system"):
                    return place, at
    return None
