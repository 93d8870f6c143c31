"""Texts of one turn or one request in messages that a host has stored: what has ended is taken out again.

A text that has ended is known by its fingerprint alone (`Step.ended`). In messages of an operator that is enough, since
nobody but the host writes them. In those of a user, only a reminder that stands where a block can stand is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from cuecard.adapters.block_places import MessageFacts, MessageReader, turn_places
from cuecard.adapters.bodies import Body, Message, passing_system, reminder
from cuecard.agent.agent import Agent
from cuecard.errors import InputError, Problem
from cuecard.model import Call, Json, Step, Turn
from cuecard.model.boundary import admit
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.passing import one_turn_names, section_of


class EndedTexts:
    """Recognises the texts of a conversation that are no longer sent.

    The turn's own texts are among them where any has ended: one may read like an earlier one, and all are placed anew.
    """

    __slots__ = ("_after", "_before", "_digests")

    def __init__(self, step: Step) -> None:
        self._digests = {each.sha256 for each in step.ended}
        if step.ended:
            self._digests |= {sha256(block.text) for block in step.appended if not block.stays}
        self._before, _, self._after = step.reminder.partition("{text}")

    def __bool__(self) -> bool:
        return bool(self._digests)

    def is_text(self, text: object) -> bool:
        """Whether this is such a text, as an operator's message holds it."""
        return isinstance(text, str) and bool(self._digests) and sha256(text) in self._digests

    def is_reminder(self, text: object) -> bool:
        """Whether this is a reminder with such a text, as a user's message holds it."""
        if not (isinstance(text, str) and text.startswith(self._before) and text.endswith(self._after)):
            return False
        return self.is_text(text[len(self._before) : len(text) - len(self._after)])


def without_ended(messages: Sequence[Body], step: Step, reader: MessageReader) -> list[Body]:
    """The messages without those that are nothing but an ended text, where blocks are messages of their own."""
    ended = EndedTexts(step)
    if not ended:
        return list(messages)
    kept: list[Body] = []
    could_follow = False
    for message in messages:
        text = _text_alone(message)
        users = bool(reader.says(message))
        if (could_follow and ended.is_reminder(text)) if users else ended.is_text(text):
            continue
        kept.append(message)
        could_follow = users or bool(reader.results(message))
    return kept


def _text_alone(message: Mapping[str, Any]) -> str | None:
    """The text of a message that holds one text and nothing else."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, (list, tuple)):
        content = content[0].get("text") if len(content) == 1 and isinstance(content[0], Mapping) else None
    return content if isinstance(content, str) else None


def last_that_stays(messages: Sequence[Message], step: Step) -> int | None:
    """The message in front of the turn's own texts, in the first request of a turn that has any."""
    texts = {text for b in step.appended if b.lifetime == "turn" for text in (b.text, reminder(b.text, step.reminder))}
    for place in range(len(messages) - 1, 0, -1):
        if messages[place].get("role") in {"assistant", "tool"}:
            return None
        if _text_alone(messages[place]) in texts and _text_alone(messages[place - 1]) not in texts:
            return place - 1
    return None


def ended_turns(step: Step) -> frozenset[int]:
    """The numbers of the turns before this one whose texts have ended, as far as they are known."""
    return frozenset(each.turn for each in step.ended if each.turn is not None and each.turn < len(step.turns) - 1)


def in_ended_turns(read: MessageFacts, step: Step) -> Iterator[range]:
    """Of each ended turn, the messages between its first text and the next message of the user."""
    turns = ended_turns(step)
    places = turn_places(read, step.turns) if turns else {}
    starts, results = sorted(set(places.values())), read.first_places()
    for turn in sorted(turns & places.keys()):
        calls = {each.after_call_id for each in step.ended if each.turn == turn}
        behind = [read.batch_end(results[call]) for call in calls if call in results]
        first = places[turn] if None in calls or not behind else min(behind)
        yield range(first + 1, next((place for place in starts if place > first), len(read.ids)))


