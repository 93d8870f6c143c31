"""Checks for what is costly or surprising but not an error; run on request, never when an engine is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from cuecard.agent.assembly import Assembly, Compiled
from cuecard.agent.checks.budget import check_budget
from cuecard.agent.checks.compared import check_compared
from cuecard.agent.checks.cues import check_cues
from cuecard.agent.checks.habits import check_habits, check_result_habits
from cuecard.agent.checks.lifetimes import check_lifetimes
from cuecard.agent.checks.mappings import check_mappings
from cuecard.agent.checks.order import check_order
from cuecard.agent.checks.unfinished import check_unfinished
from cuecard.agent.checks.volatile import check_volatile
from cuecard.agent.draft import Draft
from cuecard.agent.sections.section import PROTOCOLS
from cuecard.agent.sections.tiers import tier_of
from cuecard.config.agent_file import AgentFile
from cuecard.errors import CuecardError, Problem
from cuecard.model import CountTokens
from cuecard.sources.protocols import make_protocol, protocols_text
from cuecard.template import trusted
from cuecard.template.markup.relaxng import schema_problems
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import Source

Cost = Callable[[Compiled], int]


def lint(draft: Draft, *, count: CountTokens, schema: str) -> list[Problem]:
    """Every problem in addition to those of the draft.

    Args:
        draft: an agent as far as it could be built; with errors, fewer checks are possible.
        count: how tokens are counted.
        schema: the RELAX NG schema of core templates, in XML syntax.
    """
    spec, assembly = draft.spec, draft.assembly
    if spec is None or assembly is None:
        return []
    compiled = (*assembly.frame, *assembly.compiled, *assembly.further)
    return [
        *_schema(draft, schema),
        *check_volatile(compiled, draft.partials),
        *check_mappings(compiled, draft.partials, spec),
        *check_compared(compiled, draft.partials, spec),
        *check_habits(compiled, draft.partials, spec),
        *check_result_habits(draft.result_texts),
        *check_unfinished(draft.cards.values(), draft.sources.instructions),
        *_counted(draft, assembly, spec, count),
    ]


def _schema(draft: Draft, schema: str) -> list[Problem]:
    """The problems of the template's structure, if it compiles."""
    template = draft.sources.template
    if template is None:
        return []
    source = Source(template.name, template.text)
    return schema_problems(source, parse(source), schema)


def _counted(draft: Draft, assembly: Assembly, spec: AgentFile, count: CountTokens) -> Iterator[Problem]:
    words, cues = spec.words.protocols, spec.tools.cues
    protocols = {name: made for name, card in draft.cards.items() if (made := make_protocol(card, words, cues))}
    frozen = spec.delivery == "frozen"
    system = [each for each in assembly.compiled if each.section.spec.role == "system"]
    system = [_frozen(each, spec) for each in system] if frozen else system
    values = {PROTOCOLS: trusted(protocols_text(protocols, protocols))} if frozen else {}

    def cost(each: Compiled) -> int:
        text = _text(each, values)
        return count(each.section.heading + assembly.layout.tidied(text))

    apart = () if spec.delivery == "rewrite" else [each for each in system if not each.section.stays]
    yield from check_order([*assembly.frame[:1], *(each for each in system if each not in apart)], cost)
    yield from check_lifetimes([*assembly.frame, *assembly.compiled, *assembly.further], spec, cost)
    if draft.specification:
        yield from check_cues(draft.specification.document, spec)
    if draft.specification and (spec.budget.total or spec.budget.protocols):
        static = sum(_least(each, cost(each)) for each in (*assembly.frame, *system) if _always(each))
        yield from check_budget(draft.specification.document, spec, static, protocols, count)


def _text(each: Compiled, values: Mapping[str, str]) -> str:
    """The rendered text of a section, or its source if it cannot be rendered."""
    try:
        return each.section.render(values)
    except CuecardError:
        return each.text.source.text[each.text.start : each.text.end]


def _always(each: Compiled) -> bool:
    """Whether neither a condition nor a budget can leave a section out."""
    spec = each.section.spec
    return each.section.tier == "static" and spec.when is None and spec.priority is None


def _least(each: Compiled, cost: int) -> int:
    budget = each.section.spec.budget
    return cost if budget is None else min(cost, budget)


def _frozen(each: Compiled, spec: AgentFile) -> Compiled:
    """The section with the instructions if they never change, because all are there from the start."""
    section = each.section
    tier = tier_of(section.reads - {PROTOCOLS}, section.spec, spec.inputs)
    return replace(each, section=replace(section, tier=section.spec.tier or tier))
