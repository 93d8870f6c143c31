"""MisterMorph: what its specification says of more than one prompt, and its limits to the last item and byte."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Engine, FileText, Message, Turn
from cuecard.types import Json

NOW = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
FOUR = ("telegram", "slack", "line", "lark")


@pytest.fixture(scope="module")
def engine() -> Engine:
    # The form of the system itself, and a clock that stands still: prompts hold the time to the second.
    return Engine.open(ROOT / "prompts/mistermorph/agent.yaml", delivery="rewrite", clock=lambda: NOW)


def system(engine: Engine, turn: Turn) -> str:
    return engine.prepare_step(engine.prepare_call(turn)).system


def stack(engine: Engine, turn: Turn) -> list[tuple[str, str]]:
    messages = engine.prepare_step(engine.prepare_call(turn)).messages
    return [(message.role, str(message.content)) for message in messages]


def days(number: int) -> list[Json]:
    """So many memories, oldest first."""
    return [
        {"date": f"2026-{1 + day // 28:02}-{1 + day % 28:02}", "summary": f"day {day}", "path": f"{day}.md"}
        for day in range(number)
    ]


@pytest.mark.parametrize(
    ("inputs", "long_term", "shown"),
    [
        ({}, 0, 50),
        ({"memory_long_term": "nuts"}, 1, 49),
        ({"memory_long_term": "nuts", "is_group": True}, 0, 50),
    ],
)
def test_memory_has_fifty_items_with_the_long_term_one(
    engine: Engine, inputs: dict[str, Json], long_term: int, shown: int
) -> None:
    call = engine.prepare_call(Turn({**inputs, "memory_recent": days(60)}))
    prompt = engine.prepare_step(call).system
    lines = [line for line in prompt.splitlines() if line.startswith("- 2026-")]

    assert [line.partition(" (")[0].rpartition(" ")[2] for line in lines] == [str(59 - day) for day in range(shown)]
    assert prompt.count("<Memory:LongTerm:Summary>\n- nuts\n") == long_term
    assert ("nuts" in prompt) == bool(long_term)
    assert len([cut for cut in call.record.cuts if cut.what.startswith("memory_recent ")]) == 60 - shown


@pytest.mark.parametrize("inputs", [{}, {"memory_recent": [{"date": "", "summary": " "}]}])
def test_memory_without_any_text_is_not_a_block(engine: Engine, inputs: dict[str, Json]) -> None:
    assert "[ Memory ]" not in system(engine, Turn(inputs))


@pytest.mark.parametrize("channel", ["", *FOUR])
def test_one_channel_speaks_and_the_others_do_not(engine: Engine, channel: str) -> None:
    segments = engine.prepare_step(engine.prepare_call(Turn({"channel": channel}))).segments

    assert [segment.id for segment in segments if segment.id in FOUR] == [channel] * bool(channel)


@pytest.mark.parametrize(
    ("tools", "blocks"),
    [
        (("plan_create", "todo_update"), ["plan_create_guidance", "todo_workflow"]),
        (("plan_create",), ["plan_create_guidance"]),
        (("todo_update",), ["todo_workflow"]),
        ((), []),
    ],
)
def test_policies_follow_the_tools_of_the_registry(engine: Engine, tools: tuple[str, ...], blocks: list[str]) -> None:
    segments = engine.prepare_step(engine.prepare_call(Turn(tools=tools))).segments

    assert [segment.id for segment in segments if segment.id in {"plan_create_guidance", "todo_workflow"}] == blocks


def test_blocks_appear_in_the_order_of_the_task_runtime(engine: Engine) -> None:
    turn = Turn(
        {"channel": "lark", "memory_recent": days(1)},
        files={"state/SCRIPTS.md": FileText("SCRIPTS.md", "- `bin/scan`")},
    )
    step = engine.prepare_step(engine.prepare_call(turn))
    order = ["local_tool_notes", "plan_create_guidance", "todo_workflow", "lark", "memory_recent"]

    assert [segment.id for segment in step.segments if segment.id in order] == order
    assert step.system.count("## Additional Context\n") == 1


@pytest.mark.parametrize(("bytes_over", "cut"), [(0, False), (1, True)])
def test_metadata_of_4096_bytes_goes_in_whole(engine: Engine, bytes_over: int, *, cut: bool) -> None:
    frame = len(b'{"mister_morph_meta":{"note":"","trigger":"cli"}}')
    note = "é" * 2000 + "x" * (4096 - frame - 4000 + bytes_over)

    meta = stack(engine, Turn(metadata={"trigger": "cli", "note": note}, message=Message("user", "Go.")))[1][1]

    assert (meta == '{"mister_morph_meta":{"trigger":"cli","truncated":true}}') is cut
    assert cut or len(meta.encode()) == 4096


def test_the_stack_is_system_metadata_history_and_task(engine: Engine) -> None:
    history = (Message("user", "Hello."), Message("system", "old"), Message("assistant", " \n"), Message("user", "So?"))
    turn = Turn(metadata={"trigger": "cli"}, messages=history, message=Message("user", "Go on."))

    assert stack(engine, turn)[1:] == [
        ("user", '{"mister_morph_meta":{"trigger":"cli"}}'),
        ("user", "Hello."),
        ("user", "So?"),
        ("user", "Go on."),
    ]


def test_without_metadata_and_task_nothing_is_made_up(engine: Engine) -> None:
    assert [role for role, _ in stack(engine, Turn())] == ["system"]


def test_a_long_history_goes_in_whole(engine: Engine) -> None:
    history = tuple(Message("user", f"{number}") for number in range(3000))

    assert len(stack(engine, Turn(messages=history))) == 3001


def test_an_unreadable_persona_file_is_not_used(engine: Engine) -> None:
    broken = {"state/IDENTITY.md": FileText("IDENTITY.md", None, "Permission denied")}
    call = engine.prepare_call(Turn(files=broken))

    assert engine.prepare_step(call).system.startswith("## Persona\nYou are MisterMorph")
    assert [each.code for each in call.record.diagnostics] == ["file_read_error", "missing_file"]


def test_a_mention_is_looked_for_in_all_text_of_the_task(engine: Engine) -> None:
    parts = (
        {"type": "text", "text": "What is this?"},
        {"type": "image", "url": "x"},
        {"type": "text", "text": "$Invoices"},
    )

    requested = system(engine, Turn({"skills": ["Invoices"]}))

    assert system(engine, Turn(message=Message("user", parts))) == requested != system(engine, Turn())
    assert system(engine, Turn(message=Message("user", "The Invoices, for $12."))) == system(engine, Turn())


def test_no_skill_brings_its_instructions_into_the_prompt(engine: Engine) -> None:
    prompt = system(engine, Turn({"skills": ["*"]}))

    assert prompt.count("file_path: `") == 3
    assert "Search the mailbox" not in prompt


@pytest.mark.parametrize("blank", [" ", "\n", "\u3000\t"])
def test_a_blank_long_memory_is_none(engine: Engine, blank: str) -> None:
    turns = [Turn({"memory_long_term": text, "memory_recent": days(2)}) for text in ("", blank)]

    assert len({engine.prepare_step(engine.prepare_call(turn)).system for turn in turns}) == 1


@pytest.mark.parametrize("text", ["a\u2028b", "\u2028", "a\r\nb\u2029\x85"])
def test_line_ends_in_metadata_reach_the_json_as_they_are(engine: Engine, text: str) -> None:
    meta = stack(engine, Turn(metadata={text: [text], "hidden": "x\u200by"}))[1][1]

    assert json.loads(meta) == {"mister_morph_meta": {text: [text], "hidden": "xy"}}


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        ({}, ""),
        ({"trigger": ""}, ""),
        ({"trigger": " \n", "correlation_id": "\u3000"}, ""),
        ({"trigger": 7, "correlation_id": " c1 "}, '"correlation_id":" c1 ",'),
    ],
)
def test_the_stub_has_no_blank_trigger(engine: Engine, facts: dict[str, Json], kept: str) -> None:
    meta = stack(engine, Turn(metadata={**facts, "note": "x" * 4096}))[1][1]

    assert meta == f'{{"mister_morph_meta":{{{kept}"truncated":true}}}}'
