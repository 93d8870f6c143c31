"""Sections from an XML core.

An agent file refers to those sections by id. A text that it adds, or that replaces one of them, becomes an element with
that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from cuecard.agent.producers.section_text import SectionText, written_text
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import PROTOCOLS, Render
from cuecard.agent.sections.selections import EditionSource
from cuecard.agent.trees import Text, read_trees
from cuecard.agent.world import World
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import SourceText
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import Problem, TemplateError
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template import BACKENDS, Helper, Limits, OutlinePart, compile_template, element_names
from cuecard.template.guards.marks import stripped, unmarked
from cuecard.template.markup.tags import FILLER, blanked, mustache_spans, placeholders_in_tags, skipped, tags
from cuecard.template.markup.xml import fragment_problems, xml_problems
from cuecard.template.rules import USUAL
from cuecard.template.syntax.nodes import Block, Comment, Mustache, Program, Statement, TextNode, branches
from cuecard.template.syntax.source import TemplateSource


def is_element(source: TemplateSource, program: Program, name: str) -> bool:
    """Whether the text is one element with this name, surrounded only by comments, in every combination of branches."""
    return _is_element(source, _said(source, program.body), name)


def is_name(name: str) -> bool:
    """Whether it is a valid element name."""
    return element_names(f"<{name}>") == {name} and not any(xml_problems(TemplateSource(name, name), f"<{name}/>"))


def _is_element(source: TemplateSource, said: Sequence[Statement], name: str) -> bool:
    if len(said) == 1 and isinstance(said[0], Block):
        spoken = [found for branch in branches(said[0]) if (found := _said(source, branch.body))]
        return bool(spoken) and all(_is_element(source, each, name) for each in spoken)
    whole = blanked(source.text, mustache_spans(said), FILLER)
    text = whole[said[0].start : said[-1].end] if said else ""
    return _is_one(blanked(text, skipped(text), " ").strip(), name)


def _said(source: TemplateSource, body: Sequence[Statement]) -> list[Statement]:
    """The statements that can render something other than white space."""
    blank = (Comment, TextNode)
    return [node for node in body if not isinstance(node, blank) or source.text[_shown(node)].strip()]


def _shown(node: Comment | TextNode) -> slice:
    return slice(node.first, node.last) if isinstance(node, TextNode) else slice(0)


def _is_one(text: str, name: str) -> bool:
    """Whether a text is one element, from its first character to its last."""
    depth = 0
    for tag in tags(text):
        if depth == 0 and (tag.name != name or tag.start > 0):
            return False
        depth += {"open": 1, "close": -1, "empty": 0}[tag.kind]
        if depth == 0:
            return tag.end == len(text)
    return False


def check_names(source: TemplateSource, parts: Sequence[OutlinePart]) -> Iterator[Problem]:
    """Problems of a second section with the same name, which manifests and budgets call by another."""
    first: dict[str, OutlinePart] = {}
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


def _in_attribute(source: TemplateSource, node: Mustache, quote: str) -> Iterator[Problem]:
    if quote == "'":
        message = "a placeholder in single quotes: an apostrophe in its value would end the attribute"
        yield source.problem(node.start, node.end, "attribute-quotes", message, "use double quotes")
    elif quote and not node.escaped:
        message = "an unescaped placeholder in an attribute"
        hint = f"write `{{{{{source.text[node.call.start : node.call.end]}}}}}`"
        yield source.problem(node.start, node.end, "attribute-placeholder", message, hint, severity="warning")


def check_new_name(document: Document, written: EditionSource, root: tuple[str, SectionText]) -> Iterator[Problem]:
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
        return world.document.problem(("template",), "no-protocols", message, hint, severity="warning")
    index = [section.id for section in world.spec.sections].index(name)
    return world.document.problem(("sections", index, "text"), "no-protocols", message, hint, severity="warning")


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


def in_element(render: Render, name: str | None) -> Render:
    """The text on separate lines, in tags with this name if given; an empty text leaves no tags."""

    def element(values: Mapping[str, Json]) -> str:
        text = stripped(render(values))
        if not unmarked(text):
            return ""
        return f"<{name}>\n{text}\n</{name}>\n" if name else f"{text}\n"

    return element


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """A valid template: its syntax tree and its parts in order; `problems` are those of the template alone."""

    text: Text
    parts: tuple[OutlinePart, ...]
    problems: tuple[Problem, ...]


def read_core(
    template: SourceText,
    partials: tuple[SourceText, ...],
    backend: str,
    limits: Limits = USUAL,
    helpers: tuple[tuple[str, Helper], ...] = (),
) -> Core:
    """Compile and check a core template.

    Raises:
        TemplateError: with every reason why it does not compile.
    """
    texts = {each.stem: each.text for each in partials}
    made = partial(compile_template, escaping="marks", backend=BACKENDS[backend], limits=limits)
    try:
        compiled = made(template.text, name=template.name, partials=texts, helpers=dict(helpers))
    except TemplateError as error:
        files = {each.stem: each.name for each in partials}
        raise type(error)(replace(p, name=files.get(p.name, p.name)) for p in error.problems) from None
    text = TemplateSource(template.name, template.text), compiled.program
    trees = read_trees(partials).values()
    fragments = [problem for each in trees for problem in fragment_problems(*each)]
    try:
        parts = compiled.outline().parts
    except TemplateError as error:
        raise type(error)([*error.problems, *fragments]) from None
    return Core(text, parts, (*check_names(text[0], parts), *check_placeholders((text, *trees)), *fragments))


class XmlCore:
    """Produces the texts of a template's sections; implements `Producer`."""

    def __init__(self, world: World, template: SourceText) -> None:
        """Compile the template.

        Raises:
            TemplateError: with every reason why it does not compile.
        """
        self._world, spec = world, world.spec
        backend = spec.template.backend if spec.template else "cuecard"
        given = (template, world.sources.partials, backend, world.limits, world.helpers)
        core = world.memo(read_core, *given)
        self.core: Core = core
        self._path = template.path
        self.problems: list[Problem] = [*core.problems, *refuse_layout(world.document, spec)]
        self.layout: Layout = Layout(whitespace=spec.whitespace, escaping=world.escaping)
        self.frame: tuple[tuple[str, SectionText], ...] = tuple(
            (part.id, self._element(part)) for part in core.parts if part.seam.frame
        )
        self._own: Mapping[str, OutlinePart] = {part.id: part for part in core.parts if not part.seam.frame}

    def text(self, written: EditionSource) -> SectionText | None:
        """The text of a section; None if it could not be compiled, as `problems` then says."""
        spec = written.spec
        part = self._own.get(spec.id)
        if part is not None and spec.text is None and spec.file is None:
            return self._element(part)
        try:
            text = written_text(self._world, written)
        except TemplateError as error:
            self.problems += error.problems
            return None
        except LookupError:  # that the file is missing was reported already
            return None
        wrong = [*self._unlike_xml(text, written)]
        self.problems += wrong
        if any(problem.severity == "error" for problem in wrong):
            return None
        name = part.seam.name if part else spec.id
        tagged = is_element(text.source, text.program, name)
        return replace(text, render=in_element(text.render, None if tagged else name))

    def label(self, spec: SectionSpec) -> str:
        """The name of a section in errors: its tag."""
        return f"<{spec.id}>"

    def heading(self, spec: SectionSpec) -> str:  # noqa: ARG002 - a heading is part of the text
        """Empty: text before an element is part of the previous element."""
        return ""

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:  # noqa: ARG002 - there are no groups
        """Empty: elements are nested instead."""
        return ()

    def no_protocols(self) -> Problem:
        """The hint if no section has a place for tool instructions."""
        lost = [part for part in self._own.values() if any(use.name == PROTOCOLS for use in part.inputs)]
        if not lost:
            message = "the template has no placeholder for tool instructions"
            hint = "add to it: <tool-usage-instructions>{{{" + PROTOCOLS + "}}}</tool-usage-instructions>"
            return self._world.document.problem(("template",), "no-protocols", message, hint, severity="warning")
        return lost_protocols(self._world, lost[0].id, self._origin(lost[0]))

    def _element(self, part: OutlinePart) -> SectionText:
        source, program = self.core.text
        seam, told = part.seam, partial(source.problem, *part.seam.mark)
        end = seam.start + len(part.text)
        origin, render = self._origin(part), part.render
        return SectionText(
            source, program, seam.start, end, part.inputs, render, origin, _unmoved, told, seam.conditional
        )

    def _origin(self, part: OutlinePart) -> str:
        return f"{self._path}:{part.span.line}"

    def _unlike_xml(self, text: SectionText, written: EditionSource) -> Iterator[Problem]:
        """The reason why a text cannot be an element of the prompt."""
        found = fragment_problems(text.source, text.program), check_placeholders([(text.source, text.program)])
        yield from map(text.place, chain(*found))
        if written.spec.id not in self._own:
            yield from check_new_name(self._world.document, written, self.frame[0])


def _unmoved(problem: Problem) -> Problem:
    """Return the problem as it is: in a template, problems are already at their place."""
    return problem
