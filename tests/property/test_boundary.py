"""Whatever a host puts into an argument or a field: it is right and used, or one `InputError` says where and why."""

from __future__ import annotations

import asyncio
import enum
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, TypeAdapter, ValidationError

from cuecard import (
    Call,
    Conversation,
    ConversationState,
    Engine,
    Entity,
    FileText,
    Gates,
    InputError,
    Manifest,
    Memory,
    Message,
    Step,
    ToolCard,
    ToolResult,
    Turn,
    compile_template,
    trusted,
    watch,
)
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.types import (
    Diagnostic,
    ModelProfile,
    Pace,
    Summary,
    TemplateError,
    ToolCall,
    ToolInstructions,
    messages_from_json,
)

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 20, tzinfo=UTC)


class Word(enum.Enum):
    APPEND = "append"


class WordText(enum.StrEnum):
    APPEND = "append"


TURN = Turn(
    memory=Memory((Entity("page", "page-1", "Home"),)),
    now=NOW,
    tools=("tool_search", "cms_listPages"),
    discovered=("cms_listPages",),
    files={"SOUL.md": FileText("SOUL.md", "Be kind.")},
    gates=Gates(enabled=("cms_listPages",), secrets=("KEY",)),
    environment=("HOME",),
    messages=(
        Message("user", "Hello", id="m1"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "cms_listPages", {"page": 1}),)),
        Message("tool", "[]", tool_call_id="c1"),
        Message("assistant", ({"type": "text", "text": "None."},), timestamp=NOW),
    ),
    summary=Summary("They greeted.", 1),
    message=Message("user", "And now?"),
    metadata={"run": 7},
    diagnostics=(Diagnostic("late", "it was late"),),
)
RESULT = ToolResult("tool_search", {"tools": ["cms_listPages"]}, "call-1")
CARD = ToolCard("extra", "does more", {"type": "object"}, ("do more",), "more", ToolInstructions("a", "b", "c", "d"))


@cache
def engines() -> tuple[Engine, ...]:
    return tuple(
        Engine.open(ROOT / "prompts" / name / "agent.yaml") for name in ("cms", "mushroom", "polyant", "pioneer")
    )


def twice() -> list[Any]:
    loop: list[Any] = []
    loop += [loop, loop]
    return loop


SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -3, 10**30, 0.5, -1.0, float("nan"), float("inf"), Decimal(1), 1j, b"bytes"]),
    st.sampled_from(["", "append", "apend", "messages", "cms_listPages", "\0", "\ud800", "a\nb", "x" * 5000]),
    st.sampled_from([Word.APPEND, WordText.APPEND, object(), object, len, NOW, NOW.replace(tzinfo=None), Path("x")]),
    st.sampled_from([TURN, RESULT, CARD, TURN.memory, TURN.message, TURN.gates, TURN.summary, Entity("a", "b", "c")]),
    st.sampled_from([{1, 2}, frozenset({"a"}), range(3), memoryview(b"x"), deque(["a"]), OrderedDict(a=1)]),
    st.builds(twice),
    st.just(MappingProxyType({"a": "b"})),
    st.builds(lambda: (name for name in ("a", "b"))),
)
JUNK = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.lists(SCALARS, max_size=3).map(tuple),
    st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), SCALARS, max_size=2),
)


def right(annotation: Any, value: Any) -> bool:
    """A second opinion: what pydantic says of the value, lists taken as tuples."""
    try:
        strict = TypeAdapter(annotation, config=ConfigDict(strict=True, arbitrary_types_allowed=True))
    except Exception:  # noqa: BLE001 - a dataclass takes no configuration from outside
        strict = TypeAdapter(annotation)
    try:
        strict.validate_python(plain(value), strict=True)
    except (ValidationError, RecursionError):
        return False
    return True


def plain(value: Any) -> Any:
    if isinstance(value, (list, deque, tuple)):
        return tuple(plain(item) if item is not value else item for item in value)
    return dict(value) if isinstance(value, Mapping) else value


def paths(error: InputError) -> list[str]:
    assert error.problems
    assert str(error)
    assert all(problem.name and problem.message and problem.code for problem in error.problems)
    return [problem.name for problem in error.problems]


