"""Checks the order of sections: none that changes or is optional should come before static ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuecard.agent.assembly import Compiled
from cuecard.errors import Problem

_RHYTHM = {"call": "from call to call", "step": "from step to step"}


def check_order(compiled: Sequence[Compiled], cost: Callable[[Compiled], int]) -> list[Problem]:
    """A warning for each section that changes or is optional and comes before static ones, with their cost in tokens.

    Providers cache a prompt up to its first difference from the previous one. Only a prompt with such a section is
    counted: unpacking a table of tokens takes longer than all other checks.
    """
    lost, last, found = 0, "", list[Problem]()
    static = list[Compiled]()
    for each in reversed(compiled):
        section = each.section
        conditional = each.text.conditional or section.spec.when is not None
        if section.tier == "static" and not conditional:
            static.append(each)
            last = last or section.label
        elif last:
            lost += sum(map(cost, static))
            static.clear()
            does = "comes and goes" if conditional else f"changes {_RHYTHM[section.tier]}"
            message = f"{section.label} {does}, before {lost:,} tokens of static text"
            hint = f"a prompt cache ends at the first difference: move it after {last}"
            problem = each.text.problem
            found.append(
                problem("conditional-section" if conditional else "section-order", message, hint, severity="warning")
            )
    return found[::-1]
