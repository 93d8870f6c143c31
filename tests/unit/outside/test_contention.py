"""Threads that make prompts at the same time let each other go on; one alone never waits."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cuecard import Engine
from cuecard.outside import contention
from cuecard.outside.contention import Contention


@dataclass
class FakeTime:
    """A clock that stands still, but while somebody sleeps."""

    now: float = 100.0
    sleeps: int = 0
    asleep: Callable[[], object] = field(default=lambda: None)

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps += 1
        self.asleep()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(contention, "time", fake)
    return fake


@contextmanager
def another_thread(place: Contention) -> Iterator[None]:
    """Another thread is in it, in the middle of a prompt."""
    inside, end = threading.Event(), threading.Event()

    def work() -> None:
        with place:
            inside.set()
            end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    try:
        yield
    finally:
        end.set()
        thread.join()


def prompts(place: Contention, time: FakeTime, count: int, apart: float) -> None:
    for _ in range(count):
        with place:
            time.now += apart


def test_one_thread_alone_never_waits(time: FakeTime) -> None:
    prompts(Contention(), time, 100, apart=0.01)

    assert time.sleeps == 0


def test_with_another_thread_it_lets_go_after_each_share_of_the_time(time: FakeTime) -> None:
    place = Contention()
    with another_thread(place):
        prompts(place, time, 10, apart=0.01)  # longer than a share: after each
        assert time.sleeps == 10
        prompts(place, time, 100, apart=0.0001)  # 10 ms of short ones: after each half millisecond

    assert 26 <= time.sleeps <= 30


def test_it_goes_on_alone_once_the_other_has_left_even_by_an_error(time: FakeTime) -> None:
    place = Contention()

    def fails() -> None:
        with suppress(ZeroDivisionError), place:
            raise ZeroDivisionError

    with another_thread(place):
        thread = threading.Thread(target=fails)
        thread.start()
        thread.join()
    time.sleeps = 0
    prompts(place, time, 10, apart=0.01)

    assert time.sleeps == 0


def test_a_thread_that_sleeps_still_counts(time: FakeTime) -> None:
    """Or else seven sleep, and the eighth goes on as if it were alone."""
    place, seen = Contention(), list[int]()

    def meanwhile() -> None:
        time.asleep = lambda: None
        before = time.sleeps
        thread = threading.Thread(target=prompts, args=(place, time, 1, 0.01))
        thread.start()
        thread.join()
        seen.append(time.sleeps - before)

    with another_thread(place):
        time.asleep = meanwhile
        prompts(place, time, 1, apart=0.01)

    assert seen == [1]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the forked child ends at once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_does_not_wait_for_threads_that_it_does_not_have(time: FakeTime) -> None:
    place = Contention()
    with another_thread(place):
        child = os.fork()
        if child == 0:
            prompts(place, time, 10, apart=0.01)
            os._exit(time.sleeps)
        sleeps = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert sleeps == 0


def test_prompts_of_engines_and_conversations_of_any_agent_are_made_in_it(
    tmp_path: Path, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Contention()
    monkeypatch.setattr("cuecard.hooks.CONTENTION", place)
    for name in ("one", "other"):
        (tmp_path / f"{name}.xml").write_text(f"<{name}>Hello</{name}>", encoding="utf-8")
        (tmp_path / f"{name}.yaml").write_text(f"agent: {name}\ntemplate: {{file: {name}.xml}}\n", encoding="utf-8")
    one, other = (Engine.open(tmp_path / f"{name}.yaml") for name in ("one", "other"))
    with another_thread(place):
        call = one.prepare_call()
        time.now += 1
        one.prepare_step(call)
        time.now += 1
        conversation = other.conversation()
        conversation.user()
        time.now += 1
        conversation.step()

    assert time.sleeps == 4
