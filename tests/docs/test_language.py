"""docs/language.md: every example of the template language is run.

Beside it, `matrices/language.md` leaves out no construct and no mistake.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import cuecard.template
from cuecard import Engine, Turn, compile_template
from cuecard.template.backends.code import DATA
from cuecard.template.rules import BLOCKS, BUILT_IN, HOOKS, MAX_PARTIALS
from cuecard.template.syntax.lexer import _OPENINGS
from cuecard.template.syntax.parser import MAX_DEPTH
from cuecard.types import Limits, TemplateError
from docs.tables import BLOCK, cells, code, rows

ROOT = Path(__file__).parents[2]


class Shown:
    """A page with the values and the partials of its examples."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.blocks = list(BLOCK.finditer(self.text))
        self.values = json.loads(next(match["body"] for match in self.blocks if match["language"] == "json"))
        partials = re.findall(r"^`(\w+)\.md`:\n\n```handlebars\n(.*?)^```$", self.text, re.DOTALL | re.MULTILINE)
        # What a file ends with is part of it, and one-line partials stand within lines on this page.
        self.partials = {name: text if text.count("\n") > 1 else text.rstrip("\n") for name, text in partials}

    def render(self, template: str) -> str:
        return compile_template(template, partials=self.partials).render(self.values)

    def blocks_with_output(self) -> list[tuple[str, str]]:
        kinds = ("handlebars", "text")
        pairs = [pair for pair in pairwise(self.blocks) if tuple(block["language"] for block in pair) == kinds]
        return [(template["body"], shown["body"]) for template, shown in pairs]


PAGE = Shown(ROOT / "docs" / "language.md")
BOTH = (PAGE, Shown(Path(__file__).parent / "matrices" / "language.md"))
PRINTED = [(page, code(row[0]), code(row[1])) for page in BOTH for row in rows(page.text, "| template | prints |")]
REFUSED = [(page, code(row[0]), code(row[1])) for page in BOTH for row in rows(page.text, "| template | error |")]
WRITTEN = [(page, *pair) for page in BOTH for pair in page.blocks_with_output()]
ESCAPED = [[code(cell) for cell in row] for page in BOTH for row in rows(page.text, "| value | `{{value}}` |")]
LAID_OUT = [
    (code(row[0]), code(row[1])) for page in BOTH for row in rows(page.text, "| value | `{{{value}}}` in a section |")
]
ELSEWHERE = {
    "backend-failed": "matrices/handlebars.md",
    "backend-missing": "matrices/handlebars.md",
    "backend-unsupported": "matrices/handlebars.md",
    "helper-failed": "helpers.md",
    "not-data": "matrices/handlebars.md",
    "tag-placeholder": "XML",
    "template-too-large": "limits.md",
    "too-deep": "limits.md",
    "too-much-output": "limits.md",
    "too-much-work": "limits.md",
    "value-too-deep": "limits.md",
}
"""Codes of templates whose example stands on another page, or needs an agent."""


@pytest.mark.parametrize(("page", "template", "shown"), PRINTED)
def test_a_row_prints_what_it_shows(page: Shown, template: str, shown: str) -> None:
    assert page.render(template) == shown


@pytest.mark.parametrize(("page", "template", "shown"), WRITTEN)
def test_a_block_prints_what_it_shows(page: Shown, template: str, shown: str) -> None:
    assert page.render(template).rstrip("\n") == shown.rstrip("\n")


@pytest.mark.parametrize(("page", "template", "error"), REFUSED)
def test_a_mistake_is_the_error_that_the_page_says(page: Shown, template: str, error: str) -> None:
    with pytest.raises(TemplateError) as caught:
        page.render(template)

    assert [problem.code for problem in caught.value.problems] == [error]


@pytest.mark.parametrize("row", ESCAPED)
def test_a_value_is_escaped_as_the_page_shows(row: list[str]) -> None:
    value, two, three, names = row
    made = (
        compile_template("<task>{{value}}</task>").render({"value": value}),
        compile_template("<task>{{{value}}}</task>").render({"value": value}),
        compile_template("<task>{{{value}}}</task>", escaping="names").render({"value": value}),
    )

    assert made == tuple(f"<task>{text}</task>" for text in (two, three, names))


def test_an_attribute_is_escaped_as_the_page_says() -> None:
    made = compile_template('<task note="{{{value}}}"/>').render({"value": 'a "b"\nc'})

    assert made == '<task note="a &quot;b&quot; c"/>'


@pytest.mark.parametrize(("value", "shown"), LAID_OUT)
def test_marks_of_a_layout_are_kept_out_as_the_page_shows(tmp_path: Path, value: str, shown: str) -> None:
    agent = 'agent: a\ninputs: {value: {}}\nlayout: {heading: "## {{title}}\\n"}\n'
    section = 'sections: [{id: note, title: Note, text: "{{{value}}}"}]\n'
    (tmp_path / "agent.yaml").write_text(agent + section, encoding="utf-8")
    engine = Engine.open(tmp_path)

    assert engine.prepare_step(engine.prepare_call(Turn({"value": value}))).system == f"## Note\n{shown}"


def test_python_blocks_run_and_print_what_follows() -> None:
    typed: dict[str, object] = {}
    for match, after in zip(PAGE.blocks, [*PAGE.blocks[1:], None], strict=True):
        if match["language"] != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match["body"], "language.md", "exec", dont_inherit=True), typed)  # noqa: S102 - the test
        if after and after["language"] == "text":
            assert doctest.OutputChecker().check_output(after["body"], printed.getvalue(), 0), printed.getvalue()


@pytest.mark.parametrize("page", BOTH)
def test_every_example_is_one_of_these(page: Shown) -> None:
    kinds = [block["language"] for block in page.blocks]

    assert kinds.count("handlebars") == len(page.blocks_with_output()) + len(page.partials)
    assert {*kinds} <= {"handlebars", "json", "python", "text"}
    assert len(PRINTED) >= 60


def test_every_construct_has_an_example() -> None:
    """Each way a tag can open, each block, each helper of Handlebars, each variable of a loop."""
    shown = "\n".join(template for _, template, _ in [*PRINTED, *WRITTEN])
    openings = [kind for kind, pattern in _OPENINGS if not re.search(pattern, shown)]
    names = [*BLOCKS, *(name for name in BUILT_IN if name not in HOOKS), *(f"@{name}" for name in DATA), "@root"]

    assert openings == []
    assert [name for name in names if not re.search(rf"[#({{]{name}\b|[ {{]{name}\b", shown)] == []


def test_every_mistake_of_a_template_has_an_example() -> None:
    codes = set()
    package = Path(cuecard.template.__file__).parent
    for path in package.rglob("*.py"):
        if path.parent.name not in {"markup", "guards"} and path.name not in {"dates.py", "date_patterns.py"}:
            text = path.read_text(encoding="utf-8")
            codes |= {*re.findall(r'"((?:[a-z]+-)+[a-z]+)"', text)} - {"partial-block"}

    assert codes - {*ELSEWHERE} <= {error for _, _, error in REFUSED}


def test_the_limits_are_those_of_the_code() -> None:
    told = PAGE.text.partition("## Limits")[2]

    assert f"Blocks nest at most {MAX_DEPTH} deep, partials call each other at most {MAX_PARTIALS} deep" in told
    assert f"may visit {Limits().work:,} items and print {Limits().output // 10**6} million characters" in told


def test_tables_are_read_as_they_are_shown() -> None:
    assert cells(r"| `a \| b` | c |") == [r"`a | b`", "c"]
