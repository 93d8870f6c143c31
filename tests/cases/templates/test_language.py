"""Handlebars as Handlebars.js 4.7 defines it: our own table by category, and the official cases where they are at hand.

`CUECARD_DATA` names a folder whose `handlebars/*.json` hold official cases; without it, that part is skipped by name.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cuecard import compile_template
from cuecard.types import TemplateError

OWN = json.loads((Path(__file__).parent / "language.json").read_text(encoding="utf-8"))
CASES = [(category, template, expected) for category, cases in OWN["cases"].items() for template, expected in cases]
OFFICIAL = Path(os.environ.get("CUECARD_DATA", "")) / "handlebars"
NOT_DATA = {"regressions#23": "its data is a JavaScript array with holes, which JSON cannot say"}


@pytest.mark.parametrize(("category", "template", "expected"), CASES)
def test_our_own_cases(category: str, template: str, expected: str) -> None:
    made = compile_template(template, partials=OWN["partials"], strict=False, escaping="handlebars")

    assert made.render(OWN["data"]) == expected


@pytest.mark.skipif(not os.environ.get("CUECARD_DATA"), reason="the official cases: set CUECARD_DATA to their folder")
@pytest.mark.parametrize("suite", ["core", "strict", "mustache", "parse-only"])
def test_official_cases(suite: str) -> None:
    wrong = []
    for case in json.loads((OFFICIAL / f"{suite}.json").read_text(encoding="utf-8")):
        outcome = _outcome(case, render=suite != "parse-only")
        expected = None if case.get("exception") else case.get("expected", "accepted")
        if outcome != expected and case["id"] not in NOT_DATA:
            wrong.append((case["id"], outcome, expected))

    assert wrong == []


def _outcome(case: dict[str, Any], *, render: bool) -> str | None:
    """What it prints, `accepted`, or None when it is refused."""
    options = case.get("options") or {}
    try:
        made = compile_template(
            case["template"],
            partials=case.get("partials"),
            strict=bool(options.get("strict")),
            assume_objects=bool(options.get("assumeObjects")),
            escaping="handlebars",
        )
        # Some cases render a list or a text, which `Template.render` refuses: its values have names.
        whole = made.part(made.program.body)
        return whole.render(case["data"], (case.get("runtime") or {}).get("data")) if render else "accepted"
    except TemplateError:
        return None
