"""Importing, compiling and rendering, side by side in one run with pybars3 and Jinja2 where they are installed.

Two templates that print the same bytes everywhere: a prompt of about 6 kB, and the same with a loop over ten tools of
four fields. Each engine does its turn in every round, so that all of them share the machine's good and bad moments.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cuecard import compile_template
from cuecard.types import Escaping

pytestmark = pytest.mark.bench

Render = Callable[[], str]

RULE = "Say what you are going to do, do it with one tool at a time, and say what came of it in a sentence. "
HANDLEBARS = (
    "<agent>\n<identity>\nYou help {{user}} with {{site}}.\n"
    + RULE * 14
    + "\n</identity>\n{{#if formal}}\n<tone>Be formal.</tone>\n{{else}}\n<tone>Be brief.</tone>\n{{/if}}\n<rules>\n"
    + RULE * 40
    + "\n</rules>\n<memory>\n{{{memory}}}\n</memory>\n<date>{{date}}</date>\n</agent>\n"
)
LOOP = "Tools: {{#each tools}}- {{name}}: {{summary}} (of {{category}}, {{uses}} uses) {{/each}}.\n"
JINJA = (
    HANDLEBARS.replace("{{{memory}}}", "{{ memory|safe }}")
    .replace("{{#if formal}}", "{% if formal %}")
    .replace("{{else}}", "{% else %}")
    .replace("{{/if}}", "{% endif %}")
)
JINJA_LOOP = (
    LOOP.replace("{{#each tools}}", "{% for tool in tools %}")
    .replace("{{/each}}", "{% endfor %}")
    .replace("{{", "{{ tool.")
    .replace("}}", " }}")
)
VALUES = {
    "user": "Ada & Grace",
    "site": "the site of a bakery",
    "formal": False,
    "memory": '  - "About Us" (page-1)\n' * 80,
    "date": "2026-11-20",
    "tools": [
        {"name": f"tool_{n}", "summary": f"does thing number {n}", "category": "pages < posts", "uses": n}
        for n in range(10)
    ],
}


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: template text to something that renders; its own spelling of the two templates."""

    name: str
    compile: Callable[[str], Render]
    templates: tuple[str, str] = (HANDLEBARS, HANDLEBARS + LOOP)


def ours(escaping: Escaping, *, strict: bool) -> Callable[[str], Render]:
    def compiled(text: str) -> Render:
        template = compile_template(text, strict=strict, escaping=escaping)
        return lambda: template.render(VALUES)

    return compiled


def pybars(text: str) -> Render:
    compiler: Any = importlib.import_module("pybars").Compiler()
    template = compiler.compile(text)
    return lambda: str(template(VALUES))


def jinja(text: str) -> Render:
    environment: Any = importlib.import_module("jinja2").Environment(
        autoescape=True, trim_blocks=True, keep_trailing_newline=True, cache_size=0
    )
    template = environment.from_string(text)
    return lambda: str(template.render(VALUES))


OWN = (
    Engine("cuecard, as Handlebars.js", ours("handlebars", strict=False)),
    Engine("cuecard, as by default", ours("text", strict=True)),
)
OTHERS = {
    "pybars": Engine("pybars3", pybars),
    "jinja2": Engine("Jinja2", jinja, (JINJA, JINJA + JINJA_LOOP)),
}


