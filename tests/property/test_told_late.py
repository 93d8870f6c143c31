"""A result that the engine hears of one request late, behind a message of the user that was sent with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cuecard import Conversation, ToolResult, Turn
from property.seeded_agents import CORE, NAMES, TOLD, Setting, engine_of
from property.seeded_judge import Atoms, atoms
from property.seeded_wires import Event, Wire, wires

SETTING = Setting("append", "next-call", 0, late=False, ahead=False, protocols=None, total=None)
WIRES = [wire for wire in wires((*NAMES, *CORE)) if not wire.defers]
"""Where definitions are held back, the reference to one stands in the result that was sent without it."""


class Host:
    """A host that sends a result first and tells it later; each day has a block of its own."""

    def __init__(self, wire: Wire, setting: Setting = SETTING) -> None:
        self.wire, self.events, self.sent = wire, list[Event](), list[Atoms]()
        self.chat: Conversation = engine_of(setting, 0, (1,) * len(TOLD)).conversation()
        self.day = datetime(2026, 11, 20, tzinfo=UTC)

    def user(self, words: str, told: list[ToolResult], *, beside: bool = False) -> None:
        self.day += timedelta(days=1)
        self.events.append(Event("user", words, beside=beside))
        self.chat.user(Turn(now=self.day), told)
        self.ask([])

    def calls(self, call: str, tool: str, finds: str = "") -> list[ToolResult]:
        value = {"tools": [finds]} if finds else {"ok": call}
        self.events.append(Event("answer", calls=((call, tool),)))
        self.events.append(Event("results", results=((call, tool, value, False),)))
        return [ToolResult(tool, value, call)]

    def says(self, words: str) -> None:
        self.events.append(Event("answer", words))

    def ask(self, told: list[ToolResult]) -> None:
        self.sent.append(atoms(self.wire.ask(self.chat.step(told), self.wire.write(self.events))))

    def goes_on(self, *, known: bool, beside: bool) -> list[ToolResult]:
        """Break off, and speak again: the result that is sent with the words and not told yet."""
        self.user("Hello.", [])
        if known:
            self.ask(self.calls("c0", "done"))
        late = self.calls("c1", "find", finds="t0")
        self.user("Go on.", [], beside=beside)
        return late

    def grows(self, since: int) -> bool:
        """Whether each request since that one begins with the one before it, and all is told once."""
        pairs = zip(self.sent[since:], self.sent[since + 1 :], strict=False)
        last = str(self.sent[-1])
        once = last.count("B-t0-v1") == 1 and all(last.count(f"2026-11-{day}") == 1 for day in (22, 23))
        return once and all(after[: len(before)] == before for before, after in pairs)


@pytest.mark.parametrize("beside", [False, True], ids=["apart", "beside"])
@pytest.mark.parametrize("known", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_instructions_stand_behind_the_message_that_was_sent_without_them(
    wire: Wire,
    known: bool,  # noqa: FBT001 - a parameter of the test, as the next
    beside: bool,  # noqa: FBT001
) -> None:
    host = Host(wire)
    late = host.goes_on(known=known, beside=beside)
    host.ask([*late, *host.calls("c2", "t0")])
    host.says("Done.")
    host.user("Thanks.", [])

    assert host.grows(1 + known)


@pytest.mark.parametrize("beside", [False, True], ids=["apart", "beside"])
@pytest.mark.parametrize("known", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_a_message_keeps_its_block_where_the_result_in_front_of_it_is_told_with_the_next_message(
    wire: Wire,
    known: bool,  # noqa: FBT001 - a parameter of the test, as the next
    beside: bool,  # noqa: FBT001
) -> None:
    host = Host(wire)
    late = host.goes_on(known=known, beside=beside)
    host.says("Done.")
    host.user("Thanks.", late)
    host.ask(host.calls("c2", "t0"))

    assert host.grows(1 + known)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
def test_after_a_compaction_a_result_that_was_told_in_time_is_not_taken_for_a_late_one(wire: Wire) -> None:
    host = Host(wire, replace(SETTING, protocols=120))
    host.user("Hello.", [])
    host.ask(host.calls("c1", "find", finds="t5"))  # without room, so that its definition stays behind the result
    host.says("Done.")
    host.events.append(Event("user", "One more thing."))
    host.chat.compacted(2)
    host.user("Go on.", [])
    host.ask(host.calls("c2", "find", finds="t0"))
    host.says("Done.")
    host.events.append(Event("user", "And another."))
    host.user("Thanks.", [])

    assert host.grows(2)
