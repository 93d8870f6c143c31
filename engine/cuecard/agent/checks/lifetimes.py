"""Text of one turn in a part that stays: it is still there when the next message comes, and paid for each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cuecard.agent.assembly import CompiledSection
from cuecard.agent.sections.section_source import outlives
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem

WRITE, READ = 1.25, 0.1
"""What a token costs where it is written to a cache, and each time it is read from it, in plain input tokens: at
Anthropic's factors, as in `prompts/models.yaml`."""


def check_lifetimes(
    compiled: Sequence[CompiledSection], spec: AgentFile, cost: Callable[[CompiledSection], int]
) -> Iterator[Problem]:
    """A warning for each section that stays but reads what is for one turn, and for each that changes with every turn.

    Under `rewrite` nothing stays: the system prompt is made anew with each call.
    """
    if spec.delivery == "rewrite":
        return
    for each in compiled:
        section = each.section
        name = section.label or f"section `{section.id}`"
        for use in each.uses:
            declared = spec.inputs.get(use.name)
            if declared and outlives(section.lifetime, declared.lives):
                message = f"{name} outlives `{use.name}`, which is for one {declared.lives}: {_price(cost(each))}"
                yield _warning(use.problem("one-turn-input", message, _way_out(each, declared.lives)))
        if section.stays and _changes_every_turn(each):
            message = f"{name} changes with every turn, and what it said before stays: {_price(cost(each))}"
            yield _warning(each.text.problem("changes-every-turn", message, _way_out(each, "turn")))


def _changes_every_turn(each: CompiledSection) -> bool:
    """Whether it shows a time that is finer than a day."""
    spec = each.section.spec
    clocks = (spec.clock, spec.facts.clock if spec.facts else None)
    return any(clock is not None and clock.precision != "date" for clock in clocks)


def _price(tokens: int) -> str:
    once, later = f"{WRITE * tokens:,.0f}", f"{READ * tokens:,.0f}"
    return f"each such turn adds its {tokens:,} tokens, which cost {once} once and {later} with each later request"


def _way_out(each: CompiledSection, lives: str) -> str:
    if each.section.frame:
        return "read it in a section, which can leave the conversation again"
    return f"write `lifetime: {lives}`: the text leaves when that ends; `cuecard replay` tells what either costs"


def _warning(problem: Problem) -> Problem:
    return replace(problem, severity="warning")