def children() -> float:
    """Seconds of processor time that the finished child processes took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def medians(
    works: dict[str, Callable[[], object]], *, rounds: int, each: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Microseconds of one call, the median over rounds in which everybody has a turn.

    Processor time, which other programs on the machine do not take part in.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = clock()
            for _ in range(each):
                work()
            times[name].append((clock() - start) / each * 1e6)
    return {name: statistics.median(found) for name, found in times.items()}


def first_render(engine: Engine, text: str) -> Callable[[], object]:
    """Compiling, and whatever an engine puts off until it renders."""
    return lambda: engine.compile(text)()  # noqa: PLW0108 - compiling belongs to what is measured


@pytest.mark.parametrize("module", OTHERS)
def test_speed_against(module: str) -> None:
    if not importlib.util.find_spec(module):
        pytest.skip(f"{OTHERS[module].name} is not installed")
    other = OTHERS[module]
    for index, label in enumerate(("prompt of 6 kB", "with a loop of 10 x 4")):
        engines = (other, *OWN)
        renders = {engine.name: engine.compile(engine.templates[index]) for engine in engines}
        compiles = {engine.name: first_render(engine, engine.templates[index]) for engine in engines}
        rendered = medians(dict(renders), rounds=60, each=100)
        compiled = medians(compiles, rounds=8, each=1)

        assert len({render() for render in renders.values()}) == 1
        print(f"\n{label}")
        for name in renders:
            ratios = f"{rendered[name] / rendered[other.name]:6.3f}x  {compiled[name] / compiled[other.name]:7.4f}x"
            print(f"  {name:26} render {rendered[name]:7.2f} us  compile {compiled[name] / 1e3:7.3f} ms  {ratios}")


ITEMS = [{**VALUES["tools"][0], "name": f"tool_{n}", "uses": n} for n in range(1_000)]  # type: ignore[index]
MANY = {
    "items": ITEMS,
    "names": [item["name"] for item in ITEMS],
    "site": "bakery",
    "by": {f"k{n}": n for n in range(1_000)},
}
ROW = "- {{name}}: {{summary}}\n"
AGAINST_JINJA = {
    "loop, four fields": (LOOP.replace("tools", "items"), JINJA_LOOP.replace("in tools", "in items"), 0.40),
    "loop, a text": ("{{#each names}}- {{this}}\n{{/each}}", "{% for n in names %}- {{ n }}\n{% endfor %}", 0.40),
    "loop, numbered": (
        "{{#each names}}{{@index}}. {{this}}\n{{/each}}",
        "{% for n in names %}{{ loop.index0 }}. {{ n }}\n{% endfor %}",
        0.40,
    ),
    "loop, with commas between": (
        "{{#each items}}{{name}}{{#unless @last}}, {{/unless}}{{/each}}",
        "{% for i in items %}{{ i.name }}{% if not loop.last %}, {% endif %}{% endfor %}",
        0.40,
    ),
    "loop, keys and values": (
        "{{#each by}}{{@key}}={{this}}\n{{/each}}",
        "{% for k, v in by.items() %}{{ k }}={{ v }}\n{% endfor %}",
        0.40,
    ),
    "loop, a value from outside": (
        "{{#each items}}{{name}} {{../site}}\n{{/each}}",
        "{% for i in items %}{{ i.name }} {{ site }}\n{% endfor %}",
        0.40,
    ),
    "partials, in a loop": (
        "{{#each items}}{{> row}}{{/each}}",
        "{% for i in items %}{% include 'row' %}{% endfor %}",
        0.15,
    ),
    "partials, one by one": ("{{> site}}" * 200, "{% include 'site' %}" * 200, 0.15),
}
"""Templates in our spelling and in Jinja2's, with how many times as long as Jinja2 ours may take."""


@pytest.mark.parametrize("label", AGAINST_JINJA)
def test_loops_and_partials_against_jinja(label: str) -> None:
    jinja2: Any = pytest.importorskip("jinja2")
    text, other, at_most = AGAINST_JINJA[label]
    loader = jinja2.DictLoader({"row": ROW.replace("{{", "{{ i.").replace("}}", " }}"), "site": "- {{ site }}\n"})
    environment = jinja2.Environment(autoescape=True, trim_blocks=False, keep_trailing_newline=True, loader=loader)
    theirs = environment.from_string(other)
    works: dict[str, Callable[[], object]] = {"Jinja2": lambda: theirs.render(MANY)}
    partials = {"row": ROW, "site": "- {{site}}\n"}
    plain = compile_template(text, partials=partials, escaping="handlebars", strict=False)
    works["cuecard, as Handlebars.js"] = partial(plain.render, MANY)
    works["cuecard, as by default"] = partial(compile_template(text, partials=partials).render, MANY)
    assert len({work() for work in works.values()}) == 1
    taken = medians(works, rounds=40, each=3)

    print(f"\n{label}: {len(str(theirs.render(MANY))):,} characters, at most {at_most:.2f}x")
    for name, microseconds in taken.items():
        print(f"  {name:26} render {microseconds:7.1f} us  {microseconds / taken['Jinja2']:6.3f}x")
    assert max(taken[name] for name in works if name != "Jinja2") <= at_most * taken["Jinja2"]


IMPORTS = {
    "nothing": "",
    "pybars3": "import pybars",
    "cuecard.template": "import cuecard.template",
    "... and its compiler": "from cuecard.template import compile_template",
}
"""Statements, each for a fresh interpreter. The package imports its names on first use; the last line counts that."""


def test_import_against_pybars3(tmp_path: Path) -> None:
    if not importlib.util.find_spec("pybars"):
        pytest.skip("pybars3 is not installed")
    # All of them are imported from compiled files, as where they are installed.
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}

    def start(statement: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", statement], check=True, env=settings)

    works = {name: start(statement) for name, statement in IMPORTS.items()}
    for work in works.values():
        work()
    taken = medians(works, rounds=15, each=1, clock=children)

    assert any(tmp_path.rglob("pybars*/**/*.pyc"))
    print("\nimport, over what an interpreter takes to start")
    base = taken.pop("nothing")
    for name, microseconds in taken.items():
        own = microseconds - base
        print(f"  {name:26} {own / 1e3:7.1f} ms  {own / (taken['pybars3'] - base):6.3f}x")
