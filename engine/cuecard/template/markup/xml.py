"""Parses texts with lxml, without entities, network access or huge trees. Besides `relaxng.py`, the only module
that uses lxml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from cuecard.errors import Problem
from cuecard.template.syntax.source import Source

MAX_ERRORS = 100
"""The maximum number of errors reported for one text."""

_MISMATCH = re.compile(r"tag mismatch: \S+ line (\d+) and")
_FOLLOWS = ("attributes construct error", "Couldn't find end of Start Tag", "Premature end", "Extra content")
"""Messages about an element that only follow from an earlier error, or from the end of a broken text."""


def xml_problems(source: Source, text: str, wrapper: str = "") -> Iterator[Problem]:
    """The errors that make the text invalid XML; `wrapper` is an element to put around it. Offsets are those of the
    source.
    """
    from lxml import etree  # noqa: PLC0415 - lxml loads when the first outline is made

    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        yield source.problem(doctype, doctype + 9, "xml-doctype", "DOCTYPE is not allowed", "remove it")
        return
    wrapped = f"<{wrapper}>{text}</{wrapper}>" if wrapper else text
    shift = len(f"<{wrapper}>") if wrapper else 0
    try:
        etree.fromstring(wrapped.encode("utf-8", "surrogatepass"), xml_parser(etree))
    except etree.XMLSyntaxError as error:
        yield described(source, error.position, str(error.msg), shift)
        yield from _further(source, etree, wrapped, error.position, shift)


def _further(source: Source, etree: Any, text: str, first: tuple[int, int], shift: int) -> Iterator[Problem]:
    """The other errors of an invalid text, found by libxml2 as it reads on, without those that merely follow from
    an earlier one.
    """
    parser = xml_parser(etree, recover=True)
    with suppress(etree.XMLSyntaxError):  # nothing at all was found in it
        etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    seen, torn = {first}, 0
    for entry in parser.error_log[:MAX_ERRORS]:
        place, message = (entry.line, entry.column), str(entry.message)
        opened = _MISMATCH.search(message)
        is_first, follows = place == first, bool(opened) and int(str(opened and opened[1])) <= torn
        if not is_first and place not in seen and not follows and not message.startswith(_FOLLOWS):
            yield described(source, place, message, shift)
        torn = entry.line if opened else torn
        seen.add(place)


def xml_parser(etree: Any, *, recover: bool = False) -> Any:
    """A parser that reads only the text: no entities, no network, no huge trees, no other encoding."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=recover,
        encoding="utf-8",
    )


def described(source: Source, position: tuple[int, int], told: str, shift: int) -> Problem:
    """An error of lxml as a problem of the source; `shift` is the number of characters before the text in the first
    line.
    """
    line, column = position
    column -= shift if line == 1 else 0
    offset = source.starts[min(max(line, 1), len(source.starts)) - 1] + max(0, column - 1)
    message = (told or "the template is not well-formed XML").partition(", line ")[0]
    message = message.partition(", use XML_PARSE_HUGE")[0]
    plain = source.text[: min(offset, len(source.text))]
    tag = plain.rfind("<") if "tag" in message.lower() else offset
    start = min(max(tag, 0), max(0, len(source.text) - 1))
    hints = {
        "mismatch": "close elements in the order in which they were opened",
        "Premature": "close every element",
        "Extra content": "one root element must contain everything",
        "empty": "write one root element that contains the sections",
        "xmlParseEntityRef": "write `&amp;` for a plain `&`",
        "expecting ';'": "write `&amp;` for a plain `&`",
        "Entity": "only &lt; &gt; &amp; &quot; &apos; exist",
        "depth": "nest elements less deeply",
        "redefined": "write each attribute once",
        "StartTag": "write `&lt;` for a plain `<`",
    }
    hint = next((hint for word, hint in hints.items() if word in message), "see the place above")
    return source.problem(start, max(start + 1, min(offset, len(source.text))), "xml", message, hint)
