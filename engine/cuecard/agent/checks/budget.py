"""Budgets that no call can keep, found by counting before the first prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document
from cuecard.errors import Problem
from cuecard.model import CountTokens
from cuecard.sources.protocols import Protocol


def check_budget(
    document: Document, spec: AgentFile, static: int, protocols: Mapping[str, Protocol], count: CountTokens
) -> Iterator[Problem]:
    """Problems of a total smaller than what is always included, and of tools whose instructions can never fit.

    Args:
        document: the agent file.
        spec: the same, validated.
        static: the tokens of the static sections, which include all instructions under `frozen` delivery.
        protocols: the rendered instructions by tool.
        count: how tokens are counted.
    """
    frozen, budget = spec.delivery == "frozen", spec.budget
    costs = {} if frozen else {name: count(protocol.text) for name, protocol in protocols.items()}
    always = static + sum(costs.pop(name, 0) for name in dict.fromkeys(spec.tools.core))
    if budget.total is not None and always > budget.total:
        what = "static sections and instructions" if frozen else "static sections and core tools"
        message = f"{what} take {always:,} tokens; the budget is {budget.total:,}"
        yield document.problem(("budget", "total"), "over-budget", message, "raise it, or shorten the texts")
    if frozen and budget.protocols is not None:
        message = "this budget has no effect: `frozen` shows every tool's instructions from the start"
        hint = "remove it, or choose `append`; `budget.total` applies under every delivery"
        at = ("budget", "protocols")
        yield document.problem(at, "ignored-budget", message, hint, severity="warning")
    for name, tokens in costs.items():
        if budget.protocols is not None and tokens > budget.protocols:
            message = f"the instructions of `{name}` take {tokens:,} tokens, so they can never be shown"
            yield document.problem(("budget", "protocols"), "over-budget", message, "raise it, or shorten them")
