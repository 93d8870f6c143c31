"""Promises 1, 4, 5, 6 and 7 by other means: hosts played by a seed, and a judge that knows nothing of the adapters.

`test_every_conversation.py` draws conversations with Hypothesis and compares bodies as texts. Here random numbers play
other hosts (interrupted runs, dropped messages, several messages of the user in a row, results of which nobody told the
engine), and the judge reads bodies as a provider does. `CUECARD_CONVERSATIONS=1000` plays so many, and
`CUECARD_SEED` is the first of their seeds.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cuecard import Call, Engine, Entity, InputError, Memory, Step, ToolResult, Turn
from cuecard.adapters.bodies import reminder
from cuecard.types import Diagnostic
from property.seeded_agents import CORE, NAMES, TOLD, Setting, engine_of, seeds
from property.seeded_judge import Atoms, Json, atoms, deferred, everything, faults, said, shown
from property.seeded_wires import Event, Wire, wires

_WORD = re.compile(r"\b(?:t\d|p\d)\b")
_BASELINES = {
    "the configuration changed": {"edited"},
    "now: another configuration": {"edited"},
    "compacted": {"compacted"},
    "the delivery changed": {"another model", "edited"},
}
"""Of each reason for a baseline, the moves of which one must have been made."""

WIRES = wires((*NAMES, *CORE))


@dataclass
class Seat:
    """What one wire has sent: its last body, its atoms, and how many events that body held."""

    wire: Wire
    body: Json | None = None
    atoms: Atoms = field(default_factory=list)
    events: int = 0


class Host:
    """A host whose life is drawn by a seed."""

    def __init__(self, seed: int) -> None:
        draw = self.draw = random.Random(seed)  # noqa: S311 - a conversation, not a secret
        self.setting = Setting(
            draw.choice(("append", "append", "append", "frozen", "auto", "rewrite")),
            draw.choice(("next-call", "next-call", "next-call", "now")),
            draw.randrange(2),
            draw.random() < 0.4,
            draw.random() < 0.3,
            draw.choice((None, None, 120, 300)),
            draw.choice((None, None, None, 450, 700)),
        )
        self.edition, self.versions = 0, (1,) * len(TOLD)
        self.engine = self.newest()
        self.chat = self.engine.conversation()
        self.events: list[Event] = []
        self.history: list[ToolResult] = []
        self.untold: list[ToolResult] = []
        self.seats = [Seat(wire) for wire in draw.sample(WIRES, 4)]
        self.now = datetime(2026, 11, 20, 20, tzinfo=UTC)
        self.ids = 0
        self.seen: list[Event] = []
        self.again: list[ToolResult] = []
        self.late: list[ToolResult] = []
        self.belated = False
        self.brought: set[str] = set()
        self.found: dict[str, None] = {}
        self.answered: set[str] = set()
        self.gone: set[str] = set()
        self.kept: int | None = None
        self.moved = True
        self.named: set[str] = set()
        self.moves: set[str] = set()
        self.step: Step | None = None
        self.model = ""
        # More than one of these leaves nothing in the messages that tells which of them a turn began with.
        self.habit = draw.choice(("stacks", "stops", "stops", "forgets"))
        self.trace: list[str] = [f"{self.setting} {self.habit}"]

    def newest(self) -> Engine:
        return engine_of(self.setting, self.edition, self.versions)

    def live(self) -> None:
        for _ in range(self.draw.randint(2, 5)):
            self.turn()

    # What happens between two messages of the user.

    def turn(self) -> None:
        draw = self.draw
        self.moves = set()
        if self.step and draw.random() < 0.3:
            self.edit()
        if self.step and draw.random() < 0.2:
            self.shorten(report=draw.random() < 0.6)
        self.engine = self.newest()
        self.chat = self.engine.conversation(self.chat.state)
        if draw.random() < 0.3:
            self.chat = self.engine.load(self.engine.dump(self.chat))
        self.now += timedelta(hours=draw.choice((0, 0, 1, 5)))
        self.gone = draw.choice((set[str](), set[str](), {"t0"}, {"t1", "t2"}, {"t3", "p0"}))
        for _ in range(2 if self.habit == "stacks" and draw.random() < 0.5 else 1):
            unsent = bool(self.events) and self.events[-1].kind == "results" and self.events[-1] not in self.seen
            beside = unsent and self.habit != "stacks"
            self.events.append(Event("user", self.words(), beside=beside))
        there = tuple(name for name in self.engine.tools if name not in self.gone)
        ahead = tuple(draw.sample(NAMES, 2)) if self.setting.ahead and draw.random() < 0.5 else ()
        named = tuple(draw.sample(NAMES, 1)) if draw.random() < 0.15 else ()
        pages = [Entity("page", f"page-{n}", f"Page {n}") for n in range(3) if draw.random() < 0.3]
        model = draw.choice(("", "", "claude-opus-5", "claude-sonnet-5", "gpt-5", "qwen3-32b", "nobody-knows"))
        turn = Turn(now=self.now, tools=there, memory=Memory(tuple(pages)), ahead=ahead, discovered=named, model=model)
        self.trace.append(
            f"user {self.events[-1].text[:20]!r} gone={self.gone} {ahead=} {named=} {model=} kept={self.kept}"
        )
        self.moves |= {"another model"} if model != self.model else set()
        self.model = model
        self.at_start = self.chat.state, list(self.history), self.untold, self.kept
        self.prepared = turn
        self.call(turn)
        self.kept = None
        self.brought |= {*named, *ahead}
        self.ask(first=True)
        for _ in range(draw.randint(0, 3)):
            if draw.random() < 0.1 and self.setting.policy == "now":
                self.edit()
                self.begin_again()
            self.act()
            self.ask(first=False)
        self.end()

    def words(self) -> str:
        draw = self.draw
        answered = bool(self.events) and self.events[-1].kind == "answer" and self.habit != "stacks"
        if answered and self.step and self.step.appended and draw.random() < 0.3:
            text = draw.choice(self.step.appended).text
            return text if draw.random() < 0.5 else reminder(text)
        return draw.choice(("yes", "go on", f"please {draw.randrange(100)}"))

    def edit(self) -> None:
        draw = self.draw
        self.edition = draw.randrange(2)
        self.versions = tuple(draw.choice((version, version, version, 1, 2, 0)) for version in self.versions)
        self.moves.add("edited")
        self.trace.append(f"edit {self.edition} {self.versions}")

    def shorten(self, *, report: bool) -> None:
        """The host drops the beginning of what it sends; it says so, or does not."""
        asked = [place for place, event in enumerate(self.events) if event.kind == "user"]
        start = self.draw.choice(asked[1:] or [0])
        if not start or (not report and (self.habit == "stacks" or self.draw.random() < 0.5)):
            return
        self.trace.append(f"drops {start} of {len(self.events)}, {report=}")
        self.events = self.events[start:]
        self.moved = True
        if report:
            self.moves.add("compacted")
            self.kept = sum(event.kind == "user" for event in self.events)
            self.chat.compacted(self.kept)

    def begin_again(self) -> None:
        """Under `reload: now` the host prepares the running call once more, from the new files."""
        if self.newest() is self.engine:
            return
        self.trace.append("begins again")
        self.engine = self.newest()
        state, history, self.untold, self.kept = self.at_start
        self.chat = self.engine.conversation(state)
        if self.kept is not None:
            self.chat.compacted(self.kept)
        later, self.history = self.history[len(history) + len(self.untold) :], list(history)
        told = Diagnostic("configuration_changed", "now: another configuration within a run")
        self.call(replace(self.prepared, diagnostics=(told,)))
        self.kept = None
        self.again = later
        self.moved = True

    def call(self, turn: Turn) -> Call:
        previous, remembered = self.chat.call, self.chat.memory
        call = self.chat.user(turn, self.untold)
        self.history += self.untold
        self.untold = []
        again = self.engine.prepare_call(
            turn if turn.memory.entities else replace(turn, memory=remembered),
            self.history,
            previous=previous and Call.from_json(json.loads(json.dumps(previous.to_json()))),
            compacted=self.kept is not None,
            kept=self.kept or 0,
        )
        assert call == again
        return call

    # What the model does, and how its run ends.

    def act(self) -> None:
        draw = self.draw
        results = [self.result() for _ in range(draw.choice((1, 1, 2, 3, 11)))]
        self.exchange(results, text=draw.choice(("", "Let me see.")))

    def exchange(self, results: list[ToolResult], text: str = "", *, told: bool = True, late: float = 0.1) -> None:
        calls = tuple((str(r.call_id), r.tool) for r in results)
        self.named |= {name for r in results for name in _WORD.findall(f"{r.tool} {json.dumps(r.result)}")}
        self.events.append(Event("answer", text, calls))
        shown = self.draw.sample(results, len(results)) if self.draw.random() < 0.2 else results
        self.events.append(
            Event("results", results=tuple((str(r.call_id), r.tool, r.result, r.is_error) for r in shown))
        )
        self.trace.append("calls " + ", ".join(f"{r.tool}:{r.result}{'!' if r.is_error else ''}"[:60] for r in results))
        if told and self.draw.random() < late:  # they are in the next request, and the engine hears of them after it
            self.late += results
        elif told:
            self.untold += results

    def result(self) -> ToolResult:
        draw, call = self.draw, f"c{self.ids}"
        self.ids += 1
        if draw.random() < 0.5:
            names = draw.sample([*NAMES, "unknown"], draw.randint(0, 4))
            how = draw.choice(("names", "names", "mcp", "text", "error"))
            if how == "error":
                return ToolResult("find", {"tools": names}, call, is_error=True)
            value: Any = {"tools": names}
            if how == "mcp":
                value = [{"type": "text", "text": json.dumps(value)}]
            elif how == "text":
                value = json.dumps(value)
            return ToolResult("find", value, call)
        tool = draw.choice((*self.step.active_tools, *NAMES) if self.step else NAMES)
        tool = tool if tool not in CORE else "t0"
        kind = draw.choice(("ok", "ok", "empty", "mcp", "error", "asks"))
        values: Json = {"empty": "", "mcp": [{"type": "text", "text": "done"}], "asks": {"requiresConfirmation": True}}
        return ToolResult(tool, values.get(kind, {"ok": 1}), call, is_error=kind == "error")

    def end(self) -> None:
        habits = {"stops": ("cut off", "silent", "nothing"), "forgets": ("unheard", "nothing")}
        how = self.draw.choice(("answer", "answer", "tool", *habits.get(self.habit, ())))
        late = 0 if self.habit == "stacks" else 0.1
        self.trace.append(f"ends: {how}")
        if how == "answer":
            self.events.append(Event("answer", "Done."))
        elif how == "nothing":  # an answer without a word, which providers refuse to be told again
            self.events.append(Event("answer"))
        elif how == "tool":
            self.ids += 1
            more = [self.result() for _ in range(self.draw.choice((0, 0, 1)))]
            self.exchange([*more, ToolResult("done", "ok", f"c{self.ids}")], late=late)
            self.ids += 1
        elif how == "cut off":  # results came, and no request held them
            self.exchange([self.result()], late=late)
        elif how == "unheard":  # the same, and the engine never hears of them
            self.exchange([replace(self.result(), result="lost", tool="t0")], told=False)

    # A request, and what must hold of it.

    def ask(self, *, first: bool) -> None:
        new = [*self.again, *self.untold]
        self.history += new
        self.again = []
        if self.draw.random() < 0.1:
            self.mistakes()
        if self.draw.random() < 0.2:
            new = list(self.history)  # hosts may pass everything again
        if self.draw.random() < 0.2:
            self.chat = self.engine.load(self.engine.dump(self.chat))
        step = self.chat.step(new)
        belated, self.belated, self.untold, self.late = self.belated, bool(self.late), self.late, []
        call = self.chat.call
        assert call is not None
        again = self.engine.prepare_step(call, self.history)
        assert again == step
        assert again.manifest == step.manifest
        self.note()
        self.told = self.engine_versions()
        reasons = [cut.reason for cut in step.manifest.cuts if cut.what == "baseline"]
        self.true(reasons)
        recorded = first and bool(reasons)
        restart = self.moved or recorded or step.manifest.delivery.name == "rewrite"
        for seat in self.seats:
            refers = belated and seat.wire.defers  # the reference stands in a result that was sent without it
            self.judge(seat, step, restart=restart or refers)
        self.sums(step)
        self.active(step)
        self.step, self.moved = step, False
        self.seen = list(self.events)

    def mistakes(self) -> None:
        """What a host may do wrong is refused, each with its code, and the conversation stays as it was."""
        before, call = self.chat.state, self.chat.call
        assert call is not None
        other = replace(call, configuration=replace(call.configuration, agent="another"))
        stale = replace(call, configuration=replace(call.configuration, sha256="of-before"))
        wrong: list[tuple[str, Callable[[], object]]] = [
            ("no-call", self.engine.conversation().step),
            ("foreign-call", lambda: self.engine.prepare_step(other, self.history)),
            ("stale-call", lambda: self.engine.prepare_step(stale, self.history)),
        ]
        for code, asked in wrong:
            with pytest.raises(InputError) as refused:
                asked()
            assert [problem.code for problem in refused.value.problems] == [code]
        assert self.chat.state == before

    def true(self, reasons: list[str]) -> None:
        """Each reason for a baseline is a move that this message has come with."""
        for reason in reasons:
            moves = next((moves for told, moves in _BASELINES.items() if told in reason), set())
            assert self.moves & moves, f"{reason!r} after {self.moves}"

    def note(self) -> None:
        """What is found by now, read from the plain history."""
        for result in self.history:
            if result.is_error:
                continue
            if result.tool == "find":
                value = result.result
                text = value[0]["text"] if isinstance(value, list) else value
                names = (json.loads(text) if isinstance(text, str) else text)["tools"]
                self.found |= dict.fromkeys(name for name in names if name in NAMES and name not in self.found)

    def judge(self, seat: Seat, step: Step, *, restart: bool) -> None:
        wire = seat.wire
        body = wire.ask(step, wire.write(self.events))
        assert not (found := faults(body)), (wire.name, found)
        assert wire.ask(step, body[wire.key]) == body, f"{wire.name}: not the same again"
        now = atoms(body)
        if not restart:
            assert seat.body is not None
            before = seat.atoms
            if (
                self.events[seat.events].kind == "user"
            ):  # no answer came: Claude takes no system message before a user's
                before = before[: next((at for at, (place, _) in enumerate(before) if place == self.tail(seat)), None)]
            assert now[: len(before)] == before, f"{wire.name}: {_difference(before, now)}"
            assert deferred(body) == deferred(seat.body), f"{wire.name}: other tools are deferred"
            kept = [*seat.body[wire.key], *wire.write(self.events[seat.events :])]
            assert wire.ask(step, kept) == body, f"{wire.name}: another body for a host that keeps what it sent"
        objects = everything(body)
        text, tools = said(objects), shown(objects) | {"find"}
        self.hides(now, step, wire)
        for event in self.events:
            assert event.kind != "user" or event.text in text, f"{wire.name}: lost {event.text!r}"
        for block in step.appended:
            assert block.text in text
        for name in step.active_tools:
            if name not in step.brought:
                assert name in tools, f"{wire.name}: {name} is active, and not defined"
            version = self.told.get(name, 0)
            if version:
                assert f"B-{name}-v{version}" in text, f"{wire.name}: {name} has no instructions"
        if step.manifest.delivery.name != "frozen":
            for name in {*TOLD} - self.found.keys() - self.brought:
                assert f"B-{name}-v" not in text, f"{wire.name}: {name} was never found"
        seat.body, seat.atoms, seat.events = body, now, len(self.events)

    def hides(self, now: Atoms, step: Step, wire: Wire) -> None:
        """Nothing but definitions names a tool that nobody has found or named."""
        known = {*self.named, *self.brought, *self.found, *step.active_tools}
        pieces = everything([value for kind, value in now if kind != "tool"])
        leaks = [each for each in pieces if not _defines(each) and {*_WORD.findall(said([each]))} - known]
        assert not leaks or step.manifest.delivery.name == "frozen", f"{wire.name}: names what is hidden: {leaks}"[:800]

    def tail(self, seat: Seat) -> str:
        """What the judge calls a system message at the end of the request before."""
        return f"{len((seat.body or {}).get('messages', ())) - 1} system"

    def engine_versions(self) -> dict[str, int]:
        protocols = self.engine.agent.protocols
        return {
            name: next((v for v in (1, 2) if f"-v{v}" in protocols[name].text), 0) for name in TOLD if name in protocols
        }

    def sums(self, step: Step) -> None:
        tokens = step.manifest.tokens
        assert self.engine.count(step.system) == tokens.system == sum(segment.tokens for segment in step.segments)
        assert tokens.appended == sum(self.engine.count(block.text) for block in step.appended)

    def active(self, step: Step) -> None:
        """What was found is active, or said to be not."""
        there = {name for name in self.engine.tools if name not in self.gone}
        frozen = step.manifest.delivery.name == "frozen"
        wanted = there if frozen else {*CORE, *self.found, *step.brought} & there
        assert {*step.active_tools} <= wanted | self.brought, {*step.active_tools} - wanted
        cuts = {cut.what: cut.reason for cut in step.manifest.cuts}
        if not step.offers_search:
            wanted = wanted - {"find"}
        for name in wanted - {*step.active_tools}:
            assert (self.setting.budgeted and "not active" in cuts.get(name, "")) or "no room" in cuts.get(name, ""), (
                name,
                cuts,
            )
            assert name in str(step.refusal(name))
        for name in {*self.found} - there:
            assert frozen or name in cuts, f"{name} is gone, and no cut says so"


def _defines(value: Json) -> bool:
    """Whether an object defines a tool, or refers to a definition."""
    return value.get("type") == "tool_reference" or bool({"parameters", "input_schema", "inputSchema"} & value.keys())


def _difference(before: list[Any], now: list[Any]) -> str:
    at = next(
        (n for n, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), min(len(before), len(now))
    )
    return f"at {at}:\n  was {before[at : at + 2]}\n  is  {now[at : at + 2]}"


# Those which reach every branch of the engine that the first twenty reach.
@pytest.mark.parametrize("seed", seeds((0, 1, 2, 3, 7, 8, 9, 10, 11, 16, 19)))
def test_a_host_that_a_seed_plays_gets_what_was_promised(seed: int) -> None:
    host = Host(seed)
    try:
        host.live()
    except Exception as error:
        error.add_note("\n".join(host.trace))
        raise


@pytest.mark.parametrize("brings", [False, True], ids=["nothing", "instructions"])
@pytest.mark.parametrize("seed", seeds(range(5)))
def test_what_was_sent_stays_where_a_model_repeats_ids_or_the_manifest_names_the_calls_that_bring_something(
    seed: int,
    brings: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    draw = random.Random(seed)  # noqa: S311 - a conversation, not a secret
    use, late = draw.randrange(2), draw.random() < 0.5
    setting = Setting("append", "next-call", use, late, ahead=False, protocols=None, total=None)
    chat, now = engine_of(setting, 0, (1,) * len(TOLD)).conversation(), datetime(2026, 11, 20, tzinfo=UTC)
    events, news, before = list[Event](), list[ToolResult](), {wire.name: list[Any]() for wire in WIRES}
    for turn in range(4):
        now += timedelta(hours=draw.choice((0, 24)))
        events.append(Event("user", f"WORDS-{turn}"))
        chat.user(Turn(now=now), news)
        news = []
        for request in range(draw.randint(1, 4)):
            step = chat.step(news)
            named = brings and any(told.code == "repeated_call_id" for told in step.manifest.diagnostics)
            for wire in WIRES:
                sent, held = atoms(wire.ask(step, wire.write(events))), before[wire.name]
                assert named or sent[: len(held)] == held, (wire.name, turn, request)
                before[wire.name] = sent
            finds = draw.random() < 0.4
            tool = "find" if finds else draw.choice(("done", *sorted({*step.active_tools} & {*TOLD})))
            call = "a" if tool == "done" else f"c{len(events)}"
            call = f"c{draw.randint(1, len(events))}" if brings and draw.random() < 0.3 else call
            result: Json = {"tools": [draw.choice(TOLD)]} if finds else {"ok": len(events)}
            news = [ToolResult(tool, result, call)]
            events.append(Event("answer", "", ((call, tool),)))
            events.append(Event("results", results=((call, tool, result, False),)))
