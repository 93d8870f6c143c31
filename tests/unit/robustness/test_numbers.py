"""Numbers that no text can hold, and values that nest without end, wherever they come in: one clear error each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, Entity, InputError, Memory, Message, SpecError, ToolCard, ToolResult, Turn
from cuecard.config.transcript_file import read_json
from cuecard.types import ToolCall
from cuecard.workbench.transcripts.logs import arguments

HUGE = 10**5_000
AGENT = """\
agent: a
inputs: {n: {type: number, default: 1}, l: {type: list, default: []}, o: {type: object, default: {}}}
sections: [{id: s, text: "{{n}} {{#each l}}{{this}}{{/each}}{{#each o}}{{@key}}{{/each}}"}]
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("agent")
    (folder / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return Engine.open(folder, cache=False)


@pytest.mark.parametrize("value", [HUGE, -HUGE, 1 << 2_048], ids=["long", "negative", "one bit too many"])
@pytest.mark.parametrize(
    "turn",
    [
        lambda value: Turn({"n": value}),
        lambda value: Turn({"l": [1, value]}),
        lambda value: Turn({"o": {"k": {"k": value}}}),
        lambda value: Turn(metadata={"k": value}),
        lambda value: Turn(message=Message("user", ({"type": "image", "size": value},))),
        lambda value: Turn(memory=Memory((Entity("page", value, "x"),))),
    ],
)
def test_a_number_that_cannot_be_written_out_is_refused_with_its_place(engine: Engine, turn: Any, value: int) -> None:
    with pytest.raises(InputError) as caught:
        engine.prepare_call(turn(value))

    assert {problem.code for problem in caught.value.problems} <= {"not-json", "wrong-argument"}
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize(
    ("turn", "place"),
    [
        (lambda value: Turn({"n": value}), "turn.inputs.n"),
        (lambda value: Turn({"l": [1, [value]]}), "turn.inputs.l[1][0]"),
        (lambda value: Turn({"o": {"k": {"k": value}}}), "turn.inputs.o.k.k"),
        (lambda value: Turn(metadata={"k": value}), "turn.metadata.k"),
        (lambda value: Turn(message=Message("user", ({"type": "x", "k": value},))), "turn.message.content[0].k"),
        (lambda value: Turn(messages=(asked(value),)), "turn.messages[0].tool_calls[0].arguments.k"),
    ],
)
def test_a_number_that_json_does_not_have_is_refused_with_its_place(
    engine: Engine, turn: Any, place: str, value: float
) -> None:
    with pytest.raises(InputError) as caught:
        engine.prepare_call(turn(value))

    assert [(problem.code, problem.name) for problem in caught.value.problems] == [("not-json", place)]


def asked(value: float) -> Message:
    """A message that calls a tool with a number."""
    return Message("assistant", "", tool_calls=(ToolCall("1", "x", {"k": value}),))


def test_what_is_taken_can_be_stored_as_strict_json(engine: Engine) -> None:
    """PostgreSQL's `jsonb` and other strict readers have no NaN: results of tools may say it, and are not kept."""
    found = ToolResult("tool_search", {"tools": [], "score": float("nan")}, "call-1")
    chat = engine.conversation()
    call = chat.user(Turn({"l": [1.5]}), [found])
    step = chat.step([])

    assert all(json.dumps(each.to_json(), allow_nan=False) for each in (call, step, step.manifest))
    assert engine.load(engine.dump(chat)).state == chat.state


def test_a_number_that_can_be_written_out_is_taken(engine: Engine) -> None:
    turn = Turn({"n": (1 << 2_048) - 1, "l": [-(1 << 2_047)]})

    assert json.dumps(engine.prepare_call(turn).to_json())
    assert engine.prepare_step(engine.prepare_call(turn)).system == "Infinity -Infinity"  # as JavaScript prints it


def test_a_search_for_that_many_tools_is_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="cannot return that many tools"):
        engine.search_tools("pages", limit=HUGE)


@pytest.mark.parametrize("depth", [65, 900])
@pytest.mark.parametrize("inner", [1, float("nan")])
def test_a_tool_whose_schema_nests_too_deep_is_left_out_and_takes_no_other_away(
    engine: Engine, depth: int, inner: float
) -> None:
    schema: dict[str, Any] = {"maximum": inner}
    for _ in range(depth):
        schema = {"a": schema}
    more = engine.with_tools([ToolCard("deep", "Deep.", schema), ToolCard("fine", "Fine.")])

    assert list(more.tools) == ["fine"]
    assert [(cut.what, cut.reason) for cut in more.tool_cuts] == [
        ("tool deep", "skipped: its input schema is nested more than 64 levels deep, or is not JSON")
    ]


@pytest.mark.parametrize("text", ["9" * 5_000, '{"a": [' + "9" * 5_000 + "]}", "[" * 100_000])
def test_a_log_with_them_is_an_error_with_a_code(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_json(text, "log.json")

    assert [problem.code for problem in caught.value.problems] == ["json-syntax"]


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5_000])
def test_arguments_that_a_model_got_wrong_stay_the_text_that_it_wrote(text: str) -> None:
    assert arguments(text) == text


def test_a_recorded_step_that_nests_too_deep_is_one_error(tmp_path: Path) -> None:
    from cuecard.workbench.diff.sides import _recorded  # noqa: PLC0415 - the command's own reader

    (tmp_path / "step.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="this JSON is nested too deeply"):
        _recorded("step.json", tmp_path / "step.json")
