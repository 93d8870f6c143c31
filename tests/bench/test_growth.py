"""How costs grow, and what large agents cost side by side with the least that their work takes.

An exponent is fitted over sizes of which the largest is at least 16 times the smallest: 1 is linear. Processor time,
each size in turn in every round, and the least of all rounds: other work on the machine only ever adds.
"""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count as numbers
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from bench.test_template_speed import HANDLEBARS, ITEMS, JINJA, JINJA_LOOP, LOOP, VALUES, children
from cuecard import Conversation, Engine, Entity, Memory, ToolResult, Turn, compile_template
from cuecard.files.tokens import uncached_count
from cuecard.sources.memory import memory_text
from cuecard.sources.tools import protocols_text
from cuecard.types import Json, TokenCounter

pytestmark = pytest.mark.bench

Work = Callable[[], object]
AT_MOST = 1.3
"""Exponents above are a cliff; 1.15 is what we want, and shared machines are not that exact."""

SENTENCE = "Say what you are going to do, use one tool at a time, and tell the user what came of it in plain words. "
NOW = datetime(2026, 11, 20, tzinfo=UTC)
SECTIONS = """\
sections:
- {id: rules, text: "Be kind."}
- {id: howto, text: "<howto>\\n{{{activeProtocols}}}\\n</howto>"}
"""
PORTION = 10
"""How many tools a search finds."""
LAYOUT = 'layout: {heading: "## {{title}}\\n", separator: "\\n\\n"}\n'


def least(works: Mapping[Any, Work], *, rounds: int = 9) -> dict[Any, float]:
    """Microseconds of each, the least of several rounds."""
    taken: dict[Any, float] = dict.fromkeys(works, math.inf)
    for work in works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            gc.collect(1)
            start = process_time()
            work()
            taken[name] = min(taken[name], (process_time() - start) * 1e6)
    return taken


def exponent(taken: Mapping[int, float]) -> float:
    """The slope of a straight line through sizes and times, both as logarithms."""
    points = [(math.log(size), math.log(time)) for size, time in taken.items()]
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return math.fsum((a - x) * (b - y) for a, b in points) / math.fsum((a - x) ** 2 for a, _ in points)


def opened(folder: Path, text: str) -> Engine:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    return Engine.open(folder / "agent.yaml")


def counted_call(engine: Engine, turns: Callable[[], Turn]) -> Work:
    """A call whose tokens are read."""
    return lambda: sum(segment.tokens for segment in engine.prepare_call(turns()).prompt.segments)


def changing() -> Callable[[], Turn]:
    """Turns whose value is another one each time."""
    values = numbers()
    return lambda: Turn(inputs={"x": f"value {next(values)}"})


def listed(folder: Path, size: int, body: str, head: str = "") -> Engine:
    """A list of sections, the first with an input."""
    sections = "".join(
        f"- {{id: s{n}, title: T{n}, priority: {n % 7}, text: '{body}{n}{' {{x}}' if n == 0 else ''}'}}\n"
        for n in range(size)
    )
    return opened(folder, f"agent: a\n{LAYOUT}{head}inputs: {{x: {{type: string}}}}\nsections:\n{sections}")


def of_sections(folder: Path, size: int, head: str = "") -> Work:
    return counted_call(listed(folder / f"{size}{len(head)}", size, "A line of the list, number ", head), changing())


def of_entities(folder: Path, size: int) -> Work:
    kept = "memory: {per_type: 100, total: 1000}\n"
    engine = opened(folder / f"{size}", f"agent: a\n{kept}sections: [{{id: m, text: '{{{{{{workingMemory}}}}}}'}}]\n")
    memory = Memory(tuple(Entity(f"type-{n % 10}", f"id-{n}", f"Thing {n}") for n in range(size)))
    return counted_call(engine, lambda: Turn(memory=memory))


def of_values(folder: Path, value: Json, text: str) -> Work:
    kind = "string" if isinstance(value, str) else "list"
    section = json.dumps(text)
    engine = opened(
        folder, f"agent: a\n{LAYOUT}inputs: {{x: {{type: {kind}}}}}\nsections: [{{id: a, title: A, text: {section}}}]\n"
    )
    uncounted = replace(engine, count=TokenCounter(engine.count.source, len))
    return lambda: uncounted.prepare_call(Turn(inputs={"x": value}))


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


