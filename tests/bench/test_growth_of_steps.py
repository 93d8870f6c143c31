"""How the costs of steps grow with what was found, answered and known, and long conversations beside short ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import copy
from datetime import UTC, datetime
from functools import partial
from itertools import count as numbers
from pathlib import Path

import pytest

from bench.test_growth import AT_MOST, Work, counted_call, exponent, least, opened, shown
from cuecard import Conversation, Engine, ToolResult, Turn

pytestmark = pytest.mark.bench

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SECTIONS = """\
sections:
- {id: rules, text: "Be kind."}
- {id: howto, text: "<howto>\\n{{{activeProtocols}}}\\n</howto>"}
"""
PORTION = 10
"""How many tools a search finds."""


def knowing(folder: Path, tools: int) -> Engine:
    """An agent with so many tools, each with instructions."""
    names = ["tool_search", *(f"tool_{at}_of_many" for at in range(tools))]
    for first in range(0, len(names), 500):
        entries = "".join(f"  {name}: {{before: look at {name}}}\n" for name in names[first : first + 500])
        (folder / "t").mkdir(parents=True, exist_ok=True)
        (folder / f"t/{first}.yaml").write_text(f"category: many\ntools:\n{entries}", encoding="utf-8")
    head = "agent: many\ntools: {instructions: t, core: [tool_search]}\ndelivery: append\n"
    return opened(folder, head + SECTIONS)


def searches(engine: Engine, found: int) -> list[ToolResult]:
    """The results of searches that have found so many tools."""
    names = [name for name in engine.tools if name != "tool_search"][:found]
    portions = [names[at : at + PORTION] for at in range(0, found, PORTION)]
    return [ToolResult("tool_search", {"tools": each}, f"search-{at}") for at, each in enumerate(portions)]


def page(number: int) -> ToolResult:
    return ToolResult("tool_1_of_many", {"data": {"id": f"page-{number}"}}, f"result-{number}")


def begun(engine: Engine, results: Sequence[ToolResult]) -> Conversation:
    chat = engine.conversation()
    chat.user(Turn(now=NOW))
    for result in results:
        chat.step([result])
    return chat


def of_found_tools(folder: Path, size: int) -> Work:
    engine = knowing(folder / f"{size}", 1_000)
    call, history = engine.prepare_call(Turn(now=NOW)), searches(engine, size)
    return lambda: engine.prepare_step(call, history)


def of_results(folder: Path, size: int) -> Work:
    engine = knowing(folder / f"{size}", 48)
    call, history = engine.prepare_call(Turn(now=NOW)), [page(number) for number in range(size)]
    return lambda: engine.prepare_step(call, history)


def of_the_catalogue(folder: Path, size: int) -> Work:
    """A step that finds ten tools, and the call before it."""
    engine = knowing(folder / f"{size}", size)
    history = searches(engine, PORTION)
    return lambda: [engine.prepare_step(engine.prepare_call(Turn(now=NOW)), history) for _ in range(10)]


def of_files(folder: Path, size: int) -> Work:
    at = folder / f"{size}"
    (at / "notes").mkdir(parents=True)
    for number in range(size):
        (at / f"notes/{number}.md").write_text(f"# Note {number}\nBe kind.\n", encoding="utf-8")
    entries = ", ".join(f"{{path: notes/{number}.md}}" for number in range(size))
    engine = opened(at, f"agent: a\nsections:\n- {{id: notes, files: {{entries: [{entries}]}}}}\n")
    return counted_call(engine, lambda: Turn(now=NOW))


def of_skills(folder: Path, size: int) -> Work:
    at = folder / f"{size}"
    for number in range(size):
        (at / f"skills/s{number}").mkdir(parents=True)
        text = f"---\nname: s{number}\ndescription: What to do with number {number}.\n---\nDo it.\n"
        (at / f"skills/s{number}/SKILL.md").write_text(text, encoding="utf-8")
    engine = opened(at, "agent: a\nsections:\n- {id: skills, skills: {roots: [skills]}}\n")
    return counted_call(engine, lambda: Turn(now=NOW))


GROWTH: dict[str, tuple[Sequence[int], Callable[[Path, int], Work]]] = {
    "found tools": ((50, 200, 800), of_found_tools),
    "results": ((250, 1_000, 4_000), of_results),
    "catalogue": ((300, 1_200, 4_800), of_the_catalogue),
    "files": ((10, 40, 160), of_files),
    "skills": ((10, 40, 160), of_skills),
}
"""What grows: sizes, and the work of a size."""


@pytest.mark.parametrize("what", GROWTH)
def test_costs_of_steps_grow_linearly(what: str, tmp_path: Path) -> None:
    sizes, work = GROWTH[what]
    taken = least({size: work(tmp_path, size) for size in sizes})
    found = exponent(taken)

    times = ", ".join(f"{size:,}: {time / 1e3:.2f} ms" for size, time in taken.items())
    print(f"\n  {what:34} exponent {found:5.2f}   {times}")
    assert found <= AT_MOST


def test_three_more_tools_after_many(tmp_path: Path) -> None:
    engine = knowing(tmp_path, 1_000)
    names = [name for name in engine.tools if name != "tool_search"][-3:]
    chats = {found: begun(engine, searches(engine, found)) for found in (100, 900)}
    # Each copy goes on from the same place, so that no step begins where the one before has ended.
    results = [ToolResult("tool_search", {"tools": names}, "last")]
    works = {found: partial(lambda chat: copy(chat).step(results), chat) for found, chat in chats.items()}
    few, many = least(works, rounds=60).values()

    shown("a step, 3 more tools after 900 found, x after 100", many / few, 5)


def test_one_more_result_after_many(tmp_path: Path) -> None:
    engine, new = knowing(tmp_path, 48), numbers(1_000_000)
    chats = {size: begun(engine, [page(number) for number in range(size)]) for size in (50, 8_000)}
    works = {size: partial(lambda chat: chat.step([page(next(new))]), chat) for size, chat in chats.items()}
    few, many = least(works, rounds=200).values()

    shown("a step after 8,000 results, x after 50", many / few, 1.2)


def test_a_stored_conversation(tmp_path: Path) -> None:
    engine = knowing(tmp_path, 48)
    text = engine.dump(begun(engine, [page(number) for number in range(2_000)]))
    taken = least({"load": lambda: engine.load(text), "json": lambda: json.loads(text)}, rounds=30)

    shown("load of 2,000 results, x json.loads of the text", taken["load"] / taken["json"], 3)


def test_an_empty_step_of_a_large_catalogue(tmp_path: Path) -> None:
    engines = {size: knowing(tmp_path / f"{size}", size) for size in (48, 5_000)}
    calls = {size: engine.prepare_call(Turn(now=NOW)) for size, engine in engines.items()}
    works = {size: partial(engine.prepare_step, calls[size]) for size, engine in engines.items()}
    few, many = least(works, rounds=200).values()
    shown("an empty step at 5,000 tools, x at 48", many / few, 1.5)
    prepared = {size: partial(engine.prepare_call, Turn(now=NOW)) for size, engine in engines.items()}
    few, many = least(prepared, rounds=100).values()
    shown("a call at 5,000 tools, x at 48", many / few, 1.5)
