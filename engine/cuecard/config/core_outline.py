"""The sections of an XML core template as a document, so that agent files can extend them as they extend each other."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.config.documents.texts import SourceText
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.errors import Span, TemplateError
from cuecard.records import dataclass
from cuecard.template.markup.outline import elements_within, find_seams
from cuecard.template.markup.well_formed import document_problems
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import Source


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
    source = Source(template.name, template.text)
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
