"""Reload policies over random edits of an agent's files and random conversations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Call, ConversationState, Engine, Step, ToolResult, Turn
from cuecard.config.documents.texts import AgentSources
from cuecard.reload.pins import Pins
from cuecard.reload.states import States
from property.editions import SEARCHES, TOOLS, Edition, Talk, editions, talks

SLOTS = ("instructions", "usage")
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass
class Played:
    """What a model got to see: the steps of each call, with the engine that served it."""

    calls: list[tuple[Engine, Call, list[Step]]] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        return [step for _, _, steps in self.calls for step in steps]


def play(conversation: list[Talk]) -> Played:
    """The conversation under `append`: every call by the newest state, and its steps by the state of the call."""
    played, history = Played(), list[ToolResult]()
    before: tuple[Engine, Call] | None = None
    engine: Engine | None = None
    for number, talk in enumerate(conversation):
        if engine is None or talk.edition != conversation[number - 1].edition:
            engine = talk.edition.engine
        tools = tuple(name for name in engine.tools if name != talk.gone)
        turn = Turn({"said": talk.said}, now=NOW, tools=tools)
        earlier, previous = before or (None, None)
        call = engine.prepare_call(turn, history, previous=previous, earlier=earlier)
        steps = [engine.prepare_step(call, history)]
        for names in talk.found:
            history.append(ToolResult(talk.edition.search, {"tools": list(names)}, f"call-{len(history)}"))
            steps.append(engine.prepare_step(call, history))
        played.calls.append((engine, call, steps))
        before = engine, Call.from_json(call.to_json())
    return played


def talk(conversation: list[Talk]) -> list[tuple[Call, list[Step]]]:
    """The same by handles, each made by the newest engine of what the one before has stored."""
    made: list[tuple[Call, list[Step]]] = []
    state: ConversationState | None = None
    before: Engine | None = None
    number = 0
    for each in conversation:
        engine = each.edition.engine
        chat = engine.conversation(state, earlier=before)
        tools = tuple(name for name in engine.tools if name != each.gone)
        call = chat.user(Turn({"said": each.said}, now=NOW, tools=tools))
        steps = [chat.step()]
        for names in each.found:
            steps.append(chat.step([ToolResult(each.edition.search, {"tools": list(names)}, f"call-{number}")]))
            number += 1
        made.append((call, steps))
        state, before = ConversationState.from_json(chat.to_json()), engine
    return made


@given(conversation=talks())
def test_handles_of_a_conversation_give_the_same_bytes_across_edits(conversation: list[Talk]) -> None:
    # A handle also remembers what a search tool of another name has found; the pure core sees the results of one.
    conversation = [replace(each, edition=replace(each.edition, search=SEARCHES[0])) for each in conversation]
    played, talked = play(conversation), talk(conversation)

    assert [(call, steps) for _, call, steps in played.calls] == talked


def whole(step: Step) -> str:
    return step.system + "".join(block.text for block in step.appended)


def block_of(tool: str, text: str) -> str:
    """What the text says last of a tool's instructions; empty where it says nothing, or withdraws them in the end."""
    found = list(re.finditer(rf"<{tool}>\n.*?</{tool}>\n", text, re.DOTALL))
    gone = list(re.finditer(rf"<withdrawn-instructions>\n(.*, )?{tool}(, .*)?\n</", text))
    if not found or (gone and gone[-1].start() > found[-1].start()):
        return ""
    return found[-1][0]


def is_void(tool: str, text: str, slot: str) -> bool:
    """Whether the last instructions stand in another section than this, or in one that was withdrawn since."""
    last = text.rindex(f"<{tool}>\n")
    where = max(SLOTS, key=lambda name: text.rfind(f"<{name}>\n", 0, last))
    return where != slot or f"<withdrawn-sections>\n{where}" in text[last:] or f", {where}" in text[last:]


def section_of(name: str, text: str) -> str:
    """What the text says last of a section; empty where it says nothing, or withdraws it in the end."""
    found = list(re.finditer(rf"<{name}>\n.*?</{name}>\n", text, re.DOTALL))
    gone = list(re.finditer(rf"<withdrawn-sections>\n(.*, )?{name}(, .*)?\n</", text))
    if not found or (gone and gone[-1].start() > found[-1].start()):
        return ""
    return found[-1][0]


def has_baseline(step: Step) -> bool:
    return any(cut.what == "baseline" for cut in step.manifest.cuts)


@given(conversation=talks())
def test_under_append_an_edit_never_changes_what_was_sent(conversation: list[Talk]) -> None:
    steps = play(conversation).steps

    assert not any(map(has_baseline, steps))
    assert {step.system for step in steps} == {steps[0].system}
    for before, after in pairwise(steps):
        assert after.appended[: len(before.appended)] == before.appended


