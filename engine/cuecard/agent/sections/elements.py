"""What an agent's texts write that no data may: elements and headings, wherever in its files they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources
from cuecard.errors import TemplateError
from cuecard.template import element_names
from cuecard.template.syntax.nodes import Call, Expression, Literal, as_path, calls_in
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import Source

_HEADING = re.compile(r"^[ ]{0,3}(#{1,6})(?=[ \t])", re.MULTILINE)
_UNDERLINED = re.compile(r"^[ ]{0,3}(?![-+*>#|=\s]).*\n[ ]{0,3}(=+|-+)[ \t]*$", re.MULTILINE)
"""A heading by the line below it: not below an entry of a list, a quote, a heading or a table."""

_RANKS = {"=": "#", "-": "##"}
_FENCED = re.compile(r"^[ ]{0,3}(`{3,}|~{3,}).*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def elements_written(spec: AgentFile, sources: AgentSources) -> frozenset[str]:
    """The names of all elements in the texts of sections, of what fills them, of what profiles and variants change.

    Those of the engine's own words are among them.

    No data may open or close one of them in any section: each is a template of its own, and one prompt holds all.
    """
    texts = _texts(spec, sources)
    if sources.template:
        texts += [sources.template.text, *(f"<{section.id}>" for section in spec.sections)]
    return spec.words.elements.union(*map(element_names, texts), *map(_wrapped, texts))


def _wrapped(text: str) -> Iterator[str]:
    """The elements that the helper `xml` writes, as far as an author has named them."""
    if "xml" not in text or "{{" not in text:
        return
    try:
        calls = calls_in(parse(Source("", text)).body)
    except TemplateError:  # who compiles it says so
        return
    for call in calls:
        if as_path(call.head).original == "xml":
            yield from (str(name.value) for name in chain.from_iterable(map(_literals, call.params[1:])))


def _literals(value: Expression) -> Iterator[Literal]:
    """The texts that an expression may give, its own and those of the calls in it."""
    if isinstance(value, Literal):
        yield value
    elif isinstance(value, Call):
        yield from chain.from_iterable(map(_literals, value.params))


def headings_written(spec: AgentFile, sources: AgentSources) -> tuple[str, ...]:
    """What the Markdown headings begin with that an agent's texts write: `## `, `### `.

    As with elements, no data may write one of that rank in any section. What looks like one in a code fence is none.
    """
    texts = [_FENCED.sub("", text) for text in _texts(spec, sources)]
    ranks = {found[1] for text in texts for found in _HEADING.finditer(text)}
    ranks |= {_RANKS[found[1][0]] for text in texts for found in _UNDERLINED.finditer(text)}
    return tuple(f"{rank} " for rank in sorted(ranks))


def _texts(spec: AgentFile, sources: AgentSources) -> list[str]:
    texts = [file.text for file in (*sources.partials, *sources.sections)]
    for section in spec.sections:
        texts += _strings(section.model_dump())
    for selection in (*spec.profiles.values(), *spec.variants.values()):
        texts += [text for patch in selection.sections for text in _strings(patch.model_dump(exclude_unset=True))]
    return [*texts, spec.layout.heading, *_strings([group.model_dump() for group in spec.layout.groups.values()])]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)