def without_thinking(
    turns: Sequence[Body], read: MessageFacts, step: Step, thinks: Callable[[Message], bool]
) -> list[Body]:
    """The messages without the thinking of ended turns, for models that check it against what stands before it."""
    places = {place for held in in_ended_turns(read, step) for place in held}
    if not places:
        return list(turns)
    bare = [
        {**turn, "content": [block for block in turn["content"] if not thinks(block)]}
        if at in places and turn["role"] == "assistant" and any(map(thinks, turn["content"]))
        else turn
        for at, turn in enumerate(turns)
    ]
    return [turn for turn in bare if turn["content"] or turn["role"] != "assistant"]


def whole_system(step: Step) -> str:
    """The system prompt with `passing_system` behind it."""
    return "\n\n".join([step.system.strip(), *passing_system(step)])


_OPENING = 20
"""How many characters make the beginning of a prompt one that nobody else writes."""


def behind_prompt(message: Mapping[str, Any], step: Step) -> list[str] | None:
    """Of a system message that a host has stored as it was sent, the texts behind the prompt; None where it has none.

    An earlier prompt is known by what never changes at its beginning; where it ended, nobody can tell.
    """
    content, left = message.get("content") or "", whole_system(step).strip()
    if message.get("role") not in {"system", "developer"}:
        return None
    parts = [content] if isinstance(content, str) else [part.get("text") for part in content if isinstance(part, dict)]
    texts = [str(part or "").strip() for part in parts]
    for place, text in enumerate(texts if left else ()):
        if text.startswith(left):
            return [text[len(left) :].strip(), *texts[place + 1 :]]
        if not left.startswith(text):
            break
        left = left[len(text) :].lstrip()
    never = takewhile(lambda segment: segment.tier == "static", step.segments)
    opening = "".join(segment.text for segment in never).strip()
    said = "".join(str(part or "") for part in parts).strip()
    begun = len(opening) >= _OPENING and said.startswith(opening)
    # A text of the host's that begins alike goes on in its line, where a prompt has what is between two sections.
    between = {"", "\n", whole_system(step).strip()[len(opening) :][:1]}
    return [] if begun and said[len(opening) :][:1] in between else None


def ends_with_turn(agent: Agent, call: Call) -> bool:
    """Whether what is stored of a call during its turn holds more than what is stored after it."""
    inputs = any(spec.lives != "conversation" for spec in agent.spec.inputs.values())
    rebuilt = not call.delivery.places_blocks  # `Turn.ephemeral` may be among the messages of the prompt
    return bool(call.prompt.passing) or inputs or rebuilt or len(one_turn_names(agent)) > 1


def refuse_kept_history(agent: Agent, call: Call, *, prompt: bool = False) -> None:
    """Refuse an agent with texts of one turn where the provider keeps the history, which takes nothing back.

    Args:
        agent: the agent of the run.
        call: that of the run.
        prompt: whether the provider keeps the system prompt, too.

    Raises:
        InputError: naming each section of that kind.
    """
    if not (call.delivery.places_blocks or prompt):
        return
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    names = [section.id for section in edition if not section.stays]
    names += ["turn.ephemeral"] if any(section_of(block) not in names for block in call.prompt.passing) else []
    told = "`{}` lives for one turn, but the provider keeps the history, and takes nothing back"
    hint = 'pass `Turn(host="system-only")`, which puts it into the system prompt; or send the history yourself'
    hint = "send the history yourself" if prompt else hint
    if names:
        raise InputError(Problem("kept-history", told.format(name), hint, "turn") for name in names)


def inputs_now(agent: Agent, said: Callable[[], Turn]) -> Mapping[str, Json]:
    """The values of those inputs in the turn that the host makes now; everything else was taken from the first one.

    Args:
        agent: the agent.
        said: makes the turn; asked only where there are such inputs. One that it leaves out has its default again;
            one without a default, or whose default is null, stays as it is.

    Raises:
        InputError: when it makes something else than a turn.
    """
    changing = {name: spec for name, spec in agent.spec.inputs.items() if spec.tier == "step"}
    given = admit(Turn, said(), "turn").inputs if changing else {}
    values = {name: given.get(name, spec.default) for name, spec in changing.items()}
    return {name: value for name, value in values.items() if value is not None}
