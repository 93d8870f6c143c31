"""Any text is read as YAML with a place for every value, or fails with a SpecError that can be drawn."""

from __future__ import annotations

from cuecard import SpecError
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Path
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.types import Json
from fuzz.drawn import check_drawn

PIECES = (
    *("key: ", "\n", "\n  ", "- ", "? ", ": ", "{", "}", "[", "]", ", ", "|\n", ">-\n", "|2+\n", '"', "'", "# ", " #x"),
    *(
        "---",
        "...",
        "%YAML 1.1\n",
        "&a ",
        "*a",
        "!!python/object:x ",
        "!t ",
        "<<: ",
        "=",
        "@",
        "`",
        "\\",
        "\\u12",
        "\t",
    ),
    *("~", "null", "yes", "0o17", "0x1f", ".inf", "-.NaN", "1_000", "1e999", "1:30", "2026-02-30", "\r", "\ufeff"),
    *("agent: a\n", "template: agent.xml\n", "inputs:\n  a: {type: string}\n", "delivery: append\n"),
)

PHRASES = (
    *("agent: a\n", "template: agent.xml\n", "template: {file: agent.xml, escaping: names}\n", "delivery: append\n"),
    *(
        "inputs:\n  a: {type: string}\n",
        "  b: {type: integer, default: 1}\n",
        "tools:\n  core: [a, 'b']\n",
        "# comment\n",
    ),
    *("tokens: {encoding: o200k_base}\n", "budget:\n  total: 1e3\n", "memory: {total: 10}\n", "text: |\n  a\n   b\n\n"),
    *("a: [1, {b: c}]\n", "b: 'it''s'\n", 'c: "\\u00e9\\x41"\n', "d: >-\n  x\n\n  y\n", "e: 0o17\n", "? f\n: g #h\n"),
)
"""What makes sense on its own: a text of such phrases goes further than one of pieces."""


def target(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        document = read_yaml(text, "fuzz.yaml")
        for path in paths(document.value):
            span = document.span(path)
            assert span.line >= 1
            assert span.column >= 1
        validate(document, AgentFile)
    except SpecError as error:
        check_drawn(error, text)


def paths(value: Json, path: Path = ()) -> list[Path]:
    """The places of a value and of everything in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, each in inner for found in paths(each, (*path, key)))]
