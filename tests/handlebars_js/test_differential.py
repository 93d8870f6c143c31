"""Templates made at random, rendered by Handlebars.js 4.7 and by us: the same bytes, and the same refusals.

Skipped where Node or npm is missing, or the package cannot be installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import settings

from cuecard import CuecardError, compile_template
from handlebars_js.reference import Ask, Case, Outcome, handlebars, install
from handlebars_js.templates import broken_case, random_case
from handlebars_js.twins import HELPERS
from npm import Unavailable

AMOUNT = 4 * settings().max_examples


@pytest.fixture(scope="module", name="ask")
def _ask() -> Iterator[Ask]:
    try:
        install()
    except Unavailable as reason:
        pytest.skip(f"Handlebars.js is not to be had: {reason}")
    with handlebars() as ask:
        yield ask


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the same templates in every run, no secrets


def ours(case: Case) -> tuple[Outcome, str]:
    """What comes of a case here, and the code of the first problem."""
    try:
        template = compile_template(
            case.template,
            partials=case.partials,
            helpers=HELPERS,
            strict=case.strict,
            assume_objects=case.assumeObjects,
            escaping="handlebars",
        )
        return Outcome(template.render(case.data, case.private)), ""
    except CuecardError as error:
        return Outcome(error=str(error)), error.problems[0].code


def differences(ask: Ask, cases: list[Case], ours_alone: frozenset[str] = frozenset()) -> list[str]:
    """Where we print something else, or refuse what Handlebars.js accepts, or the other way round.

    Args:
        ask: what tells the outcomes of Handlebars.js.
        cases: the templates with their data.
        ours_alone: codes of problems that only we tell.
    """
    found = []
    for case, theirs in zip(cases, ask(cases), strict=True):
        mine, code = ours(case)
        if mine.text != theirs.text and code not in ours_alone:
            found.append(f"{case}\nHandlebars.js: {theirs}\nhere: {mine}")
    return found


def test_common_templates_print_the_same_bytes(ask: Ask) -> None:
    random = seeded(4)
    cases = [random_case(random, wide=False) for _ in range(AMOUNT)]

    assert differences(ask, cases) == []


def test_everything_that_handlebars_knows_prints_the_same_bytes(ask: Ask) -> None:
    random = seeded(7)
    cases = [random_case(random, wide=True) for _ in range(AMOUNT)]

    assert differences(ask, cases) == []


def test_broken_templates_are_refused_alike(ask: Ask) -> None:
    random = seeded(15)
    cases = [broken_case(random) for _ in range(AMOUNT)]

    assert differences(ask, cases, frozenset({"decorator"})) == []


def test_assume_objects_is_the_same(ask: Ask) -> None:
    random = seeded(16)
    cases = [replace(random_case(random, wide=True), assumeObjects=True) for _ in range(AMOUNT)]

    assert differences(ask, cases) == []


def test_strict_is_the_same_and_tells_some_mistakes_before_they_are_reached(ask: Ask) -> None:
    random = seeded(23)
    cases = [random_case(random, wide=True, strict=True) for _ in range(AMOUNT)]

    ours_alone = frozenset({"object-printed", "unknown-helper", "unknown-partial", "wrong-arguments"})
    assert differences(ask, cases, ours_alone) == []
