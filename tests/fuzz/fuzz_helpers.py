"""Any values, in any standard helper: a text, or a TemplateError that can be drawn and repeats none of them."""

from __future__ import annotations

import json

from cuecard import Template, compile_template
from cuecard.template.helpers.standard import STANDARD, takes
from cuecard.types import Json, TemplateError
from fuzz.drawn import check_told
from fuzz.json_pieces import PIECES as JSON

PIECES = (*JSON, *STANDARD, "|", "1e400", "-1", "3.5", "10000000", '"\\u0000"', '"..."', '"\\n"', '"2026-11-22"', '""')
PHRASES = (
    *(f"{name}|" for name in STANDARD),
    *('["a b. c", 3]', '[["a", "b"], ", "]', '["2026-11-22", "d MMMM"]', '["aXb", "X", "\\\\n"]', '[{"a": [1]}, 2]'),
    *("[1, 2]", "[null, null]", "[true, [true]]", '["<a>", "</a>"]', '["abc", 0]', '["abc", 1e9]', '["a", "b", "c"]'),
)
SECRET = "4f1c-s3cr3t"  # noqa: S105 - a value that no error may repeat
MOST = 4
TEMPLATES = {
    name: {
        count: compile_template("{{{" + " ".join([name, *"abcd"[:count]]) + "}}}")
        for count in range(1, MOST + 1)
        if takes(name, count, ())
    }
    for name in STANDARD
}


def target(data: bytes) -> None:
    """Read one input: a helper's name, `|`, and a list of its values as JSON."""
    name, _, written = data.decode("utf-8", "replace").partition("|")
    try:
        values = json.loads(written)
    except (ValueError, RecursionError):
        values = [written]
    given = values if isinstance(values, list) and values else [values]
    for helper in [name] if name in TEMPLATES else TEMPLATES:
        for count, template in TEMPLATES[helper].items():
            _render(template, (given * MOST)[:count])
            for place in range(count):
                told = [*(given * MOST)[:place], SECRET, *(given * MOST)[place + 1 : count]]
                _render(template, told)


def _render(template: Template, given: list[Json]) -> None:
    try:
        made = template.render(dict(zip("abcd", given, strict=False)))
    except TemplateError as error:
        check_told(error)
        check_silent(str(error))
    else:
        assert isinstance(made, str)


def check_silent(told: str) -> None:
    """An error repeats no value."""
    assert SECRET not in told
