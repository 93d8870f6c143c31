"""A list of sections, compiled: for each profile and variant, what a call has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cuecard.agent.checks.listed_sections import ListedText
from cuecard.agent.editions import Written, check_selections, written_editions
from cuecard.agent.elements import elements_written
from cuecard.agent.filled import Filled, SkillsFill, World, default_text, fill_of, is_constant, local_names, names_read
from cuecard.agent.memo import Memo
from cuecard.agent.nouns import BUILT_IN, PROTOCOLS, Section
from cuecard.errors import Problem, SpecError, TemplateError
from cuecard.model import Tier
from cuecard.sections.content import Fill
from cuecard.sections.layout import guard_of
from cuecard.sections.skill_select import check_skill_names
from cuecard.spec.agent_file import AgentFile
from cuecard.spec.inline import inline_problem
from cuecard.spec.section_file import LayoutSpec, SectionSpec
from cuecard.spec.sources import AgentSources, SourceText
from cuecard.spec.yaml_text import Document, problem_at
from cuecard.template import Escaping, InputUse, Template, compile_template, trusted
from cuecard.template.layout_guard import LayoutGuard, layout_guard
from cuecard.template.source import Source

_RHYTHM: Sequence[Tier] = ("static", "call", "step")


@dataclass(frozen=True, slots=True)
class SectionUse:
    """An input that a section reads; `problem` makes a problem where that is written, of code, message and hint."""

    name: str
    problem: Callable[[str, str, str], Problem]


class Listed:
    """The sections of an agent file, compiled as far as they could be; `problems` says what is wrong."""

    def __init__(
        self, document: Document, spec: AgentFile, sources: AgentSources, memo: Memo, tools: frozenset[str]
    ) -> None:
        """Compile every section of every edition, each once; `tools` have their names as elements in prompts."""
        self.document, self.spec, self.sources, self.memo = document, spec, sources, memo
        self.problems: list[Problem] = [*check_selections(document, spec)]
        self.guard = self._guard()
        self._names = elements_written(spec, sources) | tools
        self._world = World(sources, spec.layout, spec.tools.visibility, self.guard, self._names)
        self.uses: list[SectionUse] = []
        self._files = {source.path: source for source in sources.sections}
        self._made: dict[int, tuple[Written, Section | None]] = {}
        editions = written_editions(spec)
        self._default = editions["", ""]
        self.editions = {
            edition: tuple(made for each in written if (made := self._section(each)))
            for edition, written in editions.items()
        }
        self.problems = list(dict.fromkeys(self.problems))

    @property
    def sections(self) -> tuple[Section, ...]:
        """What a call has that chooses nothing."""
        return self.editions["", ""]

    def _guard(self) -> LayoutGuard:
        try:
            return guard_of(self.spec.layout)
        except SpecError as error:
            self.problems += [self.document.problem(("layout",), p.code, p.message, p.hint) for p in error.problems]
            return layout_guard()

    def texts(self) -> Iterator[ListedText]:
        """The sections that a call has which chooses nothing, with their texts."""
        for written in self._default:
            section = self._section(written)
            if section is None:
                continue
            source = self._files.get(written.spec.file or "")
            name = source.name if source else written.spec.id
            text = Source(name, source.text if source else default_text(written.spec))
            at = partial(self.document.problem, written.at)
            yield ListedText(section, text, partial(self._moved, written=written, name=name), at)

    def _section(self, written: Written) -> Section | None:
        key = id(written)  # kept in the table, so that no other can get its number
        if key not in self._made:
            self._made[key] = written, self._compiled(written)
        return self._made[key][1]

    def _compiled(self, written: Written) -> Section | None:
        spec = written.spec
        template = self._template(written)
        if template is None:
            return None
        fill, problems = fill_of(spec, self._world)
        self.problems += [*problems, *self._step_reads(written, fill)]
        if isinstance(fill, SkillsFill):
            at = (*written.at, "skills")
            self.problems += check_skill_names(self.document, at, fill.spec, fill.skills)
        uses = [*self._text_uses(written, template), *self._other_uses(written, fill)]
        self.uses += uses
        reads = frozenset(use.name for use in uses)
        return Section(
            id=spec.id,
            tier=self._tier(written, reads),
            reads=reads,
            source=self._source(written),
            render=Filled(template, spec.id, spec.trust == "author"),
            heading=_heading(self.spec.layout, spec),
            lead=_lead(self.spec.layout, spec),
            stable=self._is_stable(written),
            spec=spec,
            fill=fill,
        )

    def _template(self, written: Written) -> Template | None:
        spec, escaping = written.spec, self.spec.layout.escaping
        source = self._files.get(spec.file or "")
        if spec.file is not None and source is None:
            return None
        text = source.text if source else default_text(spec)
        name = source.name if source else spec.id
        partials = tuple((file.stem, file.text) for file in self.sources.partials)
        try:
            return self.memo(_compile, text, name, partials, escaping, self._names)
        except TemplateError as error:
            self.problems += [self._moved(problem, written, name) for problem in error.problems]
            return None

    def _text_uses(self, written: Written, template: Template) -> Iterator[SectionUse]:
        files = {file.stem: file for file in self.sources.partials}
        files |= {"": self._files[written.spec.file]} if written.spec.file else {}
        for use in template.inputs:
            if use.name not in local_names(written.spec):
                yield SectionUse(use.name, partial(self._unwritten, written, use, files.get(use.template)))

    def _unwritten(
        self, written: Written, use: InputUse, file: SourceText | None, code: str, message: str, hint: str
    ) -> Problem:
        if file:
            return problem_at(file.name, file.text, use.span, code, message, hint)
        problem = Problem(code, message, hint, written.spec.id, use.span)
        return inline_problem(self.document, written.text_at, problem) if written.spec.text else problem

    def _other_uses(self, written: Written, fill: Fill | None) -> Iterator[SectionUse]:
        for name in names_read(written.spec, fill):
            yield SectionUse(name, partial(self.document.problem, written.at))

    def _step_reads(self, written: Written, fill: Fill | None) -> Iterator[Problem]:
        """Conditions and sources are looked at before any tool is discovered."""
        if PROTOCOLS in names_read(written.spec, fill):
            message = f"only a section's text can read `{PROTOCOLS}`, no condition and no source"
            hint = "without tool instructions, a section whose text holds nothing else leaves no trace"
            yield self.document.problem(written.at, "undeclared-input", message, hint)

    def _moved(self, problem: Problem, written: Written, name: str) -> Problem:
        """The problem at the place in the file where people wrote the text."""
        if problem.name == name and written.spec.text is not None:
            return inline_problem(self.document, written.text_at, problem)
        files = {file.stem: file.name for file in self.sources.partials}
        return replace(problem, name=files.get(problem.name, problem.name))

    def _tier(self, written: Written, reads: frozenset[str]) -> Tier:
        spec = written.spec
        tiers = {BUILT_IN.get(name, "call") for name in reads}
        inferred: Tier = "step" if "step" in tiers else "call" if tiers or not is_constant(spec) else "static"
        if spec.tier and _RHYTHM.index(spec.tier) < _RHYTHM.index(inferred):
            why = ", ".join(sorted(reads)) or "a source that differs from call to call"
            place, hint = (*written.at, "tier"), f"write `tier: {inferred}`, or leave it out"
            message = f"section `{spec.id}` is not {spec.tier}: it reads {why}"
            self.problems.append(self.document.problem(place, "wrong-tier", message, hint))
        return spec.tier or inferred

    def _is_stable(self, written: Written) -> bool:
        boundary = self.spec.layout.boundary
        ids = [section.id for section in self.spec.sections]
        return boundary is None or boundary.before not in ids or ids.index(written.spec.id) < ids.index(boundary.before)

    def _source(self, written: Written) -> str:
        if written.spec.file:
            return f"{written.spec.file}:1"
        paths = {source.name: source.path for source in self.sources.texts()}
        name = self.document.origin(written.at).name
        return f"{paths.get(name, name)}:{self.document.span(written.at).line}"


def _heading(layout: LayoutSpec, spec: SectionSpec) -> str:
    own = layout.groups[spec.group].heading if spec.group in layout.groups else None
    return _titled(layout.heading if own is None else own, spec.title)


def _lead(layout: LayoutSpec, spec: SectionSpec) -> str:
    return _titled(layout.heading, layout.groups[spec.group].title) if spec.group in layout.groups else ""


def _titled(heading: str, title: str) -> str:
    if not title or not heading:
        return ""
    return compile_template(heading, name="layout.heading").render({"title": trusted(title)})


def _compile(
    text: str, name: str, partials: tuple[tuple[str, str], ...], escaping: Escaping, names: frozenset[str]
) -> Template:
    return compile_template(text, name=name, partials=dict(partials), escaping=escaping, names=names)