def everything(engine: Engine, turn: Any, history: Any) -> None:
    call = engine.prepare_call(turn, history)
    step = engine.prepare_step(call, history)
    assert Call.from_json(call.to_json()) == call
    assert Step.from_json(step.to_json()).manifest == step.manifest
    assert Manifest.from_json(step.manifest.to_json()).sha256


def accepted(work: Callable[[], object]) -> bool:
    """Whether it went well; nothing but an `InputError` may come out otherwise."""
    try:
        work()
    except InputError as error:
        paths(error)
        return False
    return True


NOUNS: Mapping[str, tuple[Any, Callable[[Any], Turn]]] = {
    "turn": (TURN, lambda noun: noun),
    "memory": (TURN.memory, lambda noun: replace(TURN, memory=noun)),
    "entity": (TURN.memory.entities[0], lambda noun: replace(TURN, memory=Memory((noun,)))),
    "gates": (TURN.gates, lambda noun: replace(TURN, gates=noun)),
    "file": (TURN.files["SOUL.md"], lambda noun: replace(TURN, files={"SOUL.md": noun})),
    "summary": (TURN.summary, lambda noun: replace(TURN, summary=noun)),
    "message": (TURN.messages[3], lambda noun: replace(TURN, messages=(*TURN.messages[:3], noun))),
    "current": (TURN.message, lambda noun: replace(TURN, message=noun)),
    "call": (
        TURN.messages[1].tool_calls[0],
        lambda noun: replace(TURN, messages=(replace(TURN.messages[1], tool_calls=(noun,)), TURN.messages[2])),
    ),
    "diagnostic": (TURN.diagnostics[0], lambda noun: replace(TURN, diagnostics=(noun,))),
}
FIELDS = [(name, field.name) for name, (noun, _) in NOUNS.items() for field in fields(noun)]


@given(place=st.sampled_from(FIELDS), junk=JUNK, which=st.integers(0, 3))
def test_a_field_of_a_turn_is_right_or_refused(place: tuple[str, str], junk: Any, which: int) -> None:
    noun, field = place
    good, into = NOUNS[noun]
    engine = engines()[which]
    well = accepted(lambda: everything(engine, into(replace(good, **{field: junk})), [RESULT]))

    annotation = get_type_hints(type(good))[field]
    assert not well or right(annotation, junk), f"{noun}.{field} = {junk!r} was taken"


@given(field=st.sampled_from([each.name for each in fields(RESULT)]), junk=JUNK)
def test_a_field_of_a_result_is_right_or_refused(field: str, junk: Any) -> None:
    engine, wrong = engines()[0], replace(RESULT, **{field: junk})
    call = engine.prepare_call(TURN)

    took = [
        accepted(lambda: everything(engine, TURN, [RESULT, wrong])),
        accepted(lambda: engine.prepare_step(call, (wrong,)).manifest),
        accepted(lambda: engine.remember(Memory(), [wrong])),
    ]

    assert len(set(took)) == 1, "the same at every door"
    assert not took[0] or right(get_type_hints(ToolResult)[field], junk)


@given(field=st.sampled_from([each.name for each in fields(CARD)]), junk=JUNK)
def test_a_field_of_a_tool_card_is_right_or_refused(field: str, junk: Any) -> None:
    def use() -> None:
        engine = engines()[0].with_tools([replace(CARD, **{field: junk})])
        engine.search_tools("do more")
        everything(engine, replace(TURN, tools=None), [RESULT])

    # A server's schema that is no JSON takes its tool away, and nobody down.
    may = field == "input_schema" and isinstance(junk, Mapping)
    assert not accepted(use) or may or right(get_type_hints(ToolCard)[field], junk)


async def _summary(_: object) -> str:
    return "summed up"


async def _ranked(query: str, limit: int) -> list[tuple[str, float]]:
    return [("cms_listPages", 0.9)][:limit] if query else []


def talking() -> Conversation:
    conversation = engines()[0].conversation()
    conversation.user(TURN)
    return conversation


def from_state(**changed: Any) -> None:
    conversation = engines()[0].conversation(replace(talking().state, **changed))
    if conversation.call is not None:
        conversation.step([RESULT]).manifest  # noqa: B018 - made when somebody looks
    conversation.user(Turn(now=NOW))
    engines()[0].load(engines()[0].dump(conversation))


