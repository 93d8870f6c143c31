"""Whatever stands under `sections` and `profiles` beside a template: an engine, or errors that each have a place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, Problem, SpecError, Turn
from cuecard.agent.build import make_draft
from cuecard.agent.lint import lint
from cuecard.agent.world import Memo
from property.cores import NOW, Core, cores, engine_of, sources_of, with_template

Spec = dict[str, Any]

SCHEMA = (Path(__file__).parents[2] / "schemas" / "core-template.rng").read_text(encoding="utf-8")
NAMES = st.sampled_from(["a", "b", "tools", "new", "agent", "/agent", "if-flag", "01", "a-2", "x y", "", "A", "tool"])
TEXTS = st.sampled_from(
    [
        "x",
        "",
        "<b>x</b>",
        "<b>",
        "{{{said}}}",
        "{{nobody}}",
        "{{#if flag}}",
        "{{{activeProtocols}}}",
        "<a>x</a>",
        "{{> gone}}",
    ]
)
ODD: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers(-1, 3) | NAMES | st.just([]) | st.just({})
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "id": NAMES | NAMES | NAMES | ODD,
        "text": TEXTS | ODD,
        "before": NAMES | ODD,
        "after": NAMES | ODD,
        "remove": st.booleans() | ODD,
        "when": NAMES | ODD | st.builds(lambda name: {"not": name}, NAMES),
        "budget": st.integers(0, 30) | ODD,
        "priority": ODD,
        "role": st.sampled_from(["user", "system", "robot"]) | ODD,
        "tier": st.sampled_from(["static", "call", "step"]) | ODD,
        "title": TEXTS | ODD,
        "group": NAMES,
        "trust": st.sampled_from(["data", "author"]),
        "clock": st.just({}) | ODD,
        "rows": st.just({"input": "rows"}) | ODD,
        "file": ODD,
        "unknown": ODD,
    },
)
LISTS = st.lists(ENTRIES | ENTRIES | ENTRIES | ODD, max_size=4) | ODD
CHOSEN = st.fixed_dictionaries(
    {}, optional={"include": st.lists(NAMES, max_size=3) | ODD, "exclude": ODD, "sections": LISTS}
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "sections": LISTS,
        "profiles": st.dictionaries(NAMES, CHOSEN | ODD, max_size=2) | ODD,
        "variants": st.dictionaries(NAMES, CHOSEN, max_size=1),
        "layout": st.just({}) | ODD,
        "template": st.sampled_from([None, "a.xml", {"file": "a.xml"}, {"escaping": "names"}, "", 3]),
    },
)


@given(core=cores(), below=SPECS, above=SPECS, broken=st.sampled_from(["", "", "", "</a>", "{{#if"]))
def test_an_engine_or_errors_with_places(core: Core, below: Spec, above: Spec, broken: str) -> None:
    """All problems at once, each where people wrote it."""
    house, child = {**with_template({}), **below}, {"extends": "a.yaml", **above}
    engine, errors = attempt(house, core.template + broken, child)

    assert all(problem.span and problem.picture() for problem in errors)
    assert (engine is None) == bool(errors)
    if engine:
        step = engine.prepare_step(engine.prepare_call(Turn({"rows": ["x"]}, now=NOW)))
        assert sum(segment.tokens for segment in step.segments) == engine.count(step.system)


def attempt(house: Spec, template: str, child: Spec) -> tuple[Engine | None, list[Problem]]:
    try:
        return engine_of(house, template, child=child), []
    except SpecError as error:
        return None, [problem for problem in error.problems if problem.severity == "error"]


@given(core=cores(), below=SPECS, above=SPECS)
def test_what_the_linter_says_has_places_too(core: Core, below: Spec, above: Spec) -> None:
    sources = sources_of({**with_template({}), **below}, core.template, {"extends": "a.yaml", **above})
    draft = make_draft(sources, Memo())

    assert all(problem.span and problem.picture() for problem in lint(draft, count=len, schema=SCHEMA))
