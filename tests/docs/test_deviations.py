"""matrices/handlebars.md: each row is rendered by Handlebars.js, by us, and where it is about pybars3, by that.

The differences that docs/language.md names are rendered by both, too.

What Handlebars.js prints is skipped where Node or npm is missing, or the package cannot be installed.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pybars
import pytest

from cuecard import CuecardError, compile_template
from cuecard.template import HelperOptions
from cuecard.types import Json, TemplateSyntaxError
from docs.tables import BLOCK, code, rows
from handlebars_js.reference import HERE, Case, ask, install
from npm import Unavailable

ROOT = Path(__file__).parents[2]
HEAD = "| template | Handlebars.js | cuecard |"


def values(page: str) -> dict[str, Json]:
    """The values that the examples of a page render with."""
    (found,) = (json.loads(each["body"]) for each in BLOCK.finditer(page) if each["language"] == "json")
    given: dict[str, Json] = found
    return given


PAGE = (Path(__file__).parent / "matrices" / "handlebars.md").read_text(encoding="utf-8")
VALUES = values(PAGE)
LANGUAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
NAMED = list(rows(LANGUAGE, HEAD))
PARTIALS = {"card": "[{{name}}]"}
ROWS = list(rows(PAGE, HEAD))
STRICT = [
    row for row in ROWS if row in list(rows(PAGE.partition("## Values are data")[0], "| template | Handlebars.js |"))
]
BESIDE_PYBARS3 = list(rows(PAGE, "| template | Handlebars.js | pybars3 alone |"))
REFUSED_BY_PYBARS3 = [code(row[0]) for row in rows(PAGE, "| template | why |")]


def shown(cell: str) -> str:
    """What a cell says is printed, or that it is an error."""
    return cell if cell.startswith("error") else code(cell)


def ours(text: str, given: Mapping[str, Json] = VALUES, **settings: Any) -> str:
    try:
        return compile_template(text, partials=PARTIALS, **settings).render(given)
    except CuecardError as error:
        return f"error `{error.problems[0].code}`"


def theirs(texts: list[str], given: Mapping[str, Json] = VALUES) -> list[str]:
    try:
        install()
    except Unavailable as reason:
        pytest.skip(f"Handlebars.js is not to be had: {reason}")
    made = ask(Case(text, given, PARTIALS) for text in texts)
    return [outcome.text if outcome.text is not None else "error" for outcome in made]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_what_cuecard_does(row: list[str]) -> None:
    assert ours(code(row[0])) == shown(row[2])


@pytest.mark.parametrize("row", NAMED)
def test_a_difference_that_the_language_page_names_is_one(row: list[str]) -> None:
    assert ours(code(row[0]), values(LANGUAGE)) == shown(row[2])


def test_the_rows_are_what_handlebars_js_does() -> None:
    told = [*ROWS, *BESIDE_PYBARS3]

    assert theirs([code(row[0]) for row in told]) == [shown(row[1]) for row in told]
    assert theirs([code(row[0]) for row in NAMED], values(LANGUAGE)) == [shown(row[1]) for row in NAMED]


@pytest.mark.parametrize("row", STRICT)
def test_a_lax_template_is_plain_handlebars_js(row: list[str]) -> None:
    assert ours(code(row[0]), strict=False, escaping="handlebars") == shown(row[1])


@pytest.mark.parametrize("row", BESIDE_PYBARS3)
def test_a_row_is_what_pybars3_prints_alone_and_behind_our_parser(row: list[str]) -> None:
    text = code(row[0])

    assert str(pybars.Compiler().compile(text)(VALUES)) == shown(row[2])
    assert ours(text) == ours(text, backend="pybars3") == shown(row[3])


@pytest.mark.parametrize("text", REFUSED_BY_PYBARS3)
def test_pybars3_refuses_what_the_page_says(text: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_template(text, partials=PARTIALS, backend="pybars3")

    assert [problem.code for problem in caught.value.problems] == ["backend-unsupported"]


def test_every_option_of_handlebars_js_has_a_row() -> None:
    theirs([])
    types = (HERE / "node_modules" / "handlebars" / "types" / "index.d.ts").read_text(encoding="utf-8")
    (interface,) = re.findall(r"^interface CompileOptions \{(.*?)^\}", types, re.DOTALL | re.MULTILINE)
    options = re.findall(r"(\w+)\?:", interface)

    assert len(options) >= 10
    assert [name for name in options if not re.search(rf"`{name}\b", PAGE)] == []


def test_the_names_of_the_interface_exist() -> None:
    arguments = inspect.signature(compile_template).parameters
    fields = inspect.signature(HelperOptions).parameters

    assert {"strict", "assume_objects", "helpers", "partials"} <= {*arguments}
    assert {*re.findall(r"`options\.(\w+)`", PAGE)} <= {*fields}


def test_python_blocks_run() -> None:
    typed: dict[str, object] = {}
    for match in BLOCK.finditer(PAGE):
        if match["language"] == "python":
            exec(compile(match["body"], "handlebars.md", "exec", dont_inherit=True), typed)  # noqa: S102 - the test


def test_a_bare_context_is_refused() -> None:
    given: Any = ["Rye"]

    with pytest.raises(CuecardError):
        compile_template("{{#each this}}{{this}}{{/each}}").render(given)


@pytest.mark.parametrize("hook", ["helperMissing", "blockHelperMissing"])
def test_hooks_are_helpers_of_lax_templates(hook: str) -> None:
    def missing(*_values: Json, **_pairs: Json) -> str:
        return "hook"

    text = "{{absent 1}}" if hook == "helperMissing" else "{{#absent}}{{/absent}}"
    values: Mapping[str, Json] = {}

    assert compile_template(text, helpers={hook: missing}, strict=False).render(values) == "hook"
