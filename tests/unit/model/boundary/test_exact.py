"""What was checked is what is printed and stored: whatever class a text or a number has, it becomes a plain one."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from cuecard import Engine, Entity, FileText, Gates, Memory, Message, ToolCard, ToolResult, Turn
from cuecard.model.json_values import MAX_DEPTH, MAX_VALUES, exact_body, exact_json, exact_object
from cuecard.types import Summary, ToolCall
from unit.agent.section_lists.agents import TOOLS, opened
from unit.model.boundary import hostile
from unit.model.boundary.hostile import NOW, Fraction, Level, Number, Plain, Text, Word
from unit.model.boundary.scene import AGENT

PLAIN = {str, int, float, bool, type(None), datetime}
HOME = [Text("Home"), Word.HOME, Plain.HOME]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    flags = "visibility: {flags: {Home: [], home: []}}"
    return opened(tmp_path, AGENT.replace("tools.yaml, core", f"tools.yaml, {flags}, core"), tools_yaml=TOOLS)


def leaves(value: Any) -> Iterator[Any]:
    """Everything that a value holds and that holds nothing itself."""
    if is_dataclass(value):
        for each in fields(value):
            yield from leaves(getattr(value, each.name))
    elif isinstance(value, (dict, MappingProxyType)):
        yield from (*value, *(leaf for item in value.values() for leaf in leaves(item)))
    elif isinstance(value, (list, tuple)):
        yield from (leaf for item in value for leaf in leaves(item))
    else:
        yield value


def exact(value: Any) -> bool:
    return {*map(type, leaves(value))} <= PLAIN


def turn(home: str) -> Turn:
    return Turn(
        inputs={"user": home, "rows": [home, {home: home}, Level.ONE, Number(3), Fraction(0.5)]},
        memory=Memory((Entity(home, home, home, home),)),
        now=NOW,
        tools=(Text("tool_search"), Text("get_page")),
        discovered=(Text("get_page"),),
        model=home,
        endpoint=home,
        host=Text("messages"),  # type: ignore[arg-type] # a text all the same
        delivery=Text("append"),  # type: ignore[arg-type] # likewise
        files={home: FileText(home, home)},
        gates=Gates(enabled=(Text("get_page"),), flags={home: True}),
        messages=(
            Message("user", home, id=home, speaker=home),
            Message(Text("assistant"), "", (ToolCall(home, home, {home: [Level.ONE, home]}),)),  # type: ignore[arg-type] # likewise
            Message("tool", home, tool_call_id=home),
        ),
        summary=Summary(home, 0, home),
        message=Message("user", ({"type": Text("text"), "text": home},)),
        query=home,
        metadata={home: home, "level": Level.ONE},
        ephemeral=home,
    )


@pytest.mark.parametrize("home", HOME)
def test_what_a_turn_says_is_what_the_prompt_shows(home: str, engine: Engine) -> None:
    plain = str.__str__(home)

    call, wanted = engine.prepare_call(turn(home)), engine.prepare_call(turn(plain))

    assert call == wanted
    assert json.dumps(call.to_json()) == json.dumps(wanted.to_json())
    assert exact(call)
    assert engine.prepare_step(call).system == engine.prepare_step(wanted).system


@pytest.mark.parametrize("home", HOME)
def test_what_a_conversation_keeps_is_plain(home: str, engine: Engine) -> None:
    chat = engine.conversation()
    chat.user(turn(home), calls={home: home})
    found = ToolResult(Text("tool_search"), {Text("tools"): [Text("get_page"), home]}, home, batch=home)
    step = chat.step([found, ToolResult(home, {"page": {"id": home, "name": home}}, Text("c2"))])
    chat.remember([Entity(home, Text("i2"), home)])
    chat.tools_changed([Text("get_page")])

    assert exact(chat.state)
    assert exact(step.manifest)
    assert "forged" not in engine.dump(chat) + step.system
    assert engine.load(engine.dump(chat)).state == chat.state


@pytest.mark.parametrize("home", HOME)
def test_other_doors_take_the_text_that_it_is(home: str, engine: Engine) -> None:
    plain = str.__str__(home)
    card = ToolCard(Text("extra"), home, {home: [home, Level.ONE]}, (home,), home)

    assert exact(engine.with_tools([card]).tools["extra"])
    assert engine.render_result(ToolResult(home, home)).text == plain
    assert exact(engine.render_result(ToolResult(home, {home: home}, home)))
    assert engine.search_tools(home) == engine.search_tools(plain)
    memory = engine.remember(Memory((Entity(home, home, home),)), [ToolResult("x", {"page": {"id": home}})])
    assert exact(memory)


def test_what_the_host_holds_is_neither_changed_nor_kept(engine: Engine) -> None:
    rows: list[Any] = [[1], {"a": [2]}]
    call = engine.prepare_call(Turn({"rows": rows}, now=NOW))

    assert rows == [[1], {"a": [2]}]
    made, _ = exact_json(rows)
    assert made == rows
    assert made[0] is not rows[0]
    assert made[1]["a"] is not rows[1]["a"]
    assert engine.prepare_call(Turn({"rows": ((1,), OrderedDict(a=(2,)))}, now=NOW)) == call


def test_the_walk_ends_at_its_bounds() -> None:
    assert exact_json([0] * (MAX_VALUES - 1))[1] == []
    assert [each.code for each in exact_json([0] * (MAX_VALUES + 1))[1]] == ["value-too-large"]
    assert exact_json(hostile.deep(MAX_DEPTH - 1))[1] == []
    assert [each.code for each in exact_json(hostile.deep(MAX_DEPTH))[1]] == ["value-too-deep"]
    assert len(exact_json([object()] * 5000)[1]) == 1000


def test_a_flat_object_is_copied_and_ends_at_the_same_bound() -> None:
    flat = {"a": ["b", None], "c": True}
    made, wrong = exact_object(flat)
    large = {"a": [None] * (MAX_VALUES - 1), "b": None}

    assert (made, wrong) == (flat, [])
    assert made is not flat
    assert made["a"] is not flat["a"]
    assert [each.code for read in (exact_object, exact_body) for each in read(large)[1]] == ["value-too-large"] * 2


def test_a_body_keeps_what_is_no_json() -> None:
    odd = object()

    assert exact_body([Text("a"), odd, {"b": Number(1)}]) == ([*"a", odd, {"b": 1}], [])


def test_an_interruption_is_no_mistake(engine: Engine) -> None:
    class Interrupting(dict[str, Any]):
        def items(self) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.prepare_call(replace(Turn(), metadata={"m": Interrupting(a=1)}))
