"""Rows 22 to 24 of the acceptance table for robustness: XML bombs, entities that read files, malformed templates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard import Problem, compile_template
from cuecard.types import TemplateError
from unit.robustness.agents import TEMPLATE, refusal, where

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BOMBS = {
    "billion laughs": f'<!DOCTYPE a [<!ENTITY l0 "lol">{LAUGHS}]>\n<a><b-c>&l9;</b-c></a>',
    "quadratic": f'<!DOCTYPE a [<!ENTITY e "{"x" * 50_000}">]>\n<a><b-c>{"&e;" * 20_000}</b-c></a>',
}
OUTSIDE = {
    "file": '<!DOCTYPE a [<!ENTITY e SYSTEM "file://{canary}">]>\n<a><b-c>&e;</b-c></a>',
    "device": '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///dev/zero">]>\n<a><b-c>&e;</b-c></a>',
    "http": '<!DOCTYPE a [<!ENTITY e SYSTEM "http://127.0.0.1:9/e">]>\n<a><b-c>&e;</b-c></a>',
    "parameter entity": '<!DOCTYPE a [<!ENTITY % e SYSTEM "file://{canary}"> %e;]>\n<a><b-c>x</b-c></a>',
    "external DTD": '<!DOCTYPE a SYSTEM "file://{canary}">\n<a><b-c>x</b-c></a>',
}


def outlined(text: str, **partials: str) -> tuple[Problem, ...]:
    with pytest.raises(TemplateError) as caught:
        compile_template(text, partials=partials).outline()
    return caught.value.problems


@pytest.mark.parametrize("bomb", BOMBS)
def test_row_22_entity_bombs_are_refused_before_anything_expands(bomb: str, tmp_path: Path) -> None:
    (problem,) = outlined(BOMBS[bomb])
    (of_agent,) = refusal(tmp_path, {"agent.xml": BOMBS[bomb]})

    assert (problem.code, problem.message, where(problem)) == ("xml-doctype", "DOCTYPE is not allowed", (1, 1))
    assert of_agent.code == "xml-doctype"


WATCHED = """\
import json, sys
from lxml import etree
from cuecard import compile_template
from cuecard.types import TemplateError
import cuecard.template.markup.outline

compile_template("{{a}}").render({"a": "b"})  # what checks arguments looks for plugins at its first use
opened = []
sys.addaudithook(lambda event, arguments: opened.append((event, arguments)) if watched(event) else None)

def watched(event):
    return event == "open" or event.startswith(("socket.", "urllib.", "http."))

for kind, text in json.load(sys.stdin).items():
    template = compile_template(text)
    try:
        template.outline()
    except TemplateError as error:
        messages = [problem.message for problem in error.problems]
    files = [str(entry) for entry in opened if not str(entry[1][0]).endswith((".py", ".pyc"))]
    print(json.dumps([kind, messages, files]))
    opened.clear()
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """What one process says of each text: the messages, and what it opened meanwhile."""
    canary = tmp_path_factory.mktemp("watched") / "canary"
    canary.write_text("s3cret", encoding="utf-8")
    texts = json.dumps({kind: text.replace("{canary}", str(canary)) for kind, text in OUTSIDE.items()})
    command = [sys.executable, "-c", WATCHED]
    done = subprocess.run(command, input=texts, check=True, capture_output=True, text=True, timeout=60)
    return {kind: (messages, files) for kind, messages, files in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_row_23_entities_from_outside_are_refused_and_no_file_or_socket_is_opened(
    kind: str, watched: dict[str, tuple[list[str], list[str]]]
) -> None:
    assert watched[kind] == (["DOCTYPE is not allowed"], [])


def test_row_23_the_parser_itself_opens_nothing_even_for_a_doctype(tmp_path: Path) -> None:
    """Behind the refusal there is a second wall: lxml reads files in C, where no hook of Python sees it."""
    from lxml import etree  # noqa: PLC0415 - no other row needs it

    from cuecard.template.markup.xml import xml_parser  # noqa: PLC0415 - the same

    canary = tmp_path / "canary"
    canary.write_text("s3cret", encoding="utf-8")
    for text in OUTSIDE.values():
        try:
            tree = etree.fromstring(text.replace("{canary}", str(canary)).encode(), xml_parser(etree))
        except etree.XMLSyntaxError:
            continue
        assert "s3cret" not in "".join(tree.itertext(with_tail=True)) + etree.tostring(tree).decode()


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        (f"<a>\n{'<b>' * 300}{'</b>' * 300}\n</a>", "xml", (2, 768)),
        (f"<a><b>{'x' * 11_000_000}</b></a>", "template-too-large", None),
        ("<a>\n<b>one&nbsp;two</b>\n</a>", "xml", (2, 13)),
        ("<a>\n<b>one & two</b>\n</a>", "xml", (2, 9)),
        ('<a>\n<b x="1" x="2"/>\n</a>', "xml", (2, 15)),
        ("<a>\n</a>\n<b/>", "xml", (3, 1)),
        ("<a>\n<b>\n" + "line\n" * 69_998 + "</c>\n</a>", "xml", (70_001, 1)),
    ],
    ids=["depth", "11 MB", "&nbsp;", "bare &", "duplicate attribute", "two roots", "line 70,001"],
)
def test_row_24_malformed_xml_is_refused_with_line_and_column(
    text: str, code: str, place: tuple[int, int] | None
) -> None:
    problem = outlined(text)[0]

    assert problem.code == code
    assert problem.hint
    assert place is None or where(problem) == place


def test_row_24_an_agent_is_refused_for_it_with_its_file(tmp_path: Path) -> None:
    problem = refusal(tmp_path, {"agent.xml": TEMPLATE.replace("</tools>", "</tool>")})[0]

    assert (problem.code, where(problem)) == ("xml", (10, 1))
    assert problem.name.endswith("agent.xml")
