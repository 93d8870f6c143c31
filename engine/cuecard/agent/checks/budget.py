"""Budgets that no call can keep, found by counting before the first prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cuecard.agent.assembly import Assembly, CompiledSection
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.section_source import tier_of
from cuecard.agent.specification import core_tools
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document, Path
from cuecard.errors import CuecardError, Problem
from cuecard.model import CountTokens
from cuecard.records import dataclass
from cuecard.sources.tools import Protocol, protocols_text
from cuecard.template import trusted

_SHORTEN = "raise it, or shorten the texts"


@dataclass(frozen=True, slots=True)
class CountedAgent:
    """An agent whose texts are counted.

    Attributes:
        document: the agent file.
        spec: the same, validated.
        assembly: its sections.
        protocols: the rendered instructions by tool.
        count: how tokens are counted.
    """

    document: Document
    spec: AgentFile
    assembly: Assembly
    protocols: Mapping[str, Protocol]
    count: CountTokens

    @property
    def core(self) -> tuple[str, ...]:
        """The core tools that have instructions."""
        return tuple(name for name in core_tools(self.spec.tools, self.protocols) if name in self.protocols)

    @property
    def system(self) -> tuple[CompiledSection, ...]:
        """The sections of the system prompt; under `frozen`, one with the instructions never changes."""
        system = (each for each in self.assembly.compiled if each.section.spec.role == "system")
        return tuple(_frozen(each, self.spec) if self.spec.delivery == "frozen" else each for each in system)

    @property
    def least(self) -> int:
        """The tokens of the smallest prompt: what neither a condition nor a budget can leave out, and core tools."""
        sections = [each for each in self.system if PROTOCOLS not in each.section.reads]
        return self.static(sections) + sum(self.count(self.protocols[name].text) for name in self.core)

    def static(self, sections: Sequence[CompiledSection]) -> int:
        """The tokens of the frame, and of those of these sections that are in every prompt."""
        always = [each for each in (*self.assembly.frame, *sections) if _always(each)]
        return sum(_least(each, self.cost(each)) for each in always)

    def cost(self, each: CompiledSection) -> int:
        """The tokens of a section before anything is found."""
        values = {}
        if self.spec.delivery == "frozen":
            values = {PROTOCOLS: trusted(protocols_text(self.protocols, self.protocols))}
        return self.count(each.section.heading + self.assembly.layout.tidied(_text(each, values)))

    def shown(self, each: CompiledSection, tools: Sequence[str]) -> int:
        """The tokens of the instructions of these tools in a section, with its own text as far as that is known."""
        text = protocols_text(tools, self.protocols)
        if each.section.reads <= {PROTOCOLS}:
            text = _text(each, {PROTOCOLS: trusted(text)})
        return self.count(self.assembly.layout.tidied(text))


def over_budget(agent: CountedAgent) -> Iterator[Problem]:
    """Problems of core tools without room: what the files name is in every prompt, with its instructions."""
    core = agent.core
    if not core:
        return
    if agent.spec.budget.total is not None:
        yield from _over_total(agent, "static sections and core tools", agent.least)
    for each, limit in _limited(agent):
        tokens = agent.shown(each, core)
        if tokens > limit:
            message = f"core tools take {tokens:,} tokens of the section `{each.section.id}`; its budget is {limit:,}"
            hint = "raise it, or name fewer core tools"
            yield agent.document.problem(("tools", "core"), "over-budget", message, hint)


def check_budget(agent: CountedAgent) -> Iterator[Problem]:
    """Problems of budgets smaller than what is always included, and of tools whose instructions can never fit."""
    budget = agent.spec.budget
    if agent.spec.delivery == "frozen":
        yield from _over_total(agent, "static sections and instructions", agent.static(agent.system))
        if budget.protocols is not None:
            message = "this budget has no effect: `frozen` shows every tool's instructions from the start"
            hint = "remove it, or choose `append`; `budget.total` applies under every delivery"
            at = ("budget", "protocols")
            yield agent.document.problem(at, "ignored-budget", message, hint, severity="warning")
        if budget.definitions is not None:
            message = "this budget has no effect: `frozen` has every tool active from the start"
            at = ("budget", "definitions")
            yield agent.document.problem(
                at, "ignored-budget", message, "remove it, or choose `append`", severity="warning"
            )
        return
    core = {*agent.core}
    told = [*(over_budget(agent) if core else _over_total(agent, "static sections", agent.least))]
    yield from told
    room = None if told else _room(agent)
    for name, made in agent.protocols.items():
        tokens = 0 if name in core else agent.count(made.text)
        if budget.protocols is not None and tokens > budget.protocols:
            message = f"the instructions of `{name}` take {tokens:,} tokens, so they can never be shown"
            yield agent.document.problem(("budget", "protocols"), "over-budget", message, "raise it, or shorten them")
        elif room and tokens > room.tokens:
            yield room.never_active(agent, name, tokens)


def _over_total(agent: CountedAgent, what: str, tokens: int) -> Iterator[Problem]:
    total = agent.spec.budget.total
    if total is not None and tokens > total:
        message = f"{what} take {tokens:,} tokens; the budget is {total:,}"
        yield agent.document.problem(("budget", "total"), "over-budget", message, _SHORTEN)


@dataclass(frozen=True, slots=True)
class _Room:
    """The tokens that are left for the first tool that is found, and the budget that leaves no more."""

    tokens: int
    budget: str
    at: Path

    def never_active(self, agent: CountedAgent, name: str, tokens: int) -> Problem:
        """The warning for a tool whose instructions have no room even then."""
        lists = next((each.section.id for each in agent.system if each.section.spec.tools), "")
        listed = f", which the section `{lists}` lists," if lists else ""
        message = f"`{name}`{listed} can never be active: its instructions take {tokens:,} tokens"
        hint = f"{self.budget} leaves {self.tokens:,} beside what is always there: raise it, or shorten the texts"
        return agent.document.problem(self.at, "never-active", message, hint, severity="warning")


def _room(agent: CountedAgent) -> _Room | None:
    """The least room that a budget leaves; None without one."""
    total, found = agent.spec.budget.total, list[_Room]()
    if total is not None:
        found.append(_Room(total - agent.least, "`budget.total`", ("budget", "total")))
    if agent.spec.delivery == "rewrite":  # otherwise, what is found is not in the section
        for each, limit in _limited(agent):
            left = limit - agent.shown(each, agent.core)
            found.append(_Room(left, f"the budget of the section `{each.section.id}`", ("tools",)))
    return min(found, key=lambda room: room.tokens, default=None)


def _limited(agent: CountedAgent) -> Iterator[tuple[CompiledSection, int]]:
    """The sections with instructions that have a budget of their own."""
    for each in agent.system:
        if PROTOCOLS in each.section.reads and each.section.spec.budget is not None:
            yield each, each.section.spec.budget


def _text(each: CompiledSection, values: Mapping[str, str]) -> str:
    """The rendered text of a section, or its source if it cannot be rendered."""
    if each.section.fill:  # what fills it comes with a call
        return each.text.source.text[each.text.start : each.text.end]
    try:
        return each.section.render(values)
    except (CuecardError, KeyError):  # without a call, a section has no content from its source
        return each.text.source.text[each.text.start : each.text.end]


def _always(each: CompiledSection) -> bool:
    """Whether a section has this text in every prompt: neither a condition, a budget nor a source decides."""
    spec, section = each.section.spec, each.section
    return section.tier == "static" and spec.when is None and spec.priority is None and not section.fill


def _least(each: CompiledSection, cost: int) -> int:
    budget = each.section.spec.budget
    return cost if budget is None else min(cost, budget)


def _frozen(each: CompiledSection, spec: AgentFile) -> CompiledSection:
    """The section with the instructions if they never change, because all are there from the start."""
    section = each.section
    tier = tier_of(section.reads - {PROTOCOLS}, section.spec, spec.inputs)
    return replace(each, section=replace(section, tier=section.spec.tier or tier))