ROW = LOOP.replace("tools", "x")

GROWTH: dict[str, tuple[Sequence[int], Callable[[Path, int], Work]]] = {
    "sections": ((40, 160, 640), of_sections),
    "sections over the budget": ((40, 160, 640), partial(of_sections, head="budget: {total: 100}\n")),
    "entities": ((60, 240, 960), of_entities),
    "rows of a value": ((500, 2_000, 8_000), lambda at, size: of_values(at / f"{size}", [*ITEMS * 8][:size], ROW)),
    "characters of a value": (
        (20_000, 80_000, 320_000),
        lambda at, size: of_values(at / f"{size}", (SENTENCE * 4_000)[:size], "{{{x}}}"),
    ),
    "characters of a value in German": (
        (20_000, 80_000, 320_000),
        lambda at, size: of_values(at / f"{size}", ("Größer, schöner und weiter. " * 20_000)[:size], "{{{x}}}"),
    ),
    "characters of markup": (
        (20_000, 80_000, 320_000),
        lambda at, size: of_values(at / f"{size}", ("<p class='a'>Hello <b>you</b></p>\n" * 20_000)[:size], "{{{x}}}"),
    ),
    "found tools": ((50, 200, 800), of_found_tools),
    "results": ((250, 1_000, 4_000), of_results),
    "catalogue": ((300, 1_200, 4_800), of_the_catalogue),
    "files": ((10, 40, 160), of_files),
    "skills": ((10, 40, 160), of_skills),
}
"""What grows: sizes, and the work of a size."""


@pytest.mark.parametrize("what", GROWTH)
def test_costs_grow_linearly(what: str, tmp_path: Path) -> None:
    sizes, work = GROWTH[what]
    taken = least({size: work(tmp_path, size) for size in sizes})
    found = exponent(taken)

    times = ", ".join(f"{size:,}: {time / 1e3:.2f} ms" for size, time in taken.items())
    print(f"\n  {what:34} exponent {found:5.2f}   {times}")
    assert found <= AT_MOST


def shown(title: str, ratio: float, wanted: float) -> None:
    print(f"\n  {title:64} {ratio:6.2f}x   wanted {wanted:.2f}x")


def test_many_sections_against_one_pass_of_tiktoken(tmp_path: Path) -> None:
    engines = {size: listed(tmp_path / f"{size}", size, SENTENCE * 9) for size in (10, 40)}
    plain = uncached_count("o200k_base")
    whole = "".join(segment.text for segment in engines[40].prepare_call(Turn(inputs={"x": "a"})).prompt.segments)
    works: dict[Any, Work] = {size: counted_call(engine, changing()) for size, engine in engines.items()}
    taken = least({**works, "tiktoken": lambda: plain(whole)}, rounds=30)
    tracemalloc.start()
    for _ in range(100):
        works[40]()
    held = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()

    shown("40 sections of 1 KB, the first changing, x one pass of tiktoken", taken[40] / taken["tiktoken"], 2)
    shown("the same, growth from 10 to 40", taken[40] / taken[10], 5)
    print(f"  memory after 100 such calls: +{held:.1f} MiB, at most 8")
    assert held <= 8


def test_sections_over_the_budget_against_sections_within_it(tmp_path: Path) -> None:
    works = {head: of_sections(tmp_path / f"{len(head)}", 320, head) for head in ("", "budget: {total: 100}\n")}
    within, over = least(works, rounds=20).values()

    shown("320 sections over the total, x within it", over / within, 3)


def repeated(render: Callable[[Mapping[str, Any]], str], values: Mapping[str, Any], times: int) -> None:
    for _ in range(times):
        render(values)


