"""Which state serves, where the folder of states has it or has lost it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import Call, Engine, Pins, Problem, SpecError, Turn, watch
from cuecard.agent import build_agent
from cuecard.config.documents.sources import AgentSources
from cuecard.files.folder import read_agent
from cuecard.types import Diagnostic, States
from unit.reload.demo import QUICK, Folder

ROLES = ("first", "second", "third", "fourth")


class Process:
    """What another process is: an engine of its own, and the folder of states."""

    def __init__(self, folder: Folder, states: States) -> None:
        self.current, self.states, self.home = Engine.open(folder.root), states, folder.root
        self.made: list[str] = []
        self.failure: BaseException | None = None
        self.gates: dict[str, threading.Event] = {}
        self.began = threading.Event()

    def remake(self, sources: AgentSources, /) -> Engine:
        digest = sources.sha256()
        self.made.append(digest)
        self.began.set()
        if digest in self.gates:
            assert self.gates[digest].wait(20)
        if self.failure:
            raise self.failure
        engine = self.current
        return replace(engine, agent=build_agent(sources))


@pytest.fixture
def states(tmp_path: Path) -> States:
    return States(tmp_path / "states")


@pytest.fixture
def calls(folder: Folder, states: States) -> list[Call]:
    """A first call by each of four states, of which the files have the last."""
    made = []
    for role in ROLES:
        folder.write("agent.xml", folder.template(role))
        states.save(read_agent(folder.root))
        made.append(Engine.open(folder.root).prepare_call())
    return made


@pytest.fixture
def process(folder: Folder, states: States, calls: list[Call]) -> Process:
    assert calls
    return Process(folder, states)


def test_a_conversation_of_another_process_continues_with_its_state(process: Process, calls: list[Call]) -> None:
    pins = Pins(process)
    served = pins.serve(previous=calls[0])

    assert (served.reason, served.changed) == ("the state that this conversation started with", "")
    assert served.engine.prepare_call().prompt.segments == calls[0].prompt.segments
    assert pins.serve(previous=calls[0], call=calls[1]).engine.agent.sha256 == calls[1].configuration.sha256


def test_what_is_in_memory_is_not_made_again(process: Process, calls: list[Call]) -> None:
    pins = Pins(process, keep=3)
    for call in (*calls[:2], *calls[:2], calls[0], calls[3]):
        assert pins.serve(previous=call).engine.agent.sha256 == call.configuration.sha256

    assert process.made == [call.configuration.sha256 for call in calls[:2]]

    for call in (calls[2], calls[0], calls[1]):
        assert pins.serve(previous=call).engine.agent.sha256 == call.configuration.sha256

    assert process.made[2:] == [calls[2].configuration.sha256, calls[1].configuration.sha256]


def test_a_state_that_many_ask_for_is_made_once(process: Process, calls: list[Call]) -> None:
    pins, gate = Pins(process), threading.Event()
    process.gates[calls[0].configuration.sha256] = gate
    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(pins.serve, previous=calls[0]) for _ in range(16)]
        assert process.began.wait(20)
        gate.set()
        engines = {id(each.result().engine) for each in asked}

    assert (len(engines), len(process.made)) == (1, 1)


def test_making_a_state_holds_up_no_other_conversation(process: Process, calls: list[Call]) -> None:
    pins, gate = Pins(process), threading.Event()
    process.gates[calls[0].configuration.sha256] = gate
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(pins.serve, previous=calls[0])
        assert process.began.wait(20)
        others = [pins.serve(), pins.serve(previous=calls[3]), pins.serve(previous=calls[1])]
        waited = slow.done()
        gate.set()

    assert not waited
    assert [each.engine.agent.sha256 for each in others] == [calls[n].configuration.sha256 for n in (3, 3, 1)]
    assert slow.result().engine.agent.sha256 == calls[0].configuration.sha256


def test_making_a_state_holds_up_no_event_loop(
    process: Process, calls: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    pins, gate = Pins(process), threading.Event()
    process.gates[calls[0].configuration.sha256] = gate

    async def host() -> list[str]:
        slow = asyncio.ensure_future(pins.aserve(previous=calls[0]))
        assert await asyncio.to_thread(process.began.wait, 20)
        new = await pins.aserve()
        gate.set()
        return [(await slow).engine.agent.sha256, new.engine.agent.sha256]

    assert asyncio.run(host()) == [calls[n].configuration.sha256 for n in (0, 3)]

    monkeypatch.setattr(asyncio, "to_thread", lambda *_, **_more: pytest.fail("what is in memory needs no thread"))
    again = asyncio.run(pins.aserve(previous=calls[3], call=calls[0]))
    assert again.engine.agent.sha256 == calls[0].configuration.sha256


def test_a_state_that_is_nowhere_is_replaced_and_the_reason_says_so(process: Process, calls: list[Call]) -> None:
    file = process.states.folder / f"{calls[0].configuration.sha256}.json"
    file.unlink()
    served = Pins(process).serve(previous=calls[0])
    call = served.prepare_call(previous=calls[0])

    assert served.engine is process.current
    assert (
        served.reason == "the newest state: the one that this conversation started with is not in the folder of states"
    )
    assert [each.code for each in call.record.diagnostics] == ["configuration_changed"]
    assert served.reason in call.record.diagnostics[0].message
    assert "baseline" in [cut.what for cut in call.record.cuts]


def test_a_state_that_another_process_writes_later_is_found_then(process: Process, calls: list[Call]) -> None:
    file = process.states.folder / f"{calls[0].configuration.sha256}.json"
    text, pins = file.read_bytes(), Pins(process)
    file.unlink()

    assert pins.serve(previous=calls[0]).engine is process.current

    file.write_bytes(text)

    assert pins.serve(previous=calls[0]).engine.agent.sha256 == calls[0].configuration.sha256


def test_a_state_that_is_refused_now_is_replaced_and_not_tried_again(process: Process, calls: list[Call]) -> None:
    process.failure = SpecError(Problem("unknown-key", "unknown key `old`"))
    pins = Pins(process)
    reasons = {pins.serve(previous=calls[0]).reason for _ in range(3)}

    reason = "is rejected by this version of the engine: unknown key `old`"

    assert reasons == {f"the newest state: the one that this conversation started with {reason}"}
    assert len(process.made) == 1


def test_a_failure_that_may_pass_is_tried_again(
    process: Process, calls: list[Call], caplog: pytest.LogCaptureFixture
) -> None:
    process.failure = OSError("the tool server\nis away")
    pins = Pins(process)
    reason = "could not be restored: OSError: the tool server‹U+000A›is away"
    told = f"the newest state: the one that this conversation started with {reason}"

    assert pins.serve(previous=calls[0]).reason == told
    (line,) = caplog.records
    assert line.exc_info
    assert (line.getMessage(), line.exc_info[1]) == ("an earlier state could not be restored", process.failure)

    process.failure = OSError("x" * 1000)

    assert pins.serve(previous=calls[0]).reason.endswith(f"restored: OSError: {'x' * 191}")

    process.failure = None

    assert pins.serve(previous=calls[0]).engine.agent.sha256 == calls[0].configuration.sha256


def test_callers_that_wait_for_a_state_are_released_when_making_it_is_interrupted(
    process: Process, calls: list[Call]
) -> None:
    pins = Pins(process)
    process.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        pins.serve(previous=calls[0])
    process.failure = None

    assert pins.serve(previous=calls[0]).engine.agent.sha256 == calls[0].configuration.sha256


def test_the_state_of_another_agent_never_serves(folder: Folder, process: Process, calls: list[Call]) -> None:
    folder.write("agent.yaml", (folder.root / "agent.yaml").read_text().replace("agent: demo", "agent: other"))
    process.states.save(read_agent(folder.root))
    foreign = Engine.open(folder.root).prepare_call()
    forged = replace(foreign, configuration=replace(foreign.configuration, agent="demo"))
    for call in (foreign, forged):
        served = Pins(process).serve(previous=call, call=call)

        assert served.engine is process.current
        assert served.reason.endswith("the one that prepared this call belongs to another agent")


@pytest.mark.parametrize("digest", ["../" * 8 + "etc/passwd", "A" * 64, "", "\0", "0" * 1_000_000])
def test_a_forged_fingerprint_gets_the_newest_state(process: Process, calls: list[Call], digest: str) -> None:
    forged = replace(calls[0], configuration=replace(calls[0].configuration, sha256=digest))
    served = Pins(process).serve(previous=forged)

    assert served.engine is process.current
    assert served.reason.endswith("has an invalid fingerprint")
    assert len(served.changed) < 500


def test_a_damaged_state_is_replaced_and_the_reason_says_so(process: Process, calls: list[Call]) -> None:
    (process.states.folder / f"{calls[0].configuration.sha256}.json").write_text("{", encoding="utf-8")
    served = Pins(process).serve(previous=calls[0])

    assert served.engine is process.current
    reason = "has a file in the folder of states that does not contain it"
    assert served.reason == f"the newest state: the one that this conversation started with {reason}"


def test_a_state_in_memory_is_not_removed_from_the_folder(folder: Folder, process: Process, calls: list[Call]) -> None:
    process.states = States(process.states.folder, most=2)
    pins = Pins(process)
    pins.serve(previous=calls[0])
    for role in ("fifth", "sixth", "seventh"):
        folder.write("agent.xml", folder.template(role))
        process.states.save(read_agent(folder.root))

    assert process.states.has(calls[0].configuration.sha256)
    assert not process.states.has(calls[1].configuration.sha256)


def test_engines_of_earlier_states_are_made_ready_too(folder: Folder, states: States, calls: list[Call]) -> None:
    ready: list[str] = []

    def note(engine: Engine) -> Engine:
        ready.append(engine.agent.sha256)
        return replace(engine, salt="pepper")

    with watch(folder.root, states=states, ready=note, pace=QUICK) as watcher:
        served = Pins(watcher).serve(previous=calls[0])

    assert ready == [calls[3].configuration.sha256, calls[0].configuration.sha256]
    assert served.engine.salt == "pepper"


def test_fingerprints_of_a_change_are_salted_as_all_others(process: Process, calls: list[Call]) -> None:
    process.current = replace(process.current, salt="pepper")
    served = Pins(process, "now").serve(previous=calls[0], call=calls[0])
    call = served.prepare_call()
    manifest = served.engine.prepare_step(call).manifest

    assert manifest.configuration.sha256[:12] in manifest.diagnostics[0].message
    assert not any(each.configuration.sha256[:12] in manifest.diagnostics[0].message for each in calls)


def test_a_turn_keeps_what_it_says_itself(process: Process, calls: list[Call]) -> None:
    served = Pins(process, "now").serve(previous=calls[0])
    said = Turn({"a": 1}, profile="x", diagnostics=(Diagnostic("own", "the host's"),))
    changed = Diagnostic("configuration_changed", served.changed)

    assert served.turn(said) == replace(said, reload="now", diagnostics=(*said.diagnostics, changed))
    assert Pins(process).serve().turn(said) == replace(said, reload="next-conversation")


def test_the_running_call_says_whether_its_prompt_is_rebuilt(process: Process, calls: list[Call]) -> None:
    pins, rewriting = Pins(process), replace(process.current, delivery="rewrite").prepare_call()
    served = [
        pins.serve(previous=rewriting),
        pins.serve(call=rewriting),
        pins.serve(previous=calls[3], call=rewriting),
        pins.serve(previous=rewriting, call=calls[3]),
        pins.serve(),
    ]
    process.current = replace(process.current, delivery="rewrite")

    assert [each.policy for each in served] == [*["next-call"] * 3, *["next-conversation"] * 2]
    assert (pins.serve().policy, pins.serve(call=calls[3]).policy) == ("next-call", "next-conversation")
