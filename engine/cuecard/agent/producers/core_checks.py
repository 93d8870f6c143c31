"""Checks specific to core templates: names, placeholders in tags, keys that only apply to lists of sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cuecard.agent.producers.elements import is_name
from cuecard.agent.producers.texts import SectionText
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import Written
from cuecard.agent.trees import Text
from cuecard.agent.world import World
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.errors import Problem
from cuecard.template import Part
from cuecard.template.markup.placeholders import placeholders_in_tags
from cuecard.template.syntax.nodes import Mustache
from cuecard.template.syntax.source import Source


def check_names(source: Source, parts: Sequence[Part]) -> Iterator[Problem]:
    """Problems of a second section with the same name, which manifests and budgets call by another."""
    first: dict[str, Part] = {}
    for part in (part for part in parts if not part.id.startswith("/")):
        seam, other = part.seam, first.setdefault(part.seam.name, part)
        if other is not part:
            message = f"a second section is named `{seam.name}`; manifests call it `{seam.id}`"
            hint = f"the first is at {source.where(other.seam.mark[0])}; rename one, or merge both into one section"
            yield source.problem(*seam.mark, "duplicate-section", message, hint, severity="warning")


def check_placeholders(texts: Iterable[Text]) -> Iterator[Problem]:
    """Placeholders between single quotes (errors), and between double quotes unescaped (warnings).

    Those outside attribute values are found by the check for well-formedness.
    """
    for source, program in texts:
        for node, quote in placeholders_in_tags(source, program):
            yield from _in_attribute(source, node, quote)


def _in_attribute(source: Source, node: Mustache, quote: str) -> Iterator[Problem]:
    if quote == "'":
        message = "a placeholder in single quotes: an apostrophe in its value would end the attribute"
        yield source.problem(node.start, node.end, "attribute-quotes", message, "use double quotes")
    elif quote and not node.escaped:
        message = "an unescaped placeholder in an attribute"
        hint = f"write `{{{{{source.text[node.call.start : node.call.end]}}}}}`"
        yield source.problem(node.start, node.end, "attribute-placeholder", message, hint, severity="warning")


def check_new_name(document: Document, written: Written, root: tuple[str, SectionText]) -> Iterator[Problem]:
    """The problem of a new section's id that is not a valid element name, or is that of the root."""
    name, place = written.spec.id, written.place("id")
    if name == root[0]:
        hint = f"the root is at {root[1].origin}; rename the section"
        yield document.problem(place, "duplicate-section", f"`{name}` is the template's root element", hint)
    elif not is_name(name):
        message, hint = f"`{name}` is not a valid element name", "begin it with a letter, such as `a-section`"
        yield document.problem(place, "wrong-value", message, hint)


def lost_protocols(world: World, name: str, origin: str) -> Problem:
    """The problem if the place for tool instructions is in a section that the agent file has replaced or removed."""
    message = f"the placeholder for tool instructions is lost: {origin} has it, in <{name}>"
    hint = "write '{{{" + PROTOCOLS + "}}}' into the text of another section"
    if name in world.removed:
        hint = f"the element is removed at {world.removed[name]}; keep it, or {hint}"
        return world.document.problem(("template",), "no-protocols", message, hint)
    index = [section.id for section in world.spec.sections].index(name)
    return world.document.problem(("sections", index, "text"), "no-protocols", message, hint)


def refuse_layout(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """Problems of keys that have no effect with a template, whose text itself decides the layout."""
    if "layout" in spec.model_fields_set:
        yield _no_effect(document, ("layout",), "put separators and headings into the template")
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