def test_rows_against_jinja(tmp_path: Path) -> None:
    environment: Any = pytest.importorskip("jinja2").Environment(
        autoescape=True, trim_blocks=True, keep_trailing_newline=True
    )
    rows = environment.from_string(JINJA_LOOP.replace("in tools", "in x"))
    theirs: dict[str, tuple[Any, str, Mapping[str, Any], float]] = {
        "6 KB": (environment.from_string(JINJA), HANDLEBARS, VALUES, 0.20),
        "6 KB and a loop of 10 x 4": (environment.from_string(JINJA + JINJA_LOOP), HANDLEBARS + LOOP, VALUES, 0.35),
        "1,000 rows of 4 fields": (rows, ROW, {"x": ITEMS}, 0.40),
    }
    taken = least({"Jinja2": partial(rows.render, x=ITEMS), "call": of_values(tmp_path, [*ITEMS], ROW)}, rounds=30)
    shown("1,000 rows of 4 fields through prepare_call, x Jinja2", taken["call"] / taken["Jinja2"], 1.0)
    for label, (other, text, values, wanted) in theirs.items():
        ours = compile_template(text, escaping="marks")
        times = 50 if values is VALUES else 5
        renders: dict[str, Callable[[Mapping[str, Any]], str]] = {"Jinja2": other.render, "marks": ours.render}
        works: dict[Any, Work] = {name: partial(repeated, each, values, times) for name, each in renders.items()}
        taken = least(works, rounds=20)
        shown(f"template with marks, {label}, x Jinja2", taken["marks"] / taken["Jinja2"], wanted)


def test_a_call_of_the_cms_against_the_naive_way() -> None:
    environment: Any = pytest.importorskip("jinja2").Environment(autoescape=True, keep_trailing_newline=True)
    folder = Path(__file__).parents[2] / "prompts" / "cms"
    engine, plain = Engine.open(folder), uncached_count("o200k_base")
    text = (folder / "agent.xml").read_text(encoding="utf-8")
    for name in ("workingMemory", "activeProtocols"):
        text = text.replace(f"{{{{{{{name}}}}}}}", f"{{{{ {name}|safe }}}}")
    template, core = environment.from_string(text), engine.agent.core
    memory = Memory(tuple(Entity("page" if n % 2 else "post", f"id-{n}", f"Thing {n}") for n in range(10)))

    def naive() -> int:
        told = memory_text(memory, engine.agent.spec.memory, engine.words.memory)[0]
        tools = protocols_text(core, engine.agent.protocols)
        return plain(template.render(workingMemory=told, currentDate="2026-11-20", activeProtocols=tools))

    taken = least({"naive": naive, "call": counted_call(engine, lambda: Turn(memory=memory))}, rounds=60)
    shown("prepare_call of the CMS, x compiled Jinja2 with tiktoken", taken["call"] / taken["naive"], 0.35)


def test_three_more_tools_after_many(tmp_path: Path) -> None:
    engine = knowing(tmp_path, 1_000)
    names = [name for name in engine.tools if name != "tool_search"][-3:]
    chats = {found: begun(engine, searches(engine, found)) for found in (100, 900)}
    # Each copy goes on from the same place, so that no step begins where the one before has ended.
    results = [ToolResult("tool_search", {"tools": names}, "last")]
    works = {found: partial(lambda chat: copy(chat).step(results), chat) for found, chat in chats.items()}
    few, many = least(works, rounds=60).values()

    shown("a step, 3 more tools after 900 found, x after 100", many / few, 5)


@pytest.mark.parametrize("tools", [None, ("a", "b")], ids=["", "with the host's tools told"])
def test_one_more_result_after_many(tmp_path: Path, tools: tuple[str, ...] | None) -> None:
    engine, new = knowing(tmp_path, 48), numbers(1_000_000)
    chats = {size: begun(engine, [page(number) for number in range(size)]) for size in (50, 8_000)}
    works = {
        size: partial(lambda chat: chat.step([page(next(new))], tools=tools), chat) for size, chat in chats.items()
    }
    few, many = least(works, rounds=200).values()

    shown(f"a step after 8,000 results, x after 50{', tools told' if tools else ''}", many / few, 1.2)


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


FIRST = "from cuecard import Engine; e = Engine.open('prompts/cms'); e.prepare_step(e.prepare_call())"


def test_a_first_step_against_importing_what_it_needs() -> None:
    def start(statement: str) -> float:
        before = children()
        subprocess.run([sys.executable, "-c", statement], check=True, cwd=Path(__file__).parents[2], env={**os.environ})
        return children() - before

    statements = {"nothing": "", "imports": "import pydantic, ruamel.yaml; pydantic.BaseModel", "first": FIRST}
    taken = {name: min(start(statement) for _ in range(5)) for name, statement in statements.items()}
    own = {name: time - taken["nothing"] for name, time in taken.items()}
    print(
        f"\n  a first step: {own['first'] * 1e3:.0f} ms, {own['first'] / own['imports']:.1f}x importing what it needs"
    )
    assert own["first"] > 0