@given(conversation=talks())
def test_under_append_the_last_announcement_of_each_tool_and_section_matches_the_files(
    conversation: list[Talk],
) -> None:
    for engine, call, steps in play(conversation).calls:
        text, protocols = whole(steps[-1]), engine.agent.protocols
        for tool in call.tools.available:
            if f"<{tool}>\n" in text:
                told = protocols[tool].text if tool in protocols else ""
                assert block_of(tool, text) == told, tool
        for name in ("role", "extra", "note"):
            now = call.prompt.shown.get(name, "")
            said = section_of(name, text)
            assert said == now, name


@given(conversation=talks())
def test_under_append_each_changed_instruction_is_announced_exactly_once(conversation: list[Talk]) -> None:
    seen = ""
    for talk, (engine, call, steps) in zip(conversation, play(conversation).calls, strict=True):
        protocols = engine.agent.protocols
        first = whole(steps[0])[len(seen) :]
        for tool in TOOLS if seen else ():
            if f"<{tool}>\n" not in seen or tool not in call.tools.available:
                continue
            changed = tool in protocols and block_of(tool, seen) != protocols[tool].text
            renamed = tool in protocols and is_void(tool, seen, talk.edition.slot)
            whole_slot = talk.edition.mixed and tool in call.tools.initial
            if changed or renamed:
                assert first.count(f"<{tool}>\n") == 1, tool
            elif not whole_slot:
                assert f"<{tool}>\n" not in first, tool
        for before, after in pairwise(steps):
            later = whole(after)[len(whole(before)) :]
            for tool in TOOLS:
                assert later.count(f"<{tool}>\n") == (tool in later and tool in protocols)
                assert (
                    f"<{tool}>\n" not in later
                    or f"<{tool}>\n" not in whole(before)
                    or not block_of(tool, whole(before))
                ), tool
        seen = whole(steps[-1])


@given(conversation=talks(), data=st.data())
def test_under_append_what_is_said_costs_what_the_manifest_says(conversation: list[Talk], data: st.DataObject) -> None:
    engine, _, steps = data.draw(st.sampled_from(play(conversation).calls))
    manifest = steps[-1].manifest

    assert manifest.total_tokens == sum(record.tokens for record in manifest.sections)
    assert manifest.tokens.system == engine.count(steps[-1].system)


@given(conversation=talks())
def test_announced_tools_that_exist_stay_active(conversation: list[Talk]) -> None:
    for _, call, steps in play(conversation).calls:
        for tool in call.tools.available:
            if f"<{tool}>\n" in whole(steps[-1]):
                assert tool in steps[-1].active_tools


class Files:
    """What a watcher is to `Pins`, with edits that take effect at once."""

    def __init__(self, first: Engine) -> None:
        self.current, self.states, self.home = first, States("/nowhere"), Path()

    def remake(self, sources: AgentSources, /) -> Engine:
        raise AssertionError(sources)


@given(conversation=talks("next-call"), within=editions("next-call"))
def test_under_next_call_an_edit_waits_for_the_run_and_then_rebuilds_everything(
    conversation: list[Talk], within: Edition
) -> None:
    files = Files(conversation[0].edition.engine)
    pins, edited = Pins(files), within.engine
    previous: Call | None = None
    for talk in conversation:
        files.current = talk.edition.engine
        call = pins.serve(previous=previous).prepare_call(Turn({"said": talk.said}, now=NOW), previous=previous)
        alone = files.current.prepare_call(Turn({"said": talk.said}, now=NOW))
        begun, files.current = files.current, edited
        served = pins.serve(previous=previous, call=call)
        changed = previous is not None and previous.configuration.sha256 != call.configuration.sha256

        assert served.engine.agent.sha256 == begun.agent.sha256
        assert not served.changed
        assert has_baseline(served.engine.prepare_step(call)) == changed
        if changed:
            assert call.prompt.segments == alone.prompt.segments
        previous = call


@given(conversation=talks("now"), within=editions("now"))
def test_under_now_an_edit_reaches_the_run_and_the_manifest_says_which_text_was_replaced(
    conversation: list[Talk], within: Edition
) -> None:
    files = Files(conversation[0].edition.engine)
    pins, edited = Pins(files), within.engine
    previous: Call | None = None
    for talk in conversation:
        files.current = talk.edition.engine
        turn = Turn({"said": talk.said}, now=NOW)
        call = pins.serve(previous=previous).prepare_call(turn, previous=previous)
        files.current = edited
        served = pins.serve(previous=previous, call=call)
        again = served.prepare_call(turn, previous=previous)
        told = [each.message for each in served.engine.prepare_step(again).manifest.diagnostics]
        before, after = call.configuration.sha256[:12], edited.agent.sha256[:12]

        assert served.engine is edited
        if before == after:
            assert again == call
        else:
            assert told[-1].startswith(f"now: configuration {after} instead of {before} within a run")
        previous = again
