"""What stands before sections: the headings of a layout and of its groups, compiled."""

from __future__ import annotations

from functools import partial

from cuecard.config.documents.inline import inline_problem
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.sections.section_spec import LayoutSpec, SectionSpec
from cuecard.errors import Problem, TemplateError, did_you_mean
from cuecard.template import Template, compile_template, trusted


class Headings:
    """The headings of a layout, as far as they could be compiled; `problems` says what is wrong with the others."""

    def __init__(self, document: Document, layout: LayoutSpec) -> None:
        """Compile each heading once; it reads `title` and nothing else."""
        self.problems: list[Problem] = []
        self._layout = layout
        self._usual = self._compiled(document, ("layout", "heading"), layout.heading)
        self._groups = {
            name: self._usual
            if group.heading is None
            else self._compiled(document, ("layout", "groups", name, "heading"), group.heading)
            for name, group in layout.groups.items()
        }

    def heading(self, spec: SectionSpec) -> str:
        """What stands before a section."""
        return _titled(self._groups.get(spec.group, self._usual), spec.title)

    def lead(self, spec: SectionSpec) -> str:
        """What stands before the first section of the group that this one belongs to."""
        group = self._layout.groups.get(spec.group)
        return _titled(self._usual, group.title) if group else ""

    def _compiled(self, document: Document, at: Path, text: str) -> Template | None:
        if not text:
            return None
        place = partial(inline_problem, document, at)
        try:
            template = compile_template(text, name="heading")
        except TemplateError as error:
            self.problems += map(place, error.problems)
            return None
        unknown = [use for use in template.inputs if use.name != "title"]
        for use in unknown:
            message, hint = f"a heading reads `title`, not `{use.name}`", did_you_mean(use.name, ["title"])
            self.problems.append(place(Problem("undeclared-input", message, hint, "heading", use.span)))
        return None if unknown else template


def _titled(heading: Template | None, title: str) -> str:
    return heading.render({"title": trusted(title)}) if heading and title else ""
