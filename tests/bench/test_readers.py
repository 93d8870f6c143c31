"""Readers of what others write take time in proportion to the text, accepted or refused, and little memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress

import pytest

from bench.reading import check_memory, check_time
from cuecard import compile_template
from cuecard.agent.sections.layout import Layout
from cuecard.config.sections.file_patterns import Exclusion, FilePattern
from cuecard.recording.records import read_records
from cuecard.template.guards.gate import PromptGate
from cuecard.template.guards.layout import layout_guard
from cuecard.template.guards.marks import marked
from cuecard.workbench.diff.markdown import CommentText, code, fenced, row
from cuecard.workbench.diff.view import line_differences
from cuecard.workbench.field.command import page
from cuecard.workbench.field.findings import field_report
from cuecard.workbench.fmt.yaml_layout import KeptError, formatted_yaml
from cuecard.workbench.imports.command import files_of
from cuecard.workbench.imports.dotprompt import read_dotprompt
from cuecard.workbench.imports.prompty import read_prompty
from cuecard.workbench.tool_import.openapi import read_openapi

pytestmark = pytest.mark.bench

MOMENT = "2026-11-22T09:30:00Z"
FRONT = "---\nname: a\n---\n"


def prompty(text: str) -> None:
    files_of(read_prompty(text, "a.prompty", "a", lambda _: None))


def dotprompt(text: str) -> None:
    files_of(read_dotprompt(text, "a.prompt", "a", lambda _: None))


def layout(text: str) -> None:
    with suppress(KeptError):
        formatted_yaml(text, "a.yaml")


GATE = PromptGate(
    frozenset({"rules"}), escaping="names", layout=layout_guard(["# "], ["---"], ["<!-- x -->"]), fences=True
)
COMPACT = Layout(whitespace="compact", trim=True)


def admitted(text: str) -> None:
    """A value in a section that is compacted, and the same in an author's fence."""
    GATE.admit(COMPACT.shown(f"You help\n{marked(text)}."))
    GATE.admit(COMPACT.shown(f"```\n{marked(text)}\n```"))


def report(text: str) -> None:
    page(field_report(read_records([("a.jsonl", text)])[0], "tool_search", None))


def markdown(text: str) -> None:
    body = CommentText(60_000)
    body.take_rows([row([code(line)]) for line in text.split("\n")], spare=0, what="turns")
    body.take(fenced(text.split("\n"), "diff"))


def changed(text: str) -> None:
    """Two prompts that differ in every other line, as `cuecard diff` compares them."""
    old = text.split("\n")
    new = [line if place % 2 else f"{line}." for place, line in enumerate(old)]
    line_differences(old, new)


def helper(written: str, **values: str) -> Callable[[str], None]:
    template = compile_template(written)

    def render(text: str) -> None:
        template.render({"x": text, **values})

    return render


def openapi(text: str) -> None:
    read_openapi(json.loads(text), "api.json")


def glob(text: str) -> None:
    parts = tuple(text.split("/"))
    for written in ("**/*.md", "a*b*c*d", "{{x}}/**/y/*.md"):
        bound = FilePattern.of_glob(written).bound({"x": "b"})
        assert bound
        bound.anything().matches(parts)
    assert parts not in Exclusion(("b/**/c", "[!a]*"))


def paths(many: Iterable[int]) -> str:
    told = {f"/p{n}": {"get": {"operationId": f"o{n}", "parameters": [{"$ref": "#/x"}]}} for n in many}
    return json.dumps({"openapi": "3.1.0", "x": {"name": "q", "in": "query"}, "paths": told})


