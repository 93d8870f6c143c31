"""Which template an agent file has, and its sections as the lowest layer of the file.

A file that names a different template than the files below it, or none (`template: null`), starts with a fresh set of
sections: the sections in the files below belong to another template.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import SourceText
from cuecard.config.section_layers import PLACING, listed, says_something, section_id, where
from cuecard.errors import Problem, Span, TemplateError
from cuecard.records import dataclass
from cuecard.template.markup.outline import elements_within, find_seams
from cuecard.template.markup.xml import document_problems
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource

Layer: TypeAlias = tuple[Document, str]
"""An agent file and its folder, relative to that of the last file."""


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """The files without the sections of other templates, where those were dropped, and the problems found."""

    layers: Sequence[Layer]
    removed: Mapping[str, str]
    problems: tuple[Problem, ...]


def begun_anew(layers: Sequence[Layer]) -> TemplateChoice:
    """The agent files, from base to top, with only the sections of the last template."""
    templates = [*_templates(layers)]
    first = max((i for i in range(1, len(layers)) if templates[i] != templates[i - 1]), default=0)
    below = [document for document, _ in layers[:first]]
    if not any("sections" in document.value for document in below):
        return TemplateChoice(layers, {}, ())
    place = where(layers[first][0], ("template",))
    ids = (section_id(item, "") for document in below for item in listed(document))
    gone = {"sections"} if templates[first - 1] else {"sections", "layout"}
    kept = [(_without(document, gone), folder) for document, folder in layers[:first]]
    early = () if any(templates[:first]) else _early(below, place)
    return TemplateChoice([*kept, *layers[first:]], dict.fromkeys(ids, place), tuple(early))


def _templates(layers: Sequence[Layer]) -> Iterator[str]:
    """The template that applies for each file and those below it; empty for none."""
    current = ""
    for document, folder in layers:
        written = document.value.get("template", {})
        if not isinstance(written, dict) or "file" in written:
            file = written["file"] if isinstance(written, dict) else written
            current = posixpath.normpath(posixpath.join(folder, file)) if isinstance(file, str) else ""
        yield current


def _without(document: Document, keys: set[str]) -> Document:
    return replace(document, value={key: value for key, value in document.value.items() if key not in keys})


def _early(below: Sequence[Document], place: str) -> Iterator[Problem]:
    """Changes in the lowest file to sections of a template that only a higher file names."""
    document = next(document for document in below if "sections" in document.value)
    for index, item in enumerate(listed(document)):
        if isinstance(item, dict) and ({*PLACING} & item.keys() or not says_something(item)):
            name = section_id(item, f"#{index}")
            message = f"the base of this file has no section `{name}`"
            hint = f"a later file names the template, at {place}: under `extends`, list that file before this one"
            yield document.problem(("sections", index, "id"), "unknown-section", message, hint)


@dataclass(frozen=True, slots=True)
class CoreOutline:
    """The sections of a template.

    Attributes:
        document: `{sections: [{id: ...}, ...]}`, with the place of each element.
        within: the elements inside of sections, each with the id of the section.
    """

    document: Document
    within: Mapping[str, str]


def outline_core(template: SourceText) -> CoreOutline | None:
    """The sections of a template; None for one that has no outline."""
    source = TemplateSource(template.name, template.text)
    try:
        program = parse(source)
    except (TemplateError, RecursionError):
        return None
    if document_problems(source, program):
        return None
    root, *seams = find_seams(source, program)
    values: dict[Path, Span] = {("sections",): source.span(*root.mark)}
    ids = [seam for seam in seams if not seam.frame]
    for index, seam in enumerate(ids):
        values["sections", index] = values["sections", index, "id"] = source.span(*seam.mark)
    document = Document(source.name, source.text, {"sections": [{"id": seam.id} for seam in ids]}, values=values)
    return CoreOutline(document, dict(elements_within(source, program)))
