"""An XML core template: each child of its root is a section, and the tags of the root are a frame around them.

An agent file refers to those sections by id. A text that it adds, or that replaces one of them, becomes an element with
that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain

from cuecard.agent.producers.core_checks import (
    check_names,
    check_new_name,
    check_placeholders,
    lost_protocols,
    refuse_layout,
)
from cuecard.agent.producers.elements import is_element
from cuecard.agent.producers.texts import SectionText, written_text
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import Written
from cuecard.agent.sections.wrapping import in_element
from cuecard.agent.trees import Text, read_trees
from cuecard.agent.world import World
from cuecard.config.documents.texts import SourceText
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import Problem, TemplateError
from cuecard.records import dataclass
from cuecard.template import BACKENDS, Helper, Limits, Part, compile_template
from cuecard.template.limits import USUAL
from cuecard.template.markup.well_formed import fragment_problems
from cuecard.template.syntax.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """A valid template: its syntax tree and its parts in order; `problems` are those of the template alone."""

    text: Text
    parts: tuple[Part, ...]
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
    text = Source(template.name, template.text), compiled.program
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
        self.core, self._path = core, template.path
        self.problems: list[Problem] = [*core.problems, *refuse_layout(world.document, spec)]
        self.layout = Layout(whitespace=spec.whitespace, escaping=world.escaping)
        self.frame = tuple((part.id, self._element(part)) for part in core.parts if part.seam.frame)
        self._own: Mapping[str, Part] = {part.id: part for part in core.parts if not part.seam.frame}

    def text(self, written: Written) -> SectionText | None:
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
            return self._world.document.problem(("template",), "no-protocols", message, hint)
        return lost_protocols(self._world, lost[0].id, self._origin(lost[0]))

    def _element(self, part: Part) -> SectionText:
        source, program = self.core.text
        seam, told = part.seam, partial(source.problem, *part.seam.mark)
        end = seam.start + len(part.text)
        origin, render = self._origin(part), part.render
        return SectionText(
            source, program, seam.start, end, part.inputs, render, origin, _unmoved, told, seam.conditional
        )

    def _origin(self, part: Part) -> str:
        return f"{self._path}:{part.span.line}"

    def _unlike_xml(self, text: SectionText, written: Written) -> Iterator[Problem]:
        """The reason why a text cannot be an element of the prompt."""
        found = fragment_problems(text.source, text.program), check_placeholders([(text.source, text.program)])
        yield from map(text.place, chain(*found))
        if written.spec.id not in self._own:
            yield from check_new_name(self._world.document, written, self.frame[0])


def _unmoved(problem: Problem) -> Problem:
    """Return the problem as it is: in a template, problems are already at their place."""
    return problem
