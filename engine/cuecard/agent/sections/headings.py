"""The compiled headings of a layout and its groups."""

from __future__ import annotations

from functools import partial

from cuecard.config.documents.inline import inline_problem
from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.sections.section_spec import LayoutSpec, SectionSpec
from cuecard.errors import Problem, TemplateError, did_you_mean
from cuecard.template import Template, compile_template, trusted


class Headings:
    """The headings of a layout, as far as they could be compiled, and the `problems` of the others."""

    def __init__(self, document: Document, layout: LayoutSpec) -> None:
        """Compile each heading once; it may only read `title`."""
        self.problems: list[Problem] = []
        self._layout = layout
        self._usual = self._compiled(document, ("layout", "heading"), layout.heading)
        self._within = {
            name: self._compiled(document, ("layout", "groups", name, "heading"), group.heading)
            for name, group in layout.groups.items()
            if group.heading is not None
        }

    def heading(self, spec: SectionSpec) -> str:
        """The heading of a section."""
        return _titled(self._form(groups_around(self._layout, spec.group)), spec.title)

    def leads(self, spec: SectionSpec) -> tuple[tuple[str, str], ...]:
        """The groups around a section, the outermost first, each with its heading."""
        around = groups_around(self._layout, spec.group)
        return tuple(
            (name, _titled(self._form(around[:depth]), self._layout.groups[name].title))
            for depth, name in enumerate(around)
        )

    def _form(self, groups: tuple[str, ...]) -> Template | None:
        """The heading template within these groups: that of the innermost group that has one."""
        own = next((name for name in reversed(groups) if name in self._within), None)
        return self._usual if own is None else self._within[own]

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
            message, hint = f"a heading can only read `title`, not `{use.name}`", did_you_mean(use.name, ["title"])
            self.problems.append(place(Problem("undeclared-input", message, hint, "heading", use.span)))
        return None if unknown else template


def groups_around(layout: LayoutSpec, group: str) -> tuple[str, ...]:
    """A group with those around it, the outermost first; a group within itself is reported elsewhere."""
    found: list[str] = []
    while group in layout.groups and group not in found:
        found.append(group)
        group = layout.groups[group].group
    return tuple(reversed(found))


def _titled(heading: Template | None, title: str) -> str:
    return heading.render({"title": trusted(title)}) if heading and title else ""
