"""What of an agent its turns reach: tools, sections, outcomes of conditions, and branches of templates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cuecard.agent import CHOICE, CONTENT, PROTOCOLS
from cuecard.agent.build import AgentDraft
from cuecard.agent.host_functions import LoadHelpers, load_all, named_helpers
from cuecard.agent.sections.conditions import ConditionFacts, holds, told
from cuecard.agent.sections.section import Section
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.engine import Engine
from cuecard.errors import visible
from cuecard.model import Json
from cuecard.pipeline.results import render_result
from cuecard.pipeline.segments import authored
from cuecard.sources.tools import protocols_text
from cuecard.template import Template, compile_template, trusted, trusted_value
from cuecard.template.syntax.nodes import Block, Program, branches, walk
from cuecard.template.syntax.source import TemplateSource
from cuecard.workbench.played import PlayedTurn
from cuecard.workbench.testing.snapshot import section_texts

_MARK = re.compile(r"⟦branch (\d+)⟧")


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of one kind the turns reach, and the names of what none does."""

    total: int
    missed: tuple[str, ...]

    @classmethod
    def of(cls, names: Collection[str], seen: Collection[str]) -> Reach:
        """What is missed of these names."""
        return cls(len(names), tuple(visible(name) for name in names if name not in seen))

    @property
    def share(self) -> float:
        """The reached share in percent; all of nothing is everything."""
        return 100 * (self.total - len(self.missed)) / self.total if self.total else 100.0


@dataclass(frozen=True, slots=True)
class _MarkedText:
    """A text of a section, with marks: which of its alternatives it is, and where in the template it stands."""

    spec: SectionSpec
    number: int
    template: Template
    start: int
    end: int


class Coverage:
    """Collects what turns reach; a turn reaches a branch if it renders the branch."""

    def __init__(self, engine: Engine, draft: AgentDraft, load: LoadHelpers) -> None:
        """Of the agent of `engine`, which was built from `draft` with helpers that `load` loads."""
        self._engine, self._draft = engine, draft
        self._branches = dict[int, tuple[str, int]]()  # by mark: the name, and where the block begins; -1 in partials
        document = draft.specification.document if draft.specification else None
        self._helpers = dict(load_all([*named_helpers(document, engine.agent.spec)], load)) if document else {}
        self._partials = {name: self._text(*each) for name, each in draft.partials.items()}
        self._made = dict[str, Template]()
        self._texts = [*self._section_texts()]
        forms = draft.results
        self._results = tuple(replace(form, text=self._of(form.text), error=self._of(form.error)) for form in forms)
        self._seen: dict[str, set[str]] = {kind: set() for kind in ("tools", "sections", "conditions", "branches")}

    def add(self, turn: PlayedTurn) -> None:
        """Add what a turn reaches."""
        agent, call = self._engine.agent, turn.step.call or turn.call
        shown = {record.id for record, text in section_texts(turn.step) if text.strip()}
        facts = ConditionFacts(call.values, call.tools.available, call.delivery.model, shown)
        given = call.configuration
        parts = [part for part in agent.edition(given.profile, given.variant) if not part.frame]
        protocols = protocols_text(agent.protocols.keys() & turn.step.active_tools, agent.protocols)
        shown |= {part.id for part in parts if PROTOCOLS in part.reads and protocols}  # in the prompt, or in blocks
        values = {**authored(agent, call.values), PROTOCOLS: trusted(protocols)}
        found = {number for part in parts if part.id in shown for number in self._rendered(part, values)}
        marked = replace(agent, results=self._results)
        texts = (render_result(marked, result, self._engine.count).text for result in turn.past.results)
        found |= {int(number) for text in texts for number in _MARK.findall(text)}
        self._seen["tools"].update(turn.step.active_tools)
        self._seen["sections"].update(shown)
        self._seen["conditions"].update(name for part in parts for name in _outcomes(part, facts))
        self._seen["branches"].update(self._branches[number][0] for number in found.intersection(self._branches))

    def report(self) -> dict[str, Reach]:
        """The four kinds, each with what no turn reaches."""
        agent = self._engine.agent
        parts = [part for edition in agent.editions.values() for part in edition if not part.frame]
        search, seen = self._engine.search_tool, self._seen["tools"]
        known: dict[str, Iterable[str]] = {
            # Whether there is a search is decided by what can be found, and not by what a turn does.
            "tools": (name for name in agent.catalogue if name != search or name in seen),
            "sections": (part.id for part in parts),
            "conditions": (name for part in parts for name in _outcomes(part, None)),
            "branches": (name for name, _ in self._branches.values()),
        }
        return {kind: Reach.of(dict.fromkeys(names), self._seen[kind]) for kind, names in known.items()}

    def _section_texts(self) -> Iterator[_MarkedText]:
        assembly, numbers = self._draft.assembly, Counter[int]()
        for each in assembly.all_compiled if assembly else ():
            made = self._compiled(each.text.source, each.text.program)
            yield _MarkedText(each.section.spec, numbers[id(each.section)], made, each.text.start, each.text.end)
            numbers[id(each.section)] += 1

    def _rendered(self, part: Section, values: Mapping[str, Json]) -> Iterator[int]:
        """The branches that a section renders."""
        chosen, own = values.get(CHOICE + part.id, 0), values.get(CONTENT + part.id)
        given = {**values, **trusted_value(own)} if own is not None else values
        for text in self._texts:
            if (text.number, text.spec) == (chosen, part.spec):
                found = {*map(int, _MARK.findall(text.template.render(given)))}.intersection(self._branches)
                places = ((number, self._branches[number][1]) for number in found)
                yield from (number for number, at in places if at < 0 or text.start <= at < text.end)

    def _of(self, template: Template) -> Template:
        return self._compiled(TemplateSource(template.name, template.text), template.program)

    def _compiled(self, source: TemplateSource, program: Program) -> Template:
        key = f"{source.name}\n{source.text}"
        if key not in self._made:
            text = self._text(source, program, partial=False)
            self._made[key] = compile_template(
                text, name=source.name, partials=self._partials, helpers=self._helpers, strict=False, escaping="marks"
            )
        return self._made[key]

    def _text(self, source: TemplateSource, program: Program, *, partial: bool = True) -> str:
        """The text with a mark at the beginning of each branch; those of partials count wherever they are called."""
        places = dict[int, int]()
        for block in (node for node in walk(program.body) if isinstance(node, Block) and not node.decorator):
            for branch in branches(block):
                if branch.body and not branch.chained:
                    number = places[branch.body[0].start] = len(self._branches)
                    tag = source.text[block.call.start : block.call.end]
                    which = "" if branch is block.program else ": else"
                    name = f"{{{{#{tag}}}}}{which} ({source.where(block.start)})"
                    self._branches[number] = name, -1 if partial else block.start
        text = source.text
        for at in sorted(places, reverse=True):
            text = f"{text[:at]}⟦branch {places[at]}⟧{text[at:]}"
        return text


def _outcomes(part: Section, facts: ConditionFacts | None) -> Iterator[str]:
    """What the conditions of a section come to in a call; without facts, everything that they may come to."""
    asked = [("when", part.spec.when), *(("choose", condition) for condition, _ in part.choices)]
    for word, condition in ((word, condition) for word, condition in asked if condition):
        for outcome in (True, False) if facts is None else (holds(condition, facts),):
            yield f"{part.id}: {word} {told(condition)}: {str(outcome).lower()}"
        if facts and holds(condition, facts) != (word == "when"):  # left out, or chosen: nothing more is asked
            return
