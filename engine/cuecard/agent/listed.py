"""A list of sections, compiled: for each profile and variant, what a call has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from cuecard.agent.checks.listed_sections import ListedText
from cuecard.agent.conditions import inputs_read
from cuecard.agent.editions import Written, check_selections, written_editions
from cuecard.agent.elements import elements_written
from cuecard.agent.filled import (
    Filled,
    SkillsFill,
    World,
    default_text,
    fill_of,
    inputs_of,
    is_constant,
    local_names,
    source_of,
)
from cuecard.agent.headings import Headings
from cuecard.agent.layout_marks import guard_of
from cuecard.agent.memo import Memo
from cuecard.agent.nouns import BUILT_IN, PROTOCOLS, Section
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.inline import inline_problem
from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.config.documents.yaml_text import Document, problem_at
from cuecard.config.sections.section_spec import SOURCES
from cuecard.errors import Problem, SpecError, TemplateError
from cuecard.model import Tier
from cuecard.sources.content import Fill
from cuecard.sources.skills.selection import check_skill_names
from cuecard.template import Escaping, InputUse, Template, compile_template
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
        self._headings = Headings(document, spec.layout)
        self.problems: list[Problem] = [*check_selections(document, spec), *self._headings.problems]
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
        self.problems += [self._placed(problem, written) for problem in problems]
        if isinstance(fill, SkillsFill):
            at = written.place("skills")
            self.problems += check_skill_names(self.document, at, fill.spec, fill.skills)
        in_text, others = [*self._text_uses(written, template)], [*self._other_uses(written, fill)]
        self.problems += self._step_reads(written, in_text, others)
        uses = [*in_text, *others]
        self.uses += uses
        reads = frozenset(use.name for use in uses)
        return Section(
            id=spec.id,
            tier=self._tier(written, reads),
            reads=reads,
            source=self._source(written),
            render=Filled(template, spec.id, spec.trust == "author"),
            heading=self._headings.heading(spec),
            lead=self._headings.lead(spec),
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
        return inline_problem(self.document, written.place("text"), problem) if written.spec.text else problem

    def _other_uses(self, written: Written, fill: Fill | None) -> Iterator[SectionUse]:
        condition = written.spec.when
        for name in dict.fromkeys(inputs_read(condition) if condition else ()):
            yield SectionUse(name, partial(self.document.problem, written.place("when")))
        for name in inputs_of(fill):
            yield SectionUse(name, partial(self.document.problem, written.place(source_of(written.spec))))

    def _step_reads(
        self, written: Written, in_text: Sequence[SectionUse], others: Sequence[SectionUse]
    ) -> Iterator[Problem]:
        """What is discovered step by step is read by texts of the system prompt alone.

        Conditions and sources are looked at before that, and a message that was sent stays what it is.
        """
        role = written.spec.role
        if any(use.name == PROTOCOLS for use in others):
            message = f"only a section's text can read `{PROTOCOLS}`, no condition and no source"
            hint = "without tool instructions, a section whose text holds nothing else leaves no trace"
            yield self.document.problem(written.at, "undeclared-input", message, hint)
        if role != "system" and any(use.name == PROTOCOLS for use in in_text):
            message, hint = f"`{PROTOCOLS}` has no place in a message of role {role}", "leave out `role`"
            yield self.document.problem(written.place("role"), "wrong-value", message, hint)

    def _placed(self, problem: Problem, written: Written) -> Problem:
        """The problem of a source at the key that it is about."""
        key, _, rest = problem.name.removeprefix(f"sections.{written.spec.id}.").partition(".")
        if key not in SOURCES:
            return problem
        at = (*written.place(key), *(rest.split(".") if rest else ()))
        if at in self.document.values:
            return inline_problem(self.document, at, problem)
        return self.document.problem(at, problem.code, problem.message, problem.hint, severity=problem.severity)

    def _moved(self, problem: Problem, written: Written, name: str) -> Problem:
        """The problem at the place in the file where people wrote the text."""
        if problem.name == name and written.spec.text is not None:
            return inline_problem(self.document, written.place("text"), problem)
        files = {file.stem: file.name for file in self.sources.partials}
        return replace(problem, name=files.get(problem.name, problem.name))

    def _tier(self, written: Written, reads: frozenset[str]) -> Tier:
        spec = written.spec
        tiers = {BUILT_IN.get(name, "call") for name in reads}
        inferred: Tier = "step" if "step" in tiers else "call" if tiers or not is_constant(spec) else "static"
        if spec.tier and _RHYTHM.index(spec.tier) < _RHYTHM.index(inferred):
            why = ", ".join(sorted(reads)) or "a source that differs from call to call"
            place, hint = written.place("tier"), f"write `tier: {inferred}`, or leave it out"
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


def _compile(
    text: str, name: str, partials: tuple[tuple[str, str], ...], escaping: Escaping, names: frozenset[str]
) -> Template:
    return compile_template(text, name=name, partials=dict(partials), escaping=escaping, names=names)
