"""What the adapter of pydantic-ai does with messages of any shape: a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from cuecard import Step
from cuecard.adapters.pydantic_ai import messages as adapter
from cuecard.types import Discovery
from unit.adapters.providers.test_places import step_with

TABLE = Path(__file__).with_name("pydantic_shapes.txt")
ROWS = [[each.strip() for each in row.split("|")] for row in TABLE.read_text(encoding="utf-8").splitlines()]


SIGNS = {"tool-call": "k", "tool-return": "c", "retry-prompt": "r"}


def response_part(name: str) -> ModelResponsePart:
    """`k1` is a call, `t` thinking, `a` a text."""
    if name[0] == "k":
        return ToolCallPart(f"tool_{name[1:]}", {"n": name}, f"c{name[1:]}")
    return ThinkingPart(name) if name[0] == "t" else TextPart(name)


def request_part(name: str) -> ModelRequestPart:
    """`c1` is the result of a call, `r1` a retry, `n1:x,y` a note that it found these tools, `n:x` one of pydantic-ai's
    own; `X` a prompt of the system, `X'` one with the mark of an agent, `u` words of the user, `u*` such with a cache
    point.
    """
    kind, (number, _, added) = name[0], name[1:].partition(":")
    if kind == "c":
        return ToolReturnPart(f"tool_{number}", name, name)
    if kind == "r":
        return RetryPromptPart("no", tool_name=f"tool_{number}", tool_call_id=f"c{number}")
    if kind == "n":
        return ToolAvailabilityDeltaPart(tools_added=added.split(","), tool_call_id=f"c{number}" if number else None)
    if kind.isupper():
        return SystemPromptPart(name[0], metadata={"cuecard": "shop"} if name[1:] else None)
    return UserPromptPart([name.rstrip("*"), CachePoint()] if name.endswith("*") else name.strip("_"))


def messages(shape: str) -> list[ModelMessage]:
    """What `+` joins is one message; behind `@` is its run, behind `=` its instructions."""
    made: list[ModelMessage] = []
    for each in shape.split():
        names, _, more = each.partition("@")
        names, _, told = names.partition("=")
        parts = names.split("+")
        if names[0] in "kat":
            made.append(ModelResponse([*map(response_part, parts)]))
        else:
            made.append(ModelRequest([*map(request_part, parts)], run_id=more or None, instructions=told or None))
    return made


def shape(made: Sequence[ModelMessage]) -> str:
    """The messages as the table has them."""

    def name(part: Any) -> str:
        call = (getattr(part, "tool_call_id", None) or "c")[1:]
        if part.part_kind in SIGNS:
            return SIGNS[part.part_kind] + call
        if isinstance(part, ToolAvailabilityDeltaPart):
            return f"n{call}:{','.join(part.tools_added)}"
        said = [part.content] if isinstance(part.content, str) else part.content
        text = "".join(f"*{each.ttl}" if isinstance(each, CachePoint) else each for each in said)
        return text + "'" * bool(getattr(part, "metadata", None)) or "_"

    told = [f"={each.instructions}" if isinstance(each, ModelRequest) and each.instructions else "" for each in made]
    return " ".join("+".join(map(name, each.parts)) + more for each, more in zip(made, told, strict=True))


def step_of(turns: str, blocks: str, found: str = "", active: str = "") -> Step:
    """A step; `x:c1` says which result found a tool."""
    ended, now = ([each for each in blocks.split() if (each[0] == "-") is gone] for gone in (True, False))
    known = tuple(Discovery(tool, call or None) for tool, _, call in (each.partition(":") for each in found.split()))
    step = step_with(now, turns, [each[1:] for each in ended])
    return replace(step, found=known, discovered=known, active_tools=tuple(active.split()))


def appended(said: list[ModelMessage], blocks: str, agent: str | None = None) -> list[ModelMessage]:
    once = adapter.place_appended(said, step_of("", blocks).appended, agent)
    assert shape(adapter.place_appended(once, step_of("", blocks).appended, agent)) == shape(once)
    return once


DONE: dict[str, Callable[..., Any]] = {
    "appended": appended,
    "holds": lambda said, blocks: adapter.holds_all(said, step_of("", blocks).appended),
    "without": lambda said, texts: adapter.without_blocks(said, texts.split()),
    "passing": lambda said, blocks, run=None: adapter.place_passing(said, step_of("", blocks), run),
    "reveals": lambda said, found, active, deferred="": adapter.place_reveals(
        said, step_of("", "", found, active), deferred.split()
    ),
    "without reveals": adapter.without_reveals,
    "announced": lambda said: sorted(adapter.announced(said)),
    "reminders": lambda said: adapter.as_reminders(said, "<{text}>"),
    "thinking": lambda said, turns, blocks: adapter.without_ended_thinking(said, step_of(turns, blocks)),
    "joined": adapter.joined_alike,
    "cached": lambda said, turns, blocks: adapter.with_cache_points(said, step_of(turns, blocks), "1h"),
    "words": lambda said: adapter.user_words(said).replace("\n", "/"),
    "together": lambda said: " ".join(adapter.called_together(said)),
    "results": lambda said: " ".join(
        f"{each.tool}:{each.call_id}{'!' * each.is_error}/{each.batch}/{(each.arguments or {}).get('n')}"
        for each in adapter.tool_results(said)
    ),
}


def done(what: str, said: str) -> str:
    """What is done, its arguments behind semicolons."""
    name, *arguments = (each.strip() for each in what.split(";"))
    given = messages(said)
    made = DONE[name](given, *arguments)
    assert shape(given) == shape(messages(said))  # the host's own stay as they are
    return shape(made) if isinstance(made, list) and all(hasattr(each, "parts") for each in made) else str(made)


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
def test_what_is_done_with_messages_is_what_the_table_says() -> None:
    assert {(what, said): done(what, said) for what, said, _ in ROWS} == {
        (what, said): told for what, said, told in ROWS
    }
