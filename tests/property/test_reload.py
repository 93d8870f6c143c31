"""Reload policies over random edits of an agent's files and random conversations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given

from cuecard import Call, ConversationState, Engine, Pins, Step, ToolResult, Turn
from cuecard.types import States
from property.editions import SEARCHES, Edition, Talk, editions, talks

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass
class Played:
    """What a model got to see: the steps of each call, with the engine that served it."""

    calls: list[tuple[Engine, Call, list[Step]]] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        return [step for _, _, steps in self.calls for step in steps]


def play(conversation: list[Talk]) -> Played:
    """The conversation: every call by the newest state, and its steps by the state of the call."""
    played, history = Played(), list[ToolResult]()
    previous: Call | None = None
    engine: Engine | None = None
    for number, talk in enumerate(conversation):
        if engine is None or talk.edition != conversation[number - 1].edition:
            engine = talk.edition.engine
        tools = tuple(name for name in engine.tools if name != talk.gone)
        turn = Turn({"said": talk.said}, now=NOW, tools=tools)
        call = engine.prepare_call(turn, history, previous=previous)
        steps = [engine.prepare_step(call, history)]
        for names in talk.found:
            history.append(ToolResult(talk.edition.search, {"tools": list(names)}, f"call-{len(history)}"))
            steps.append(engine.prepare_step(call, history))
        played.calls.append((engine, call, steps))
        previous = Call.from_json(call.to_json())
    return played


def talk(conversation: list[Talk]) -> list[tuple[Call, list[Step]]]:
    """The same by handles, each made by the newest engine of what the one before has stored."""
    made: list[tuple[Call, list[Step]]] = []
    state: ConversationState | None = None
    number = 0
    for each in conversation:
        engine = each.edition.engine
        chat = engine.conversation(state)
        tools = tuple(name for name in engine.tools if name != each.gone)
        call = chat.user(Turn({"said": each.said}, now=NOW, tools=tools))
        steps = [chat.step()]
        for names in each.found:
            steps.append(chat.step([ToolResult(each.edition.search, {"tools": list(names)}, f"call-{number}")]))
            number += 1
        made.append((call, steps))
        state = ConversationState.from_json(chat.to_json())
    return made


@given(conversation=talks())
def test_handles_of_a_conversation_give_the_same_bytes_across_edits(conversation: list[Talk]) -> None:
    # A handle also remembers what a search tool of another name has found; the pure core sees the results of one.
    conversation = [replace(each, edition=replace(each.edition, search=SEARCHES[0])) for each in conversation]
    played, talked = play(conversation), talk(conversation)

    assert [(call, steps) for _, call, steps in played.calls] == talked


def whole(step: Step) -> str:
    return step.system + "".join(block.text for block in step.appended)


def has_baseline(step: Step) -> bool:
    return any(cut.what == "baseline" for cut in step.manifest.cuts)


@given(conversation=talks())
def test_an_edit_makes_everything_anew_with_the_next_call_and_nothing_else_changes_what_was_sent(
    conversation: list[Talk],
) -> None:
    sent: tuple[Engine, Step] | None = None
    for engine, _, steps in play(conversation).calls:
        edited = sent is not None and sent[0].agent.sha256 != engine.agent.sha256

        assert has_baseline(steps[0]) == edited
        before = None if edited or sent is None else sent[1]
        for step in steps:
            assert before is None or step.system == before.system
            assert before is None or step.appended[: len(before.appended)] == before.appended
            before = step
        sent = engine, steps[-1]


@given(conversation=talks())
def test_announced_tools_that_exist_stay_active_and_cost_what_the_manifest_says(conversation: list[Talk]) -> None:
    for engine, call, steps in play(conversation).calls:
        manifest = steps[-1].manifest

        assert manifest.total_tokens == sum(record.tokens for record in manifest.sections)
        assert manifest.tokens.system == engine.count(steps[-1].system)
        for tool in call.tools.available:
            if f"<{tool}>\n" in whole(steps[-1]):
                assert tool in steps[-1].active_tools


class Files:
    """What a watcher is to `Pins`, with edits that take effect at once."""

    def __init__(self, first: Engine) -> None:
        self.current, self.states, self.home = first, States("/nowhere"), Path()

    def remake(self, sources: object, /) -> Engine:
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
