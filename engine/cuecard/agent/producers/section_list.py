"""A list of sections in the agent file: separate texts, laid out with headings and separators."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.agent.producers.section_text import SectionText, written_text
from cuecard.agent.sections.elements import headings_written
from cuecard.agent.sections.layout import Headings, Layout, guard_of, headings_of
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import EditionSource, check_groups
from cuecard.agent.world import World
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import Problem, SpecError, TemplateError
from cuecard.template.guards.layout import LayoutGuard, layout_guard


class SectionList:
    """Produces the texts of a list of sections; implements `Producer`."""

    frame: tuple[tuple[str, SectionText], ...] = ()

    def __init__(self, world: World) -> None:
        """Compile the headings, and collect the marks that values must not imitate."""
        self._world, spec = world, world.spec.layout
        self._headings = Headings(world.document, spec)
        self.problems: list[Problem] = [
            *self._headings.problems,
            *check_groups(world.document, world.spec, world.removed),
        ]
        marker = spec.boundary.marker if spec.boundary else ""
        written = headings_written(world.spec, world.sources)
        markdown = any(mark.startswith("#") for mark in (*headings_of(spec), *written))
        guard = self._guard(written)
        self.layout: Layout = Layout(
            spec.separator, marker, spec.trim, world.spec.whitespace, spec.escaping, guard, markdown
        )

    def text(self, written: EditionSource) -> SectionText | None:
        """The text of a section; None if it could not be compiled, as `problems` then says."""
        try:
            return written_text(self._world, written)
        except TemplateError as error:
            self.problems += error.problems
        except LookupError:  # that the file is missing was reported already
            pass
        return None

    def label(self, spec: SectionSpec) -> str:
        """The name of a section in errors."""
        return f"`{spec.id}`"

    def heading(self, spec: SectionSpec) -> str:
        """The heading of a section."""
        return self._headings.heading(spec)

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:
        """The groups around a section, the outermost first, each with its heading."""
        return self._headings.leads(spec)

    def no_protocols(self) -> Problem:
        """The hint if no section has a place for tool instructions."""
        message = "no section has a placeholder for tool instructions"
        hint = "add a section with the text '{{{" + PROTOCOLS + "}}}'"
        return self._world.document.problem(("sections",), "no-protocols", message, hint, severity="warning")

    def _guard(self, written: Iterable[str]) -> LayoutGuard:
        try:
            return guard_of(self._world.spec.layout, written)
        except SpecError as error:
            place = self._world.document.problem
            self.problems += [place(("layout",), p.code, p.message, p.hint) for p in error.problems]
            return layout_guard()
