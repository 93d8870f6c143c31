"""What is no error but costs or surprises: judged and counted when people ask, never when an engine is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cuecard.agent.checks.budget import check_budget
from cuecard.agent.checks.listed_sections import (
    ListedText,
    check_listed_mappings,
    check_listed_order,
    check_listed_volatile,
)
from cuecard.agent.checks.mappings import check_mappings
from cuecard.agent.checks.sections import Placed, check_tiers
from cuecard.agent.checks.trees import MAIN
from cuecard.agent.checks.volatile import check_volatile
from cuecard.agent.core import Core, tier_of
from cuecard.agent.draft import Draft
from cuecard.agent.nouns import PROTOCOLS, Section
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document
from cuecard.config.sections.section_spec import SectionSpec
from cuecard.config.words_spec import ENGLISH
from cuecard.errors import Problem
from cuecard.model import CountTokens
from cuecard.sources.protocols import Protocol, make_protocol, protocols_text
from cuecard.template import trusted
from cuecard.template.relaxng import schema_problems


def lint(draft: Draft, *, count: CountTokens, schema: str) -> list[Problem]:
    """Every problem beyond those that the draft carries.

    Args:
        draft: an agent as far as it could be made; with errors in it, less can be judged.
        count: how tokens are counted.
        schema: the RELAX NG schema of core templates, in XML syntax.
    """
    core, spec, document = draft.core, draft.spec, draft.document
    found: list[Problem] = []
    if core:
        found += schema_problems(*core.trees[MAIN], schema)
        found += check_volatile(core.trees, core.placed)
    if core and spec and document:
        found += check_mappings(core.trees, spec, core.inputs)
        found += _counted(draft, core, spec, document, count)
    if draft.listed and spec and document:
        found += _listed(draft, [*draft.listed.texts()], spec, document, count)
    return found


def _listed(
    draft: Draft, texts: Sequence[ListedText], spec: AgentFile, document: Document, count: CountTokens
) -> Iterator[Problem]:
    cost = {each.section.id: count(each.section.heading + each.source.text) for each in texts}
    yield from check_listed_volatile(texts)
    yield from check_listed_mappings(texts, spec)
    system = [each for each in texts if each.section.spec is None or each.section.spec.role == "system"]
    yield from check_listed_order(system, lambda section: cost[section.id])
    if spec.budget.total or spec.budget.protocols:
        protocols = _protocols(draft)
        static = sum(_least(each.section.spec, cost[each.section.id]) for each in system if _always(each.section))
        static += count(protocols_text(protocols, protocols)) if spec.delivery == "frozen" else 0
        yield from check_budget(document, spec, static, protocols, count)


def _always(section: Section) -> bool:
    """Whether no condition and no budget can leave a section out."""
    spec = section.spec
    return section.tier == "static" and (spec is None or (spec.when is None and spec.priority is None))


def _least(spec: SectionSpec | None, cost: int) -> int:
    return cost if spec is None or spec.budget is None else min(cost, spec.budget)


def _protocols(draft: Draft) -> dict[str, Protocol]:
    words = draft.spec.words if draft.spec else ENGLISH
    return {name: made for name, card in draft.cards.items() if (made := make_protocol(card, words.protocols))}


def _counted(draft: Draft, core: Core, spec: AgentFile, document: Document, count: CountTokens) -> Iterator[Problem]:
    protocols = _protocols(draft)
    frozen, source = spec.delivery == "frozen", core.trees[MAIN][0]
    placed = [_frozen(p) for p in core.placed] if frozen else core.placed
    values = {PROTOCOLS: trusted(protocols_text(protocols, protocols))} if frozen else {}

    def cost(section: Placed) -> int:
        return count(_printed(section.text(source, values), spec))

    yield from check_tiers(core.trees, placed, cost)
    if spec.budget.total or spec.budget.protocols:
        static = sum(cost(p) for p in placed if p.section.tier == "static")
        yield from check_budget(document, spec, static, protocols, count)


def _frozen(placed: Placed) -> Placed:
    """The section where instructions never change: all are there from the start."""
    section = placed.section
    return replace(placed, section=replace(section, tier=tier_of(section.reads - {PROTOCOLS})))


def _printed(text: str, spec: AgentFile) -> str:
    """The text as a prompt shows it: under `compact`, without blank lines and spaces at line ends."""
    if spec.whitespace == "keep":
        return text
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())
