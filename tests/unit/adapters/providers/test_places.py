"""Where blocks and breakpoints stand among messages of any shape: a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import Step
from cuecard.adapters.anthropic import request
from cuecard.adapters.block_places import MessageFacts, homes
from cuecard.adapters.bodies import reminder
from cuecard.model import Lifetime
from cuecard.pipeline.fingerprints import sha256
from cuecard.types import Appended, EndedText
from unit.adapters.providers.talk import PROFILES, Json, play

MODELS = [replace(PROFILES.find(name), checks_thinking=True) for name in ("claude-opus-4-8", "claude-sonnet-4-6")]
"""One with messages of the system, and one with reminders."""
STEP = play([([], [], 0)])[-1].step
ROLES = {"a": "assistant", "t": "assistant", "s": "system"}
TABLE = Path(__file__).with_name("places.txt")
ROWS = [[each.strip() for each in row.split("|")] for row in TABLE.read_text(encoding="utf-8").splitlines()]
LIVES: dict[str, Lifetime] = {"~": "turn", "!": "step"}


def part(name: str) -> Json:
    """`c1` is a result of that call, `c_` one without an id, `t` thinking, `(W)` a text like a reminder of `W`, and
    `[W)` and `(W]` others of its length; everything else is a text.
    """
    if name[0] in "([":
        alike = reminder(name[1])
        return {
            "type": "text",
            "text": alike if name == "(W)" else "x" + alike[1:] if name[0] == "[" else alike[:-2] + "xx",
        }
    if name[0] == "c":
        return {"type": "tool_result", "tool_use_id": name.replace("c_", ""), "content": "ok"}
    if name == "t":
        return {"type": "thinking", "thinking": "t", "signature": "s"}
    return {"type": "text", "text": name}


def messages(shape: str) -> list[Json]:
    """`u` is a message of the user, `c1` one with a result, `a` one of the model, `s` one of the host's system; what is
    joined by `+` is one message.
    """
    parts = [message.split("+") for message in shape.split()]
    return [{"role": ROLES.get(each[0][0], "user"), "content": [*map(part, each)]} for each in parts]


def block(said: str) -> tuple[Appended, EndedText]:
    """`X:0` is a block of the first turn, `X:c1` one behind that result, `X:0c1` the same with its turn, `X` one of
    neither; `~` lives for its turn, `!` for its request.
    """
    text, _, after = said.rstrip("~!").partition(":")
    number, result, name = after.partition("c")
    turn, call = int(number) if number else None, f"{result}{name}" or None
    lives = LIVES.get(said[-1], "conversation")
    gone = EndedText("section", sha256(text), turn, call)
    return Appended(call, text, turn=None if call else turn, lifetime=lives), gone


def step_with(blocks: list[str], turns: str, ended: Iterable[str] = ()) -> Step:
    """Of turns, the last result that was known as each began; `-` is none, and `^` the first one after a compaction."""
    known: tuple[str | None, ...] = tuple({"-": None, "^": ""}.get(each, each) for each in turns.split())
    appended, gone = (block(each)[0] for each in blocks), (block(each)[1] for each in ended)
    return replace(STEP, appended=tuple(appended), turns=known, ended=tuple(gone))


def shape(body: Json) -> str:
    """The messages of a body as the table has them, with `*` behind what has a breakpoint."""
    blocks = {reminder(text): text for text in "WXYZ"}

    def name(block: Json) -> str:
        said = block.get("text") or (block["tool_use_id"] or "c_" if "content" in block else "t")
        said = blocks.get(said, said)
        return (said if len(said) < 3 else "o") + "*" * ("cache_control" in block)

    return " ".join("+".join(map(name, message["content"])) for message in body["messages"])


@pytest.mark.parametrize("passing", [False, True], ids=["blocks that stay", "blocks that pass"])
@pytest.mark.parametrize("column", [0, 1], ids=["messages of the system", "reminders"])
def test_blocks_and_breakpoints_stand_where_the_table_says_whatever_was_sent_before(
    column: int,
    passing: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    """`-W:0~` is a text that has ended. Messages that a host has kept as they were sent, with some of the blocks, are
    sent as those are that hold none.
    """
    model, placed = MODELS[column], {}
    rows = [row for row in ROWS if any(sign in row[2] for sign in "~!-") is passing]
    for said, turns, blocks, *_ in rows:
        ended = [each[1:] for each in blocks.split() if each[0] == "-"]
        now = [each for each in blocks.split() if each[0] != "-"]
        step = step_with(now, turns, ended)
        body = request(step, messages(said), model=model)
        placed[said, turns, blocks] = shape(body)
        kept = request(step, messages(said), model=replace(model, checks_thinking=False))
        assert shape(kept).count("t") == said.count("t")
        for some in range(len(now) + 1):
            sent = request(step_with([*ended, *now[:some]], turns), messages(said), model=model)
            assert request(step, sent["messages"], model=model) == body

    assert placed == {(said, turns, blocks): told[column] for said, turns, blocks, *told in rows}


@pytest.mark.parametrize("column", [0, 1], ids=["messages of the system", "reminders"])
def test_what_is_sent_once_more_at_the_end_and_what_has_ended_leave_no_message_behind(column: int) -> None:
    model, other = MODELS[column], MODELS[1 - column]
    stored = request(step_with(["X:0!"], "-"), messages("u"), model=model)["messages"]
    moved = request(step_with(["X:c0!"], "-", ["X:0!"]), [*stored, *messages("a c0")], model=model)
    elsewhere = request(step_with(["W:0~"], "-"), messages("u"), model=other)["messages"]
    ended = request(step_with([], "- -", ["W:0~"]), [*elsewhere, *messages("a u")], model=model)

    assert shape(moved) == ("u* a c0* X", "u* a c0*+X")[column]
    assert shape(ended) == "u* a u*"
    assert {message["role"] for message in ended["messages"]} == {"user", "assistant"}


@pytest.mark.parametrize(
    ("said", "turns", "blocks", "places"),
    [
        ("u a u", "- -", "X:0 Y:1 Z", "X0 Y2 Z2"),
        ("u u a u", "- -", "X:0 Y:1", "X1 Y3"),
        ("u u a", "- - -", "X:0 Y:1 Z:2", "X0 Y0 Z1"),
        ("u a u a u", "- - - -", "X:2", "X2"),
        ("u a c0 u u a u", "- c0", "X:c0 Y:1", "X2 Y3"),
        ("u a c0 a u", "- c0 c0", "X:1 Y:2 Z:0", "X2 Y4 Z0"),
        ("c0 u u", "c0 c0", "X:0 Y:1", "X1 Y2"),
        ("c0 a u", "c0 c0", "X:0 Y:1", "X0 Y2"),
        ("c0 u u a u", "c0", "X:0", "X1"),
        ("a", "-", "", ""),
    ],
)
def test_where_nobody_joins_messages_each_is_one_and_the_oldest_are_gone(
    said: str, turns: str, blocks: str, places: str
) -> None:
    ids = [tuple(name for name in each.split("+") if name[0] == "c") for each in said.split()]
    read = MessageFacts(ids, [each.count("u") for each in said.split()], joins=False)
    step = step_with(blocks.split(), turns)
    found = homes(read, step.appended, step.turns)

    assert " ".join(f"{each.text}{at}" for at in found for each in found[at]) == places