READERS: dict[str, tuple[Callable[[str], None], Callable[[int], str]]] = {
    "prompty: blanks": (prompty, lambda n: FRONT + " " * n + "x"),
    "prompty: roles": (prompty, lambda n: FRONT + "user:\nx\n" * (n // 8)),
    "prompty: roles that are nowhere": (prompty, lambda n: FRONT + "{# x #}user:\nx\n" * (n // 15)),
    "prompty: unknown roles": (prompty, lambda n: FRONT + "function[x]:\nx\n" * (n // 14)),
    "prompty: names": (prompty, lambda n: FRONT + "".join(f"{{{{n{k}}}}}\n" for k in range(n // 10))),
    "prompty: blocks": (prompty, lambda n: FRONT + "{% if a %}x{% endif %}\n" * (n // 23)),
    "prompty: unknown filters": (prompty, lambda n: FRONT + "{{ a | odd }}\n" * (n // 14)),
    "prompty: sums": (prompty, lambda n: FRONT + "{{ a" + " + 1" * (n // 4) + " }}"),
    "mustache: partials": (prompty, lambda n: "---\ntemplate: mustache\n---\n" + "{{> a}}\n" * (n // 8)),
    "dotprompt: media": (dotprompt, lambda n: "{{media url=a}}\n" * (n // 16)),
    "dotprompt: behind the history": (dotprompt, lambda n: "{{history}}{{a}}\n" * (n // 17)),
    "dotprompt: backslashes": (dotprompt, lambda n: "\\" * n + "{{a}}"),
    "fmt: lists": (layout, lambda n: "a:\n" + "-   x: 1\n" * (n // 9)),
    "fmt: deep blanks": (layout, lambda n: "a:   \n" + "     b:    |\n" + "        x\n" * (n // 10)),
    "gate: a run of blanks": (admitted, lambda n: " \n" + " " * n + "x"),
    "gate: fences left open": (admitted, lambda n: "```x\n" * (n // 5)),
    "gate: indented fences": (admitted, lambda n: "  ```\n" * (n // 6)),
    "gate: comments": (admitted, lambda n: "<!--" * (n // 4)),
    "gate: lines of markup": (admitted, lambda n: "<a\n" * (n // 3)),
    "gate: underlines": (admitted, lambda n: "a\n=\n" * (n // 4)),
    "gate: line breaks side by side": (admitted, lambda n: "a\n\n \n" * (n // 6)),
    "gate: letters of other scripts": (admitted, lambda n: "\u2039\ua4e3\u1d07\u200b" * (n // 4)),
    "gate: a name that never ends": (admitted, lambda n: "<" + "\u0301" * n + "rules"),
    "report: no records": (report, lambda n: "{}\n" * (n // 3)),
    "report: brackets": (report, lambda n: "[" * n),
    "diff: ticks and pipes": (markdown, lambda n: "`|\n" * (n // 3)),
    "diff: changed lines": (changed, lambda n: "".join(f"line {k}\n" for k in range(n // 8))),
    "openapi": (openapi, lambda n: paths(range(n // 90))),
    "globs": (glob, lambda n: "a/" * (n // 2)),
    "globs in one name": (glob, lambda n: "abc" * (n // 3)),
    "date: fields": (helper("{{date at x}}", at=MOMENT), lambda n: "d " * (n // 2)),
    "date: quotes": (helper("{{date at x}}", at=MOMENT), lambda n: "d" + "'a''" * (n // 4)),
    "date: a zone": (helper('{{date at "long" zone=x}}', at=MOMENT), lambda n: "Europe/" * (n // 7)),
    "first_sentence": (helper("{{first_sentence x}}"), lambda n: "e.g. " * (n // 5)),
    "one_line": (helper("{{one_line x}}"), lambda n: " \n" * (n // 2)),
    "indent": (helper("{{indent x 2}}"), lambda n: " \n" * (n // 2)),
}


@pytest.mark.parametrize("reader", READERS)
def test_four_times_the_text_takes_about_four_times_as_long(reader: str) -> None:
    check_time(reader, *READERS[reader])


@pytest.mark.parametrize("reader", READERS)
def test_a_large_text_takes_little_memory(reader: str) -> None:
    check_memory(reader, *READERS[reader])
