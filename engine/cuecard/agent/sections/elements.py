"""What an agent's texts contain that data must not imitate: elements and headings, from all of its files."""

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
"""An underlined heading, which cannot follow a list item, a quote, a heading or a table."""

_RANKS = {"=": "#", "-": "##"}
_FENCED = re.compile(r"^[ ]{0,3}(`{3,}|~{3,}).*?(?:^[ ]{0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def elements_written(spec: AgentFile, sources: AgentSources) -> frozenset[str]:
    """The names of all elements in the texts of sections, their sources, and the changes by profiles and variants.

    They include those of the engine's own words.

    No data may open or close any of them in any section: sections are separate templates, but share one prompt.
    """
    texts = _texts(spec, sources)
    if sources.template:
        texts += [sources.template.text, *(f"<{section.id}>" for section in spec.sections)]
    return spec.words.elements.union(*map(element_names, texts), *map(_wrapped, texts))


def _wrapped(text: str) -> Iterator[str]:
    """The elements that the helper `xml` writes, as far as their names are literals."""
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
    """The literal texts that an expression may produce, including those in nested calls."""
    if isinstance(value, Literal):
        yield value
    elif isinstance(value, Call):
        yield from chain.from_iterable(map(_literals, value.params))


def headings_written(spec: AgentFile, sources: AgentSources) -> tuple[str, ...]:
    """The beginnings of the Markdown headings in an agent's texts, such as `## `.

    As with elements, no data may write a heading of such a level in any section. Lines in code fences are not headings.
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