def _request(of: Callable[..., object], **given: Any) -> object:
    engine = engines()[0]
    step = engine.prepare_step(engine.prepare_call(replace(TURN, messages=(), message=None)))
    return of(given.pop("step", step), given.pop("messages", [{"role": "user", "content": "Hello"}]), **given)


# ruff: noqa: PLW0108 - a lambda opens its engine when a test asks for it, not when it is collected
ARGUMENTS: Mapping[str, Callable[[Any], object]] = {
    "prepare_call(turn)": lambda junk: engines()[0].prepare_call(junk),
    "prepare_call(history)": lambda junk: engines()[0].prepare_call(TURN, junk),
    "prepare_call(previous)": lambda junk: engines()[0].prepare_call(TURN, previous=junk),
    "prepare_call(compacted)": lambda junk: engines()[0].prepare_call(TURN, compacted=junk),
    "prepare_call(kept)": lambda junk: engines()[0].prepare_call(TURN, kept=junk),
    "prepare_step(call)": lambda junk: engines()[0].prepare_step(junk),
    "prepare_step(history)": lambda junk: engines()[0].prepare_step(engines()[0].prepare_call(TURN), junk).manifest,
    "conversation(state)": lambda junk: engines()[0].conversation(junk),
    "dump(conversation)": lambda junk: engines()[0].dump(junk),
    "load(text)": lambda junk: engines()[0].load(junk),
    "user(turn)": lambda junk: engines()[0].conversation().user(junk),
    "user(results)": lambda junk: engines()[0].conversation().user(TURN, junk),
    "user(calls)": lambda junk: engines()[0].conversation().user(TURN, calls=junk),
    "step(results)": lambda junk: talking().step(junk).manifest,
    "step(calls)": lambda junk: talking().step([RESULT], calls=junk).manifest,
    "compacted(kept)": lambda junk: talking().compacted(junk),
    "conversation.remember(entities)": lambda junk: talking().remember(junk),
    "forget(ids)": lambda junk: talking().forget(junk),
    "state.results": lambda junk: from_state(results=junk),
    "state.calls": lambda junk: from_state(calls=junk),
    "state.memory": lambda junk: from_state(memory=junk),
    "state.kept": lambda junk: from_state(kept=junk),
    "state.call": lambda junk: from_state(call=junk),
    "ConversationState.from_json(data)": ConversationState.from_json,
    "search_tools(query)": lambda junk: engines()[0].search_tools(junk),
    "search_tools(limit)": lambda junk: engines()[0].search_tools("list pages", junk),
    "asearch_tools(query)": lambda junk: asyncio.run(engines()[0].asearch_tools(junk, ranker=_ranked)),
    "asearch_tools(limit)": lambda junk: asyncio.run(engines()[0].asearch_tools("list", junk, ranker=_ranked)),
    "remember(memory)": lambda junk: engines()[0].remember(junk, [RESULT]),
    "remember(results)": lambda junk: engines()[0].remember(Memory(), junk),
    "read_skill(slug)": lambda junk: engines()[1].read_skill(junk),
    "read_skill(turn)": lambda junk: engines()[1].read_skill("x", junk),
    "read_skill(limit)": lambda junk: engines()[1].read_skill("x", limit=junk),
    "summarize(turn)": lambda junk: engines()[1].summarize(junk, lambda _: "summed up"),
    "summarize(timeout)": lambda junk: engines()[1].summarize(TURN, lambda _: "summed up", timeout=junk),
    "asummarize(turn)": lambda junk: asyncio.run(engines()[1].asummarize(junk, _summary)),
    "asummarize(timeout)": lambda junk: asyncio.run(engines()[1].asummarize(TURN, _summary, timeout=junk)),
    "with_tools(cards)": lambda junk: engines()[0].with_tools(junk),
    "open(delivery)": lambda junk: Engine.open(ROOT / "prompts" / "mushroom", delivery=junk),
    "open(salt)": lambda junk: Engine.open(ROOT / "prompts" / "mushroom", salt=junk),
    "trusted(text)": trusted,
    "compile_template(text)": compile_template,
    "compile_template(name)": lambda junk: compile_template("x", name=junk),
    "compile_template(partials)": lambda junk: compile_template("x", partials=junk),
    "compile_template(helpers)": lambda junk: compile_template("x", helpers=junk),
    "compile_template(strict)": lambda junk: compile_template("x", strict=junk),
    "compile_template(escaping)": lambda junk: compile_template("x", escaping=junk),
    "compile_template(names)": lambda junk: compile_template("x", names=junk),
    "Template.render(values)": lambda junk: compile_template("x{{a}}", strict=False).render(junk),
    "Template.render(data)": lambda junk: compile_template("x").render({}, junk),
    "messages_from_json(data)": messages_from_json,
    "Call.from_json(data)": Call.from_json,
    "Step.from_json(data)": Step.from_json,
    "Manifest.from_json(data)": Manifest.from_json,
    "anthropic(step)": lambda junk: _request(anthropic.request, step=junk, model=ModelProfile("m")),
    "anthropic(messages)": lambda junk: _request(anthropic.request, messages=junk, model=ModelProfile("m")),
    "anthropic(tools)": lambda junk: _request(anthropic.request, tools=junk, model=ModelProfile("m")),
    "anthropic(model)": lambda junk: _request(anthropic.request, model=junk),
    "anthropic(defer)": lambda junk: _request(anthropic.request, model=ModelProfile("m"), defer=junk),
    "chat(messages)": lambda junk: _request(openai.chat_request, messages=junk, model=ModelProfile("m")),
    "chat(tools)": lambda junk: _request(openai.chat_request, tools=junk, model=ModelProfile("m")),
    "chat(cache_key)": lambda junk: _request(openai.chat_request, model=ModelProfile("m"), cache_key=junk),
    "responses(items)": lambda junk: _request(openai.responses_request, messages=junk, model=ModelProfile("m")),
    "bedrock(messages)": lambda junk: _request(bedrock.request, messages=junk, model=ModelProfile("m")),
    "bedrock(tools)": lambda junk: _request(bedrock.request, tools=junk, model=ModelProfile("m")),
    "bedrock(lifetime)": lambda junk: _request(bedrock.request, model=ModelProfile("m"), lifetime=junk),
    "gemini(contents)": lambda junk: _request(gemini.request, messages=junk),
    "gemini(tools)": lambda junk: _request(gemini.request, tools=junk),
}
SAID = st.dictionaries(
    st.sampled_from(
        ["role", "content", "tool_call_id", "parts", "toolResult", "toolSpec", "type", "call_id", "name", "function"]
    ),
    JUNK,
    max_size=4,
)


