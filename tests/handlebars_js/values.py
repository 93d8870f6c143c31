"""Random data for random templates: always the same names, so that the templates hit them; some of them missing."""

from __future__ import annotations

from random import Random
from typing import Any

TEXTS = (
    "",
    "a",
    "one two",
    "<b>",
    "a & b",
    'say "x"',
    "it's",
    "`=`",
    "{{name}}",
    "two\nlines",
    "tab\t",
    "\u00e9\u6f22",
    "0",
)
NUMBERS = (0, 1, -1, 7, 1.5, 100, 0.1, 1e21, 1e-7, 123456789012)
WORDS = ("card", "row", "note", "missing", "name")

SCALARS = ("name", "empty", "zero", "count", "yes", "no", "nil", "html", "a-b", "1", "if", "log", "length", "absent")
LISTS = ("list", "none", "things", "grid", "mixed")
OBJECTS = ("obj", "blank", "deep", "index")
PRIVATE = ("root", "level", "mark", "absent")
ITEM = ("name", "n", "ok", "tags", "obj", "list")


def random_data(random: Random) -> dict[str, Any]:
    """A root context."""
    data: dict[str, Any] = {
        "name": random.choice(TEXTS),
        "empty": "",
        "zero": 0,
        "count": random.choice(NUMBERS),
        "yes": True,
        "no": False,
        "nil": None,
        "html": '<i class="x">\'&`</i>',
        "a-b": "hyphen",
        "1": "one",
        "if": "IF",
        "log": "LOG",
        "length": random.choice((3, "long")),
        "which": random.choice(WORDS),
        "list": [random.choice(TEXTS) for _ in range(random.randint(1, 3))],
        "none": [],
        "things": [random_item(random) for _ in range(random.randint(0, 3))],
        "grid": [[1, 2], [], ["x"]],
        "mixed": [1, None, "x", True, [2, [3, None]], {"name": "m"}, False, 0.5],
        "obj": random_item(random),
        "blank": {},
        "index": {"b": 1, "a": "two", "10": "ten", "2": None},
        "deep": {"deep": {"deep": {"name": "bottom", "list": ["p", "q"]}}, "name": "top"},
        "two words": {"a.b": "dotted", "c]d": "bracket"},
    }
    return {key: value for key, value in data.items() if random.random() < 0.9}


def random_item(random: Random) -> dict[str, Any]:
    """One of `things`."""
    item: dict[str, Any] = {
        "name": random.choice(TEXTS),
        "n": random.choice(NUMBERS),
        "ok": random.choice((True, False, None)),
        "tags": [random.choice(TEXTS) for _ in range(random.randint(0, 2))],
        "obj": {"name": "inner", "yes": "inner yes"},
        "which": random.choice(WORDS),
    }
    return {key: value for key, value in item.items() if random.random() < 0.85}


def random_private(random: Random) -> dict[str, Any]:
    """Private `@data`."""
    return {"level": random.choice(TEXTS), "mark": {"name": "m", "list": [1]}} if random.random() < 0.3 else {}
