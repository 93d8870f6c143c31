"""A list of sections in the agent file: each a text of its own, laid out with headings and separators."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.agent.producers.texts import SectionText, written_text
from cuecard.agent.sections.elements import headings_written
from cuecard.agent.sections.headings import Headings
from cuecard.agent.sections.layout import Layout, guard_of, headings_of
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.selections import Written, check_groups
from cuecard.agent.world import World
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.errors import Problem, SpecError, TemplateError
from cuecard.template.guards.layout_guard import LayoutGuard, layout_guard


class SectionList:
    """Makes the texts of a list of sections; its parts are those of `Producer`."""

    frame: tuple[tuple[str, SectionText], ...] = ()

    def __init__(self, world: World) -> None:
        """Compile the headings, and find what no value may look like."""
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
        self.layout = Layout(spec.separator, marker, spec.trim, world.spec.whitespace, spec.escaping, guard, markdown)

    def text(self, written: Written) -> SectionText | None:
        """The text of a section; None where it could not be compiled, which `problems` then tells."""
        try:
            return written_text(self._world, written)
        except TemplateError as error:
            self.problems += error.problems
        except LookupError:  # the reader has told that the file is not there
            pass
        return None

    def label(self, spec: SectionSpec) -> str:
        """A section as errors call it."""
        return f"`{spec.id}`"

    def heading(self, spec: SectionSpec) -> str:
        """What stands before a section."""
        return self._headings.heading(spec)

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:
        """The groups that a section stands in, the outermost first, each with what stands before its first section."""
        return self._headings.leads(spec)

    def no_protocols(self) -> Problem:
        """What to say where no section has a place for tool instructions."""
        message = "no section has a placeholder for tool instructions"
        hint = "add a section with the text '{{{" + PROTOCOLS + "}}}'"
        return self._world.document.problem(("sections",), "no-protocols", message, hint)

    def _guard(self, written: Iterable[str]) -> LayoutGuard:
        try:
            return guard_of(self._world.spec.layout, written)
        except SpecError as error:
            place = self._world.document.problem
            self.problems += [place(("layout",), p.code, p.message, p.hint) for p in error.problems]
            return layout_guard()
