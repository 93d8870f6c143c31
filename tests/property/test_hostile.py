"""Hostile values in every slot, over whole conversations: the structure is that of harmless values of the same shape.

Two judges compare it: a tolerant reader of elements, headings and separators in any spelling, and, where a prompt is
Markdown, a CommonMark reader.

`make hostile COUNT=100000` makes so many hostile prompts; in the suite it is a few hundred, the same ones in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from itertools import cycle
from typing import TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from cuecard import Call, Engine, Entity, FileText, Memory, Message, Step, ToolCard, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.types import Json
from property.hostile_agents import SYSTEMS, Take, Target, small_agents, system
from property.hostile_structure import Reader
from property.hostile_texts import ODD_NAMES, PALETTES, TEXTS, WORDS, core_of, harmless, says_something
from property.markdown_judge import Judge

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
COUNT = int(os.environ.get("CUECARD_HOSTILE", "0"))
"""How many hostile prompts to make, each beside a harmless one; the usual few where it is not set."""

SHOWN_SKILL = TEXTS.filter(lambda text: text.isprintable() and says_something(text))
SERVER_TOOLS = ("tool_a", "tool_b", "server_tool")
DELIVERIES = ("append", "rewrite", "frozen")
rendered = [0, 0]
"""How many harmless and how many hostile prompts were made."""

Texts: TypeAlias = Sequence[tuple[str, str]]


class Side:
    """One of two conversations that differ in nothing but whether their values are hostile."""

    def __init__(self, engine: Engine, *, is_hostile: bool) -> None:
        self.engine, self.is_hostile = engine, is_hostile
        self.history: list[ToolResult] = []
        self.call: Call | None = None

    def take(self, palette: Sequence[str]) -> Take:
        texts: Iterator[str] = cycle(palette)
        return lambda: next(texts) if self.is_hostile else harmless(next(texts))

    def bring_tools(self, palette: Sequence[str]) -> None:
        take = self.take(palette)
        cards = [ToolCard(name, take(), {"type": "object", "title": take()}, (take(),)) for name in SERVER_TOOLS]
        odd = [ToolCard(name, take()) for name in ODD_NAMES] if self.is_hostile else []
        self.engine = self.engine.with_tools([*cards, *odd])

    def say(self, turn: Turn, *, forgets: bool) -> Step:
        self.call = self.engine.prepare_call(turn, self.history, previous=None if forgets else self.call)
        return self.step()

    def step(self) -> Step:
        assert self.call
        rendered[self.is_hostile] += 1
        return self.engine.prepare_step(self.call, self.history)


class Hostile(RuleBasedStateMachine):
    """A conversation with an agent, twice at once."""

    target: Target

    @initialize(
        attacked=st.sampled_from(SYSTEMS).map(system) | small_agents(SHOWN_SKILL),
        palette=PALETTES,
        delivery=st.sampled_from(DELIVERIES),
    )
    def begin(self, attacked: Target, palette: list[str], delivery: str) -> None:
        self.target, self.delivery, self.calls = attacked, delivery, 0
        self.sides = [Side(engine, is_hostile=not place) for place, engine in enumerate(attacked.engines)]
        self.seen: dict[str, str] = {}
        for side in self.sides:
            side.bring_tools(palette)
        self.prompts: list[str] = []
        self.ranks = frozenset(self.ranks_written())
        self.say(palette, 0, withdrawn=False)

    def ranks_written(self) -> Iterator[str]:
        """The ranks of Markdown headings in prompts with words alone: with a blank, an author's `-` might make one."""
        side = Side(self.target.engines[1], is_hostile=False)
        side.bring_tools(["word"])
        for switch in range(len(self.target.switches)):
            step = side.say(self.turn(side, ["word"], switch, withdrawn=False), forgets=True)
            yield from (rank for _, text in texts_of(step) for rank, _ in Judge(text).headings(text))

    @rule(palette=PALETTES, switch=st.integers(0, 2), withdrawn=st.booleans())
    def say(self, palette: list[str], switch: int, *, withdrawn: bool) -> None:
        """A message of the user, with new values everywhere."""
        self.calls, palette = self.calls + 1, self.distinct(palette)
        turns = [self.turn(side, palette, switch, withdrawn=withdrawn) for side in self.sides]
        forgets = self.target.forgets
        self.compare([side.say(turn, forgets=forgets) for side, turn in zip(self.sides, turns, strict=True)])

    @precondition(lambda self: self.calls > 0)
    @rule(palette=PALETTES, tools=st.lists(st.sampled_from(SERVER_TOOLS), unique=True))
    def search(self, palette: list[str], tools: list[str]) -> None:
        """A search finds tools, and what names none."""
        palette = self.distinct(palette)
        for side in self.sides:
            take, call_id = side.take(palette), f"call-{len(side.history)}"
            found: dict[str, Json] = {"tools": [*tools, *(ODD_NAMES if side.is_hostile else [])], "message": take()}
            known = [{"id": take() + str(place), "name": take(), "title": take(), "type": take()} for place in range(2)]
            side.history += [
                ToolResult(side.engine.search_tool, found, call_id),
                ToolResult("tool_a", {"posts": known, "text": take()}, f"{call_id}-b"),
            ]
        self.compare([side.step() for side in self.sides])

    def distinct(self, palette: list[str]) -> list[str]:
        """Texts that a prompt might print alike become one, so that both conversations change at the same places."""
        return [self.seen.setdefault(core_of(text), text) for text in palette]

    def turn(self, side: Side, palette: list[str], switch: int, *, withdrawn: bool) -> Turn:
        target, take = self.target, side.take(palette)
        switches = target.switches[switch % len(target.switches)]
        names = [name for name in side.engine.tools if name != "server_tool"] if withdrawn else None
        entities = tuple(Entity(take(), f"{take()} {place}", take()) for place in range(3))
        learned = side.engine.remember(Memory(entities), side.history)
        said = {"a": take(), f"{take()} 1": [take()]}
        return Turn(
            inputs={**target.inputs(take), **switches},
            memory=learned,
            now=NOW,
            tools=None if names is None else tuple(names),
            delivery=self.delivery,  # type: ignore[arg-type]
            files={path: FileText(path, f"x{take()}") for path in target.files},
            messages=(Message("user", take(), speaker=take()), Message("assistant", take())),
            message=Message("user", f"x{take()}", speaker=take()),
            summary=take(),
            metadata={key: value for key, value in said.items() if key.isprintable()},
            ephemeral="Be brief.",
        )

    def compare(self, steps: list[Step]) -> None:
        """Texts of the engine have the structure of those of harmless values, and nobody sees what nobody sees."""
        hostile, plain = (list(texts_of(step)) for step in steps)
        self.prompts += [text for _, text in plain]
        names = [f"<{name}>" for name in (*WORDS, *self.sides[0].engine.instructions)]
        target = self.target
        reader = Reader.of([*self.prompts, *names], target.begins, target.lines, target.entries)

        assert [reader.read(text, name) for name, text in hostile] == [reader.read(text, name) for name, text in plain]
        if self.sides[0].engine.agent.gate.fences:
            assert [*markdown(hostile, plain, self.ranks)] == [*markdown(plain, plain, self.ranks)]
        assert not any(mark in text for _, text in hostile for mark in "\ufdd0\ufdd1\ufdd2\0\x1b\u202e")
        assert steps[0].active_tools == steps[1].active_tools


