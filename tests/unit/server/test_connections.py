"""Which connections are counted, which makes room, and which is read: against a list that is searched each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.server import connections as module
from cuecard.server.connections import Connections, Turns, address_of


@dataclass(eq=False)
class Client:
    """A connection: what happens as it is read, and whether it had to leave."""

    address: str = "a"
    read: Callable[[Client], None] = lambda _: None
    left: bool = False

    def go_on(self) -> None:
        self.read(self)

    def leave(self) -> None:
        self.left = True


MOST, MOST_EACH = 5, 3
DEEDS = st.tuples(st.sampled_from(("open", "open", "ask", "rest", "end", "lose")), st.integers(0, 9))


@given(st.lists(DEEDS, max_size=40))
def test_who_is_silent_for_longest_makes_room_then_who_rests(deeds: list[tuple[str, int]]) -> None:
    counted, states, everyone = Connections(MOST, MOST_EACH), dict[Client, str](), list[Client]()
    for deed, number in deeds:
        if deed == "open":
            one = Client("abc"[number % 3])
            everyone.append(one)
            counted.add(one)
            states[one] = "silent"
            near = [each for each in states if each.address == one.address]
            crowd = near if len(near) > MOST_EACH else list(states) if len(states) > MOST else []
            leaving = [each for state in ("silent", "idle") for each in crowd if states[each] == state][:1]
            states = {each: state for each, state in states.items() if each not in leaving}
        elif everyone:
            one = everyone[number % len(everyone)]
            known = states.pop(one, "")
            if deed == "lose":
                counted.remove(one)
            elif deed == "ask" and known:
                counted.ask(one, "/v1/agents", 0.0)
                states[one] = "busy"
            elif deed != "ask":
                counted.rest(one, ended=deed == "end")
                states |= {one: "silent" if deed == "end" else "idle"} if known else {}
        told = [*states.values()]
        assert (counted.silent, counted.busy) == (told.count("silent"), told.count("busy"))
        assert not any(each.left for each in states)
    assert sum(each.left for each in everyone) <= sum(deed == "open" for deed, _ in deeds) - len(states)


def test_a_full_service_says_where_it_is_full(caplog: pytest.LogCaptureFixture) -> None:
    counted, clients = Connections(1000, 1), [Client(address) for address in "caab"]
    for client in clients[:3]:
        counted.add(client)
    assert [client.left for client in clients] == [False, True, False, False]
    counted.most = 2
    counted.add(clients[3])
    assert [client.left for client in clients] == [True, True, False, False]
    ends = "the one that has been silent for longest makes room for a new one"

    assert [
        (each.levelname, each.getMessage(), vars(each)["seldom"], vars(each)["facts"]) for each in caplog.records
    ] == [
        ("WARNING", "connections-full", where, {"message": f"there are {most} connections {where}: {ends}"})
        for most, where in ((1, "from one address"), (2, "in all"))
    ]


def test_an_end_is_noticed_by_who_asked_lately_or_watches_and_was_not_told() -> None:
    counted, one = Connections(MOST, MOST_EACH), Client()
    counted.add(one)
    counted.ask(one, "/v1/agents", 7.0)
    counted.ask(one, "/healthz", 9.0)

    assert [counted.quiet(now) for now in (7.5, 7.99, 8.0)] == [False, False, True]
    counted.ask(one, "/readyz", 9.0)
    assert not counted.quiet(9.0)
    counted.draining = True
    counted.ask(one, "/readyz", 9.0)
    assert counted.quiet(9.0)
    counted.draining = False
    counted.ask(one, "/readyz", 9.0)
    assert counted.quiet(9.0), "who was told once knows it"


@dataclass
class Clock:
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize(("takes", "each_time"), [(0.0, 16), (0.004, 2), (0.006, 1)])
def test_a_crowd_is_read_in_turn_and_other_work_goes_on(
    takes: float, each_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, turns, read = Clock(), Turns(), list[Client]()
    monkeypatch.setattr(module, "time", clock)

    def reads(one: Client) -> None:
        read.append(one)
        clock.now += takes

    async def crowd() -> None:
        few, many = [Client(read=read.append) for _ in range(16)], [Client(read=reads) for _ in range(40)]
        for each in few:
            turns.take(each)
        clock.now = 0.05
        for each in many:
            turns.take(each)
        assert read == few
        lost, *left = many
        turns.discard(lost)
        while left:
            assert len(turns) == len(left)
            read.clear()
            await asyncio.sleep(0)
            assert read == left[:each_time]
            left = left[each_time:]
        clock.now += 0.06
        turns.take(few[0])
        assert read[-1] == few[0], "it is calm again"

    asyncio.run(crowd())


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "20010db800010002"),
        ("fe80::1%eth0", "fe80000000000000"),
    ],
)
def test_an_address_counts_as_its_network(host: str, address: str) -> None:
    assert address_of((host, 80)) == address
    assert address_of(None) == ""
