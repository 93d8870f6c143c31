"""What is no error but costs or surprises: judged and counted when people ask, never when an engine is opened."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.agent.checks.budget import check_budget
from cuecard.agent.checks.mappings import check_mappings
from cuecard.agent.checks.sections import check_tiers
from cuecard.agent.checks.trees import MAIN
from cuecard.agent.checks.volatile import check_volatile
from cuecard.agent.core import Core
from cuecard.agent.draft import Draft
from cuecard.errors import Problem
from cuecard.model import CountTokens
from cuecard.sections.protocols import make_protocol
from cuecard.spec.agent_file import AgentFile
from cuecard.template.outline import schema_problems


def lint(draft: Draft, *, count: CountTokens, schema: str) -> list[Problem]:
    """Every problem beyond those that the draft carries.

    Args:
        draft: an agent as far as it could be made; with errors in it, less can be judged.
        count: how tokens are counted.
        schema: the RELAX NG schema of core templates, in XML syntax.
    """
    core, spec = draft.core, draft.spec
    found: list[Problem] = []
    if core:
        found += schema_problems(*core.trees[MAIN], schema)
        found += check_volatile(core.trees, core.placed)
    if core and spec:
        found += check_mappings(core.trees, spec, core.inputs)
        found += check_tiers(core.trees, core.placed, _printed(count, spec))
        found += _budget(draft, core, spec, count)
    return found


def _printed(count: CountTokens, spec: AgentFile) -> CountTokens:
    """Counts a section as it is printed: under `compact`, without blank lines and spaces at line ends."""
    if spec.whitespace == "keep":
        return count
    return lambda text: count("".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip()))


def _budget(draft: Draft, core: Core, spec: AgentFile, count: CountTokens) -> Iterator[Problem]:
    if draft.document and (spec.budget.total or spec.budget.protocols):
        source, printed = core.trees[MAIN][0], _printed(count, spec)
        static = sum(printed(p.text(source)) for p in core.placed if p.section.tier == "static")
        protocols = {name: made for name, card in draft.cards.items() if (made := make_protocol(card))}
        yield from check_budget(draft.document, spec, static, protocols, count)
