"""A conversation equals the pure core over its whole history, whatever happens in it, and however it travels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cms_agent import CMS, TOOLS
from cuecard import Call, ConversationState, Engine, Entity, Memory, ToolResult, Turn
from cuecard.types import Delivery
from property.cue_times import timed

START = datetime(2026, 11, 20, 22, tzinfo=UTC)
KEY = "a key for conversations in tests"


@cache
def opened() -> Engine:
    return Engine.open(CMS, key=KEY)


NAMES = st.lists(st.sampled_from([*TOOLS[:16], "no_such_tool", "another_one"]), max_size=3)
RARELY = st.sampled_from([False, False, False, True])
SEARCHES = st.tuples(NAMES, st.booleans(), RARELY)
DELIVERIES: tuple[Delivery, ...] = ("append", "rewrite", "frozen")
ENTITIES = st.lists(st.sampled_from([Entity("page", f"p{n}", f"Page {n}") for n in range(4)]), max_size=3, unique=True)


class Conversations(RuleBasedStateMachine):
    """Beside the handle, what the pure core needs: all results, the call before, whether a compaction came since."""

    @initialize(delivery=st.sampled_from(DELIVERIES), budget=st.sampled_from([None, 300, 900]), later=st.booleans())
    def begin(self, delivery: Delivery, budget: int | None, *, later: bool) -> None:
        agent = timed() if later else opened().agent
        spec = agent.spec.model_copy(update={"budget": agent.spec.budget.model_copy(update={"protocols": budget})})
        self.engine = replace(opened(), agent=replace(agent, spec=spec), delivery=delivery)
        self.chat = self.engine.conversation()
        self.history: list[ToolResult] = []
        self.waiting: list[ToolResult] = []
        self.memory = Memory()
        self.call: Call | None = None
        self.kept: int | None = None
        self.now, self.ids = START, 0

    @rule(searches=st.lists(SEARCHES, min_size=1, max_size=3), wrapped=st.booleans())
    def search(self, *, searches: list[tuple[list[str], bool, bool]], wrapped: bool) -> None:
        for names, with_id, failed in searches:
            found = {"tools": names}
            self.receive("tool_search", json.dumps(found) if wrapped else found, with_id=with_id, failed=failed)
            if self.call:
                self.ask_the_model(again=1)

    @rule(tool=st.sampled_from(TOOLS[:16]), asks=RARELY, with_id=st.booleans())
    def use(self, tool: str, *, asks: bool, with_id: bool) -> None:
        self.receive(tool, {"requiresConfirmation": asks}, with_id=with_id, failed=False)

    @rule(number=st.integers(0, 5), with_id=st.booleans(), failed=RARELY)
    def touch(self, *, number: int, with_id: bool, failed: bool) -> None:
        page = {"data": {"id": f"p{number}", "title": f"Page {number}"}}
        self.receive("cms_getPage", page, with_id=with_id, failed=failed)

    def receive(self, tool: str, result: object, *, with_id: bool, failed: bool) -> None:
        self.ids += 1
        self.waiting.append(ToolResult(tool, result, f"call-{self.ids}" if with_id else None, is_error=failed))

    @rule(hours=st.integers(0, 5), withdrawn=st.sampled_from([(), (TOOLS[0],), tuple(TOOLS[:3])]), memory=ENTITIES)
    def say(self, hours: int, withdrawn: tuple[str, ...], memory: list[Entity]) -> None:
        self.now += timedelta(hours=hours)
        exists = tuple(name for name in self.engine.tools if name not in withdrawn)
        query = "delete a page" if hours == 1 else ""
        turn = Turn(memory=Memory(tuple(memory)), now=self.now, tools=exists, query=query)
        news = self.taken()
        self.memory = turn.memory if memory else self.memory
        told = self.chat.user(turn, news)
        expected = self.engine.prepare_call(
            replace(turn, memory=self.memory),
            self.history,
            previous=self.call,
            compacted=self.kept is not None,
            kept=self.kept or 0,
        )
        self.call, self.kept = expected, None

        assert told == expected

    @precondition(lambda self: self.call)
    @rule(again=st.integers(0, 3), gone=st.sampled_from([None, (), (TOOLS[0],), tuple(TOOLS[:3])]))
    def ask_the_model(self, again: int, gone: tuple[str, ...] | None = None) -> None:
        repeated = [result for result in self.history[-again:] if again and result.call_id]
        there = None if gone is None else tuple(name for name in self.engine.tools if name not in gone)
        step = self.chat.step([*repeated, *self.taken()], tools=there)

        assert self.call
        expected = self.engine.prepare_step(self.call, self.history, tools=there)
        assert step.to_json() == expected.to_json()
        self.call = expected.call

    @rule(query=st.sampled_from(["delete a page", "attach an image", "list posts", "move the moon"]))
    def look_for_tools(self, query: str) -> None:
        if self.call and self.waiting:
            self.ask_the_model(again=0)
        found = self.chat.search_tools(query)

        assert found == self.engine.search_tools(query, call=self.call, history=self.history if self.call else ())
        if self.call:
            self.receive("tool_search", found.to_json(), with_id=True, failed=False)
            step = self.chat.step(self.taken())
            assert set(found.tools) <= set(step.active_tools)

    @precondition(lambda self: self.call)
    @rule(calls_only=st.booleans())
    def answer_without_names(self, *, calls_only: bool) -> None:
        named = self.taken()
        calls = {result.call_id: result.tool for result in named if result.call_id}
        if calls_only:
            self.chat.step(calls=calls)
        bare = [replace(result, tool="") if result.call_id else result for result in named]
        step = self.chat.step(bare, calls={} if calls_only else calls)

        assert self.call
        assert step.to_json() == self.engine.prepare_step(self.call, self.history).to_json()

    @precondition(lambda self: self.call)
    @rule(kept=st.integers(0, 3))
    def shorten(self, kept: int) -> None:
        self.chat.compacted(kept)
        self.kept = kept

    @rule(entities=ENTITIES)
    def point_at(self, entities: list[Entity]) -> None:
        self.chat.remember(entities)
        unique = {entity.id: entity for entity in reversed([*entities, *self.memory.entities])}
        order = dict.fromkeys(entity.id for entity in [*entities, *self.memory.entities])
        kept = [unique[name] for name in order]
        self.memory = Memory(tuple(kept[: self.engine.agent.spec.memory.total]))

    @rule(numbers=st.lists(st.integers(0, 5), max_size=2))
    def delete(self, numbers: list[int]) -> None:
        names = [f"p{number}" for number in numbers]
        self.chat.forget(*names)
        self.memory = Memory(tuple(each for each in self.memory.entities if names and each.id not in names))

    @rule()
    def branch(self) -> None:
        other, self.chat = self.chat, copy(self.chat)
        other.user(Turn(now=self.now), [ToolResult("tool_search", {"tools": TOOLS[:2]}, "of-the-other")])
        other.step([ToolResult(TOOLS[1], {}, "also-of-the-other")])

    @rule(signed=st.booleans())
    def travel(self, *, signed: bool) -> None:
        if signed:
            self.chat = self.engine.load(self.engine.dump(self.chat))
        else:
            data = json.loads(json.dumps(self.chat.to_json()))
            self.chat = self.engine.conversation(ConversationState.from_json(data))

    def taken(self) -> list[ToolResult]:
        news, self.waiting = self.waiting, []
        self.history += news
        self.memory = self.engine.remember(self.memory, news)
        return news

    @invariant()
    def the_memory_is_what_the_rules_find(self) -> None:
        if hasattr(self, "chat"):
            assert self.chat.memory == self.memory

    @invariant()
    def bodies_are_never_kept(self) -> None:
        if hasattr(self, "chat"):
            assert ids(self.chat.state.results) == ids(self.history)
            assert not any(hasattr(record, "result") for record in self.chat.state.results)


def ids(results: Iterable[object]) -> list[object]:
    return [getattr(result, "call_id", "") for result in results]


TestConversations = Conversations.TestCase
TestConversations.settings = settings(stateful_step_count=25)
