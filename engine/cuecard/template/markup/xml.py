"""Texts read by lxml, the only module that knows it besides `relaxng.py`: no entities, no network, no huge trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuecard.errors import Problem
from cuecard.template.syntax.source import Source


def xml_problems(source: Source, text: str, wrapper: str = "") -> Iterator[Problem]:
    """What makes the text no XML; `wrapper` is an element to put around it. Its offsets are those of the source."""
    from lxml import etree  # noqa: PLC0415 - lxml loads when the first outline is made

    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        yield source.problem(doctype, doctype + 9, "xml-doctype", "DOCTYPE is not allowed", "remove it")
        return
    wrapped = f"<{wrapper}>{text}</{wrapper}>" if wrapper else text
    try:
        etree.fromstring(wrapped.encode("utf-8", "surrogatepass"), xml_parser(etree))
    except etree.XMLSyntaxError as error:
        yield described(source, error, shift=len(f"<{wrapper}>") if wrapper else 0)


def xml_parser(etree: Any) -> Any:
    """A parser that looks at nothing but the text: no entities, no network, no huge trees, no other encoding."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        encoding="utf-8",
    )


def described(source: Source, error: Any, shift: int) -> Problem:
    """A syntax error of lxml, as a problem of the source; `shift` is how much stands before it in the first line."""
    line, column = error.position
    column -= shift if line == 1 else 0
    lines = source.text.split("\n")
    offset = sum(len(each) + 1 for each in lines[: max(0, line - 1)]) + max(0, column - 1)
    message = str(error.msg or "the template is not well-formed XML").partition(", line ")[0]
    message = message.partition(", use XML_PARSE_HUGE")[0]
    plain = source.text[: min(offset, len(source.text))]
    tag = plain.rfind("<") if "tag" in message.lower() else offset
    start = min(max(tag, 0), max(0, len(source.text) - 1))
    hints = {
        "mismatch": "close elements in the order in which they were opened",
        "Premature": "close every element",
        "Extra content": "one root element holds everything",
        "empty": "write one root element with the sections in it",
        "xmlParseEntityRef": "write `&amp;` for a plain `&`",
        "Entity": "only &lt; &gt; &amp; &quot; &apos; exist",
        "depth": "nest elements less deep",
        "redefined": "write each attribute once",
        "StartTag": "write `&lt;` for a plain `<`",
    }
    hint = next((hint for word, hint in hints.items() if word in message), "see the place above")
    return source.problem(start, max(start + 1, min(offset, len(source.text))), "xml", message, hint)
