"""The prompt that every library renders: sixty lines with four values, and the same with a list of ten tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VALUES: Mapping[str, Any] = {
    "user": "Ann",
    "shop": "Rye and Sons",
    "date": "2026-11-20",
    "note": "Rolls are baked at noon and at four.",
    "tools": [{"name": f"tool_{n}", "description": f"Does the thing of number {n}"} for n in range(10)],
}
NAMES: Sequence[str] = ("user", "shop", "date", "note")
_HEAD = "You answer the mail of {shop}. Today is {date}."
_RULES = [
    f"{n}. Rule {n} of the house: be brief, be kind, promise nothing that the bakery cannot hold." for n in range(1, 57)
]
_TAIL = ("The customer is {user}.", "A note from the kitchen: {note}", "Answer in the customer's language.")
LOOPS = {
    "handlebars": "{{#each tools}}\n- {{{name}}}: {{{description}}}\n{{/each}}\n",
    "mustache": "{{#tools}}\n- {{{name}}}: {{{description}}}\n{{/tools}}\n",
    "jinja": "{% for tool in tools %}\n- {{ tool.name }}: {{ tool.description }}\n{% endfor %}\n",
}
"""How a syntax writes a list."""

_NAME = {
    "handlebars": "{{{{{{{}}}}}}}",
    "mustache": "{{{{{{{}}}}}}}",
    "jinja": "{{{{ {} }}}}",
    "double": "{{{{{}}}}}",
    "single": "{{{}}}",
}


def prompt(syntax: str, *, loop: bool = False) -> str:
    """The prompt in a syntax: `handlebars`, `mustache`, `jinja`, `double` braces alone, or `single` ones."""
    written = {name: _NAME[syntax].format(name) for name in NAMES}
    lines = [_HEAD.format(**written), *_RULES, *(line.format(**written) for line in _TAIL)]
    return "\n".join(lines) + "\n" + (LOOPS[syntax] if loop else "")


def expected() -> str:
    """The sixty lines with their values."""
    return "\n".join([_HEAD, *_RULES, *_TAIL]).format(**VALUES)
