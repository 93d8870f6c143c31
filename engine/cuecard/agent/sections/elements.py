"""The names of the elements that an agent's texts write, wherever in its files that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.texts import AgentSources
from cuecard.template import element_names


def elements_written(spec: AgentFile, sources: AgentSources) -> frozenset[str]:
    """The names of all elements in the texts of sections, of what fills them, of what profiles and variants change.

    Those of the engine's own words are among them.

    No data may open or close one of them in any section: each is a template of its own, and one prompt holds all.
    """
    texts = [file.text for file in (*sources.partials, *sources.sections)]
    if sources.template:
        texts += [sources.template.text, *(f"<{section.id}>" for section in spec.sections)]
    for section in spec.sections:
        texts += _strings(section.model_dump())
    for selection in (*spec.profiles.values(), *spec.variants.values()):
        texts += [text for patch in selection.sections for text in _strings(patch.model_dump(exclude_unset=True))]
    texts += [spec.layout.heading, *_strings([group.model_dump() for group in spec.layout.groups.values()])]
    return spec.words.elements.union(*map(element_names, texts))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)
