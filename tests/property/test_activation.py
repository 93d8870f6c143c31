"""Promise 1, its second half: a tool is active together with its instructions, or not at all, in every conversation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from cms_agent import CMS, CORE
from cms_agent import TOOLS as FOUND_TOOLS
from cuecard import Call, Engine, Step, ToolCard, ToolResult, Turn
from cuecard.config.agent_file import BudgetSpec
from cuecard.types import Delivery, RunLimits
from property.cue_times import timed

UNLIMITED = RunLimits(steps=1000, retries=1000, failures=1000)
NOW = datetime(2026, 11, 20, tzinfo=UTC)
PLAIN = ("plain_one", "plain_two")


@cache
def opened() -> Engine:
    return Engine.open(CMS).with_tools([ToolCard(name) for name in PLAIN])


TOOLS = [*FOUND_TOOLS[:14], *PLAIN]
NAMES = st.lists(st.sampled_from(TOOLS), max_size=4)
DELIVERIES: tuple[Delivery, ...] = ("append", "append", "rewrite", "frozen")


class Activations(RuleBasedStateMachine):
    """What holds at every step, and what was decided since the last baseline."""

    @initialize(
        delivery=st.sampled_from(DELIVERIES),
        protocols=st.sampled_from([None, 150, 400, 900]),
        total=st.sampled_from([None, None, 1500, 1900, 2600]),
        later=st.booleans(),
    )
    def begin(self, delivery: Delivery, protocols: int | None, total: int | None, *, later: bool) -> None:
        agent = timed().with_catalogue(opened().agent.catalogue) if later else opened().agent
        spec = agent.spec.model_copy(update={"budget": BudgetSpec(total=total, protocols=protocols)})
        self.engine = replace(opened(), agent=replace(agent, spec=spec), delivery=delivery)
        self.delivery, self.protocols, self.total = delivery, protocols, total
        self.history: list[ToolResult] = []
        self.there: tuple[str, ...] = ()
        self.call: Call | None = None
        self.active: set[str] = set()
        self.withheld: set[str] = set()
        self.answered: set[str] = set()
        self.say((), compacted=False, hinted=[], query="")

    @rule(
        withdrawn=st.sampled_from([(), (), tuple(TOOLS[:2])]),
        compacted=st.sampled_from([False, False, True]),
        hinted=st.lists(st.sampled_from(TOOLS[-4:]), max_size=1),
        query=st.sampled_from(["", "", "find a picture", "delete the about page"]),
    )
    def say(self, withdrawn: Collection[str], *, compacted: bool, hinted: list[str], query: str) -> None:
        self.there = tuple(name for name in self.engine.tools if name not in withdrawn)
        turn = Turn(now=NOW, tools=self.there, discovered=tuple(hinted), query=query, run=UNLIMITED)
        call = self.engine.prepare_call(turn, self.history, previous=self.call, compacted=compacted)
        if compacted or self.delivery == "rewrite":
            self.active, self.withheld = set(), set()
        self.call = Call.from_json(call.to_json())
        self.last: Step | None = None
        self.ask()

    @precondition(lambda self: self.call)
    @rule(names=NAMES, failed=st.sampled_from([False, False, True]))
    def search(self, names: list[str], *, failed: bool) -> None:
        self.receive("tool_search", {"tools": names}, failed=failed)

    @precondition(lambda self: self.call)
    @rule(data=st.data(), asks=st.booleans())
    def use(self, data: st.DataObject, *, asks: bool) -> None:
        assert self.last
        name = data.draw(st.sampled_from(self.last.active_tools[1:]))
        self.receive(name, {"requiresConfirmation": asks}, failed=False)

    def receive(self, tool: str, result: object, *, failed: bool) -> None:
        if self.last and tool in self.last.active_tools and result == {"requiresConfirmation": False}:
            self.answered.add(tool)
        self.history.append(ToolResult(tool, result, f"call-{len(self.history)}", is_error=failed))
        self.ask()

    def ask(self) -> None:
        assert self.call
        step = self.engine.prepare_step(self.call, self.history)
        self.holds(step)
        self.only_grows(step)
        self.last = step

    def holds(self, step: Step) -> None:
        said = step.system + "".join(block.text for block in step.appended)
        protocols = self.engine.agent.protocols
        cuts = {cut.what: cut for cut in step.manifest.cuts}
        for name in step.active_tools:
            assert name in self.there
            assert step.refusal(name) is None
            made = protocols.get(name)
            whole = made is None or made.text in said
            assert whole or (made and made.first in said), "active without its instructions"
            due = name in self.answered and not whole and name in {each.tool for each in step.discovered}
            assert not due or protocols[name].later in said, "a result without its cues"
        for name in found(self.history):
            if name in self.there and name not in step.active_tools:
                assert name in protocols, "a tool without instructions needs no room"
                assert cuts[name].reason.startswith("not active: budget.")
                assert "no room left" in (step.refusal(name) or "")
        self.within_budgets(step)

    def within_budgets(self, step: Step) -> None:
        protocols = self.engine.agent.protocols
        paid = [name for name in step.active_tools if name in protocols and name not in CORE]
        spent = sum(self.engine.count(protocols[name].text) for name in paid)
        if self.protocols and self.delivery != "frozen":
            assert spent <= self.protocols
        if self.total:
            over = step.manifest.total_tokens > self.total
            assert over == ("budget.total" in {cut.what for cut in step.manifest.cuts})

    def only_grows(self, step: Step) -> None:
        now = set(step.active_tools)
        inactive = found(self.history) & set(self.there) - now
        assert not {name for name in self.active if name in self.there} - now, "what was active is active"
        assert not self.withheld & now, "what was not activated never is"
        if self.total and any(name in self.engine.agent.protocols for name in now - self.active - {*CORE}):
            assert step.manifest.total_tokens <= self.total, "what is activated fits, whatever brought it"
        self.active |= now
        self.withheld |= inactive
        if self.last and self.delivery != "rewrite":
            assert step.system == self.last.system
            assert step.appended[: len(self.last.appended)] == self.last.appended


def found(history: list[ToolResult]) -> set[str]:
    """What the searches have named so far."""
    searches = (each for each in history if each.tool == "tool_search" and not each.is_error)
    return {name for each in searches for name in each.result["tools"]}


TestActivations = Activations.TestCase
TestActivations.settings = settings(stateful_step_count=15)
