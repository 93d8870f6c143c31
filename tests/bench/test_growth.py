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
from dataclasses import replace
from functools import partial
from itertools import count as numbers
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from bench.test_template_speed import HANDLEBARS, ITEMS, JINJA, JINJA_LOOP, LOOP, VALUES, children
from cuecard import Engine, Entity, Memory, Turn, compile_template
from cuecard.files.tokens import uncached_count
from cuecard.sources.memory import memory_text
from cuecard.sources.tools import protocols_text
from cuecard.types import Json, TokenCounter

pytestmark = pytest.mark.bench

Work = Callable[[], object]
AT_MOST = 1.3
"""Exponents above are a cliff; 1.15 is what we want, and shared machines are not that exact."""

SENTENCE = "Say what you are going to do, use one tool at a time, and tell the user what came of it in plain words. "
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
