from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cuecard import Engine, Pins, Turn
from cuecard.types import ReloadPolicy
from unit.reload.demo import Folder, Reports

Start = Callable[..., Reports]


@pytest.fixture
def reports(start: Start) -> Reports:
    return start(delivery="append")


def swap(folder: Folder, reports: Reports, role: str) -> Engine:
    folder.write("agent.xml", folder.template(role))
    reports.until_prompt(role)
    return reports.watcher.current


@pytest.mark.parametrize(
    ("policy", "step", "next_call", "next_conversation"),
    [
        ("now", "new", "new", "new"),
        ("next-call", "old", "new", "new"),
        ("next-conversation", "old", "old", "new"),
    ],
)
def test_a_change_reaches_a_conversation_when_the_policy_says(
    folder: Folder, reports: Reports, policy: ReloadPolicy, step: str, next_call: str, next_conversation: str
) -> None:
    pins = Pins(reports.watcher, policy)
    old = pins.serve().engine
    running = old.prepare_call()
    names = {old.agent.sha256: "old", swap(folder, reports, "changed").agent.sha256: "new"}
    served = [
        pins.serve(previous=running, call=running),
        pins.serve(previous=running),
        pins.serve(),
    ]

    assert [names[each.engine.agent.sha256] for each in served] == [step, next_call, next_conversation]
    assert {each.policy for each in served} == {policy}
    before, after = (digest[:12] for digest in names)
    told = f"{policy}: configuration {after} instead of {before}"
    newest = "the newest state" if policy == "now" else "the newest state when this call started"
    assert [each.changed for each in served] == [
        f"{told} within a run, and earlier text is replaced: {newest}" if step == "new" else "",
        f"{told} with this call, and earlier text is replaced: {newest}" if next_call == "new" else "",
        "",
    ]
    assert served[0].reason == (newest if step == "new" else "the state that prepared this call")


def test_without_a_word_a_conversation_keeps_its_state(folder: Folder, reports: Reports) -> None:
    pins = Pins(reports.watcher)
    first = pins.serve().engine.prepare_call()
    swap(folder, reports, "changed")
    served = pins.serve(previous=first)

    assert served.engine.prepare_call().prompt.segments == first.prompt.segments
    assert (served.policy, served.reason) == ("next-conversation", "the state that this conversation started with")


def test_under_rewrite_a_change_waits_for_the_next_call_only(folder: Folder, start: Start) -> None:
    reports = start(delivery="rewrite")
    pins = Pins(reports.watcher)
    running = pins.serve().engine.prepare_call()
    new = swap(folder, reports, "changed")

    assert pins.serve(previous=running, call=running).engine is not new
    assert pins.serve(previous=running).engine is new
    assert pins.serve(previous=running).policy == "next-call"


def test_a_call_of_an_earlier_process_continues_with_the_newest_state(reports: Reports) -> None:
    call = reports.watcher.current.prepare_call()
    foreign = replace(call, configuration=replace(call.configuration, sha256="0" * 64))

    assert Pins(reports.watcher).serve(previous=foreign, call=foreign).engine is reports.watcher.current


def test_the_manifest_names_the_policy_that_was_in_force(reports: Reports) -> None:
    served = Pins(reports.watcher).serve()
    call = served.engine.prepare_call(served.turn(Turn()))

    assert served.policy == "next-conversation"
    assert served.engine.prepare_step(call).manifest.configuration.reload == "next-conversation"