def markdown(said: Texts, plain: Texts, ranks: AbstractSet[str]) -> Iterator[list[str]]:
    """The headings of each text that are of one of these ranks."""
    for (_, text), (_, twin) in zip(said, plain, strict=True):
        yield [rank for rank, _ in Judge(twin).headings(text) if rank in ranks]


def texts_of(step: Step) -> Iterator[tuple[str, str]]:
    """What the engine says: the system prompt, its sections, blocks as they stand in a user's turn, its messages."""
    yield "", step.system
    yield from ((segment.id, segment.text) for segment in step.segments)
    yield from (("", reminder(block.text, step.reminder)) for block in step.appended)
    for message in step.messages:
        if not message.persist and message.content != step.system:
            yield "", f"{message.role}: {message.content}"


_PER_EXAMPLE = 4


class TestHostile(Hostile.TestCase):  # type: ignore[valid-type,misc]  # hypothesis makes the class
    settings = settings(
        max_examples=max(COUNT // _PER_EXAMPLE, 1) if COUNT else settings().max_examples,
        stateful_step_count=5,
        derandomize=settings().derandomize and not COUNT,
        suppress_health_check=list(HealthCheck),
    )

    @classmethod
    def tearDownClass(cls) -> None:
        print(f"{rendered[True]:,} hostile prompts beside {rendered[False]:,} harmless ones")