@given(name=st.sampled_from(sorted(ARGUMENTS)), junk=JUNK)
def test_an_argument_is_right_or_refused(name: str, junk: Any) -> None:
    try:
        took = accepted(lambda: ARGUMENTS[name](junk))
    except TemplateError:
        assert "emplate" in name  # templates have errors of their own
        return

    method, _, argument = name.rstrip(")").partition("(")
    hints = get_type_hints(getattr(Engine, method)) if hasattr(Engine, method) else {}
    assert not took or argument not in hints or right(hints[argument], junk), f"{name} = {junk!r} was taken"


@given(
    form=st.sampled_from(["anthropic(", "bedrock(", "chat(", "responses(", "gemini("]), said=st.lists(SAID, max_size=3)
)
def test_messages_of_a_provider_are_right_or_refused(form: str, said: list[Any]) -> None:
    for name in ARGUMENTS:
        if name.startswith(form) and ("tools" in name or "messages" in name or "items" in name or "contents" in name):
            accepted(lambda name=name: ARGUMENTS[name](said))  # type: ignore[misc]


@given(name=st.sampled_from(["path", "delivery", "clock", "salt", "ready", "states", "pace"]), junk=JUNK)
def test_an_argument_of_watch_that_is_wrong_starts_nothing(name: str, junk: Any) -> None:
    good = name == "path" or junk is None or (name == "salt" and isinstance(junk, str))
    good = good or (name == "delivery" and junk == "append" if isinstance(junk, str) else False)
    good = (
        good or (name in {"clock", "ready"} and callable(junk)) or (name == "states" and isinstance(junk, (str, Path)))
    )
    if good:
        return

    with pytest.raises(InputError) as error:
        watch(**{"path": "nowhere", name: junk})

    assert paths(error.value)[0].startswith(name)


@given(junk=st.one_of(st.booleans(), st.just(float("nan")), st.just(-1.0), st.text(), st.none()))
def test_seconds_are_seconds(junk: Any) -> None:
    with pytest.raises(InputError, match=r"pace\.quiet"):
        watch("nowhere", pace=Pace(quiet=junk))
