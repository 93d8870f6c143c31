"""Budgets that cannot be kept, whatever a call supplies: counted before the first prompt is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.errors import Problem
from cuecard.model import CountTokens
from cuecard.sections.protocols import Protocol
from cuecard.spec.agent_file import AgentFile
from cuecard.spec.yaml_text import Document


def check_budget(
    document: Document, spec: AgentFile, static: int, protocols: Mapping[str, Protocol], count: CountTokens
) -> Iterator[Problem]:
    """A total smaller than what is always there, and tools whose instructions can never be shown.

    Args:
        document: the agent file.
        spec: the same, validated.
        static: tokens of the static sections.
        protocols: the rendered instructions by tool.
        count: how tokens are counted.
    """
    core = set(spec.tools.core)
    if spec.budget.total is not None:
        always = static + sum(count(protocol.text) for name, protocol in protocols.items() if name in core)
        if always > spec.budget.total:
            message = f"static sections and core tools take {always:,} tokens; the budget is {spec.budget.total:,}"
            yield document.problem(("budget", "total"), "over-budget", message, "raise it, or shorten the texts")
    for name, protocol in protocols.items() if spec.budget.protocols is not None else ():
        tokens = count(protocol.text)
        if name not in core and tokens > (spec.budget.protocols or 0):
            message = f"the instructions of `{name}` take {tokens:,} tokens, so they can never be shown"
            yield document.problem(("budget", "protocols"), "over-budget", message, "raise it, or shorten them")
