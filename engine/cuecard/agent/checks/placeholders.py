"""Placeholders in the values of attributes: where a value could end one, or is printed unescaped."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.agent.checks.trees import Trees
from cuecard.errors import Problem
from cuecard.template.nodes import Mustache
from cuecard.template.placeholders import placeholders_in_tags
from cuecard.template.source import Source


def check_placeholders(trees: Trees) -> Iterator[Problem]:
    """Placeholders between single quotes (errors), and between double quotes unescaped (warnings).

    Those outside of any attribute's value are found by whether a text is well-formed at all.
    """
    for source, program in trees.values():
        for node, quote in placeholders_in_tags(source, program):
            yield from _in_attribute(source, node, quote)


def _in_attribute(source: Source, node: Mustache, quote: str) -> Iterator[Problem]:
    if quote == "'":
        message = "a placeholder between single quotes: a value with an apostrophe would end the attribute"
        yield source.problem(node.start, node.end, "attribute-quotes", message, "use double quotes")
    elif quote and not node.escaped:
        message = "a placeholder in an attribute without escaping"
        hint = f"write `{{{{{source.text[node.call.start : node.call.end]}}}}}`"
        yield source.problem(node.start, node.end, "attribute-placeholder", message, hint, severity="warning")
