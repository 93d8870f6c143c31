"""Random templates, byte for byte against Handlebars.js itself; skipped by name where Node is missing."""

from __future__ import annotations

from random import Random

import pytest

from cuecard import CuecardError, compile_template
from handlebars_js.reference import Case, Outcome, Unavailable, ask, install
from handlebars_js.templates import broken_case, random_case
from handlebars_js.twins import HELPERS

TEMPLATES = 5000


@pytest.fixture(scope="module", autouse=True)
def handlebars_js() -> None:
    try:
        install()
    except Unavailable as reason:
        pytest.skip(f"Handlebars.js is not to be had: {reason}")


def test_random_templates_print_the_same_bytes() -> None:
    random = Random(20261120)  # noqa: S311 - for tests, not for secrets
    cases = [random_case(random, wide=number % 2 == 1) for number in range(TEMPLATES)]

    assert _differences(cases) == []


def test_broken_templates_are_refused_by_both() -> None:
    random = Random(20261121)  # noqa: S311 - the same
    cases = [broken_case(random) for _ in range(1000)]

    assert _differences(cases) == []


def _differences(cases: list[Case]) -> list[tuple[Case, Outcome, str | None]]:
    pairs = [(case, theirs, _ours(case)) for case, theirs in zip(cases, ask(cases), strict=True)]
    return [(case, theirs, ours) for case, theirs, ours in pairs if theirs.text != ours]


def _ours(case: Case) -> str | None:
    """The text; None where the template is refused or cannot be rendered, as in `Outcome`."""
    try:
        made = compile_template(
            case.template,
            partials=case.partials,
            helpers=HELPERS,
            strict=case.strict,
            assume_objects=case.assumeObjects,
            escaping="handlebars",
        )
        return made.render(case.data, case.private)
    except CuecardError:
        return None
