"""What only a core template can get wrong: names, placeholders in tags, keys that only lists of sections obey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cuecard.agent.trees import Text
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.errors import Problem
from cuecard.template import Part
from cuecard.template.markup.placeholders import placeholders_in_tags
from cuecard.template.syntax.nodes import Mustache
from cuecard.template.syntax.source import Source


def check_names(source: Source, parts: Sequence[Part]) -> Iterator[Problem]:
    """A second section of the same name, which manifests and budgets call by another."""
    first: dict[str, Part] = {}
    for part in (part for part in parts if not part.id.startswith("/")):
        seam, other = part.seam, first.setdefault(part.seam.name, part)
        if other is not part:
            message = f"a second section is called `{seam.name}`; manifests name it `{seam.id}`"
            hint = f"the first is at {source.where(other.seam.mark[0])}; rename one, or make one section of both"
            yield source.problem(*seam.mark, "duplicate-section", message, hint, severity="warning")


def check_placeholders(texts: Iterable[Text]) -> Iterator[Problem]:
    """Placeholders between single quotes (errors), and between double quotes unescaped (warnings).

    Those outside of any attribute's value are found by whether a text is well-formed at all.
    """
    for source, program in texts:
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


def refuse_layout(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """Keys that have no effect beside a template, whose text says itself how its sections stand."""
    if "layout" in spec.model_fields_set:
        yield _no_effect(document, ("layout",), "write separators and headings into the template")
    for index, section in enumerate(spec.sections):
        for key in ("title", "group"):
            if key in section.model_fields_set:
                yield _no_effect(document, ("sections", index, key), "an element is named by its `id`: remove the key")
    for kind, selections in (("profiles", spec.profiles), ("variants", spec.variants)):
        for name, selection in selections.items():
            for index, patch in enumerate(selection.sections):
                for key in ("title", "group"):
                    if key in patch.model_fields_set:
                        path = (kind, name, "sections", index, key)
                        yield _no_effect(document, path, "an element is named by its `id`: remove the key")


def _no_effect(document: Document, path: Path, hint: str) -> Problem:
    message = f"`{path[-1]}` has no effect beside a `template`"
    return document.problem(path, "no-effect", message, hint, key=True)
