"""The compiled sections of an agent, for each profile and variant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cuecard.agent.producers.section_text import Producer, SectionText, use_problem
from cuecard.agent.sections.condition_checks import alternatives, check_condition, check_waiting, conditions_of
from cuecard.agent.sections.conditions import inputs_read, parts_of
from cuecard.agent.sections.elements import entries_guard
from cuecard.agent.sections.layout import Layout
from cuecard.agent.sections.section import PROTOCOLS, Around, Section, SectionBody, SectionChoice, SkillsFill
from cuecard.agent.sections.section_source import (
    RHYTHM,
    fill_of,
    inputs_of,
    is_around,
    lifetime_of,
    lifetime_problems,
    local_names,
    shorter,
    source_of,
    tier_of,
)
from cuecard.agent.sections.selections import Edition, EditionSource, written_editions
from cuecard.agent.trees import is_plain, read_trees
from cuecard.agent.world import World
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import inline_problem
from cuecard.config.sections.section_spec import SOURCES, TEXTS, SectionSpec
from cuecard.errors import Problem
from cuecard.model import Lifetime, Tier
from cuecard.records import dataclass
from cuecard.sources.content import Fill
from cuecard.sources.skill_selection import check_skill_names
from cuecard.template import InputUse
from cuecard.template.rules import TOOL


@dataclass(frozen=True, slots=True)
class SectionUse:
    """An input that a section reads; `problem` creates a problem at that place from code, message and hint.

    Attributes:
        name: the input.
        problem: creates the problem.
        path: the keys that a text reads of it.
        is_printed: whether the text prints that value.
    """

    name: str
    problem: Callable[[str, str, str], Problem]
    path: tuple[str, ...] = ()
    is_printed: bool = False


@dataclass(frozen=True, slots=True)
class CompiledSection:
    """A section with its text, for checks."""

    section: Section
    text: SectionText
    uses: tuple[SectionUse, ...]


class Assembly:
    """The sections of every profile and variant, as far as they could be compiled, and their `problems`."""

    def __init__(self, world: World, producer: Producer) -> None:
        """Compile every section of every edition once."""
        self._world, self._producer = world, producer
        self.layout: Layout = producer.layout
        self.problems: list[Problem] = producer.problems
        self._stable = _stable(world.spec)
        self._made: dict[int, tuple[EditionSource, CompiledSection | None]] = {}
        self._further: list[CompiledSection] = []
        self._editions = {
            edition: tuple(made for each in written if (made := self._compiled(each)))
            for edition, written in written_editions(world.spec).items()
        }
        sections = self._sections()
        for written, compiled in self._made.values():
            self.problems += check_waiting(world.document, written, compiled.section, sections) if compiled else ()
        self.problems = list(dict.fromkeys(self.problems))

    @property
    def editions(self) -> dict[Edition, tuple[Section, ...]]:
        """By profile and variant: the sections, and the frame around them."""
        opening, closing = self.frame[:1], self.frame[1:]
        return {
            edition: tuple(made.section for made in (*opening, *compiled, *closing))
            for edition, compiled in self._editions.items()
        }

    @property
    def compiled(self) -> tuple[CompiledSection, ...]:
        """The sections of a call without profile and variant, with their texts."""
        return self._editions["", ""]

    @property
    def frame(self) -> tuple[CompiledSection, ...]:
        """What precedes the first section and follows the last."""
        return tuple(map(self._framed, self._producer.frame))

    @property
    def further(self) -> tuple[CompiledSection, ...]:
        """The same sections with each of their alternative texts."""
        return tuple(self._further)

    @property
    def all_compiled(self) -> tuple[CompiledSection, ...]:
        """All sections of every profile and variant, and the frame."""
        return (*self.frame, *(made for _, made in self._made.values() if made), *self._further)

    @property
    def is_whole(self) -> bool:
        """Whether every section could be compiled; otherwise, it is unknown what the others read."""
        return all(made for _, made in self._made.values())

    def no_protocols(self) -> Problem:
        """The hint if no section has a place for tool instructions."""
        return self._producer.no_protocols()

    def _sections(self) -> dict[str, Section]:
        return {made.section.id: made.section for _, made in self._made.values() if made}

    def _compiled(self, written: EditionSource) -> CompiledSection | None:
        key = id(written)  # kept in the table, so that its id cannot be reused
        if key not in self._made:
            self._made[key] = written, self._compile(written)
        return self._made[key][1]

    def _compile(self, written: EditionSource) -> CompiledSection | None:
        texts = [text for each in alternatives(written) if (text := self._producer.text(each))]
        if len(texts) < len(alternatives(written)):
            return None
        spec, fill = written.spec, self._fill(written)
        in_text = [use for text in texts for use in self._text_uses(written, text)]
        others = [*self._other_uses(written, fill)]
        self.problems += [*self._step_reads(written, in_text, others), *self._unread_source(written, texts)]
        document, inputs = self._world.document, self._world.spec.inputs
        for at, condition in conditions_of(written):
            self.problems += check_condition(document, at, condition, inputs)
        choices = tuple((choice.condition, text.origin) for choice, text in zip(spec.choose or (), texts, strict=False))
        renders = tuple(Around(text.render) if is_around(spec, text.statements) else text.render for text in texts)
        render = SectionChoice(renders, spec.id) if choices else renders[0]
        reads = frozenset(use.name for use in (*in_text, *others))
        section = Section(
            spec=spec,
            tier=self._tier(written, reads),
            reads=reads,
            source=texts[0].origin,
            render=SectionBody(render, spec.id, spec.trust == "author"),
            label=self._producer.label(spec),
            heading=self._producer.heading(spec),
            leads=self._producer.leads(spec),
            stable=self._stable is None or spec.id in self._stable,
            lifetime=self._lifetime(written, reads),
            fill=fill,
            own=entries_guard(written.spec),
            choices=choices,
            prints=None if fill or choices else self._prints(texts[0]),
        )
        self._further += [CompiledSection(section, text, ()) for text in texts[1:]]
        return CompiledSection(section, texts[0], (*in_text, *others, *self._asked_tools(written)))

    def _framed(self, framed: tuple[str, SectionText]) -> CompiledSection:
        name, text = framed
        reads = frozenset(use.name for use in text.inputs)
        spec = SectionSpec.model_construct(id=name)
        tier = tier_of(reads, None, self._world.spec.inputs)
        prints = self._prints(text)
        section = Section(spec, tier, reads, text.origin, text.render, f"<{name}>", frame=True, prints=prints)
        return CompiledSection(section, text, tuple(self._used(text, use) for use in text.inputs))

    def _used(self, text: SectionText, use: InputUse) -> SectionUse:
        return SectionUse(use.name, partial(use_problem, self._world, text, use), use.path, use.is_printed)

    def _prints(self, text: SectionText) -> tuple[str, ...] | None:
        """The values with which a text changes; None where it does more than print them."""
        partials = partial(self._world.memo, read_trees, self._world.sources.partials)
        names = tuple(dict.fromkeys(use.name for use in text.inputs))
        return names if is_plain((text.source, text.program), text.statements, names, partials) else None

    def _fill(self, written: EditionSource) -> Fill | None:
        fill, problems = fill_of(written.spec, self._world)
        self.problems += [self._placed(problem, written) for problem in problems]
        if isinstance(fill, SkillsFill):
            at = written.place("skills")
            self.problems += check_skill_names(self._world.document, at, fill.spec, fill.skills)
        return fill

    def _text_uses(self, written: EditionSource, text: SectionText) -> Iterator[SectionUse]:
        for use in text.inputs:
            if use.name not in local_names(written.spec):
                yield self._used(text, use)

    def _other_uses(self, written: EditionSource, fill: Fill | None) -> Iterator[SectionUse]:
        problem = self._world.document.problem
        for at, condition in conditions_of(written):
            for name in dict.fromkeys(inputs_read(condition)):
                yield SectionUse(name, partial(problem, at))
        for name in inputs_of(fill):
            yield SectionUse(name, partial(problem, written.place(source_of(written.spec))))

    def _asked_tools(self, written: EditionSource) -> Iterator[SectionUse]:
        """The tools in its conditions, named like those that its texts ask for."""
        for at, condition in conditions_of(written):
            for place, part in parts_of(condition):
                if part.tool is not None:
                    yield SectionUse(TOOL + part.tool, partial(self._world.document.problem, (*at, *place, "tool")))

    def _step_reads(
        self, written: EditionSource, in_text: Sequence[SectionUse], others: Sequence[SectionUse]
    ) -> Iterator[Problem]:
        """Discoveries change from step to step, so only texts of the system prompt may read them.

        Conditions and sources are evaluated earlier, and a sent message cannot change.
        """
        role, problem = written.spec.role, self._world.document.problem
        if any(use.name == PROTOCOLS for use in others):
            message = f"only a section's text can read `{PROTOCOLS}`; conditions and sources cannot"
            hint = "a section that contains nothing else disappears while there are no tool instructions"
            yield problem(written.at, "undeclared-input", message, hint)
        if role != "system" and any(use.name == PROTOCOLS for use in in_text):
            message, hint = f"`{PROTOCOLS}` is not allowed in a message of role {role}", "remove `role`"
            yield problem(written.place("role"), "wrong-value", message, hint)

    def _unread_source(self, written: EditionSource, texts: Sequence[SectionText]) -> Iterator[Problem]:
        """The problem of a source without a place in its section's text."""
        source, names = source_of(written.spec), local_names(written.spec)
        replaced = any({*TEXTS} & patch.model_fields_set for patch, _ in written.patches)
        if source and not replaced and not any(use.name in names for text in texts for use in text.inputs):
            message = f"`{source}` has no effect: the text of {self._producer.label(written.spec)} does not show it"
            hint = "write `{{{" + names[0] + "}}}` into the text, where it belongs"
            at, severity = written.place(source), "warning"  # what the section says without it is the author's choice
            yield self._world.document.problem(at, "no-effect", message, hint, key=True, severity=severity)

    def _placed(self, problem: Problem, written: EditionSource) -> Problem:
        """The problem of a source at the key it concerns."""
        document = self._world.document
        key, _, rest = problem.name.removeprefix(f"sections.{written.spec.id}.").partition(".")
        if key not in SOURCES:
            return problem
        inner = rest.split(".") if rest else ()
        at = (*written.place(key), *(int(part) if part.isdecimal() else part for part in inner))
        if at in document.values:
            return inline_problem(document, at, problem)
        return document.problem(at, problem.code, problem.message, problem.hint, severity=problem.severity)

    def _tier(self, written: EditionSource, reads: frozenset[str]) -> Tier:
        spec, inferred = written.spec, tier_of(reads, written.spec, self._world.spec.inputs)
        if spec.tier and RHYTHM.index(spec.tier) < RHYTHM.index(inferred):
            why = ", ".join(sorted(reads)) or "a source that changes with each user message"
            place, hint = written.place("tier"), f"write `tier: {inferred}`, or remove it"
            message = f"section `{spec.id}` is not {spec.tier}: it reads {why}"
            self.problems.append(self._world.document.problem(place, "wrong-tier", message, hint))
        return spec.tier or inferred

    def _lifetime(self, written: EditionSource, reads: frozenset[str]) -> Lifetime:
        spec, inputs = written.spec, self._world.spec.inputs
        in_stable_part = self._stable is not None and spec.id in self._stable
        self.problems += lifetime_problems(self._world, written, reads, stable=in_stable_part)
        ordered: Lifetime = "turn" if spec.id in self._world.spec.messages.sections else "conversation"
        return spec.lifetime or shorter(ordered, lifetime_of(reads, inputs))


def _stable(spec: AgentFile) -> frozenset[str] | None:
    """The sections before the boundary; None if there is no boundary."""
    ids = [section.id for section in spec.sections]
    boundary = spec.layout.boundary
    return frozenset(ids[: ids.index(boundary.before)]) if boundary and boundary.before in ids else None
