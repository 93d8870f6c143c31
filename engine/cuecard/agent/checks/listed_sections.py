"""What in a list of sections costs or surprises: text that looks as if it changed, and change before what stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cuecard.agent.checks.mappings import check_mappings
from cuecard.agent.checks.trees import MAIN
from cuecard.agent.checks.volatile import volatile_texts
from cuecard.agent.nouns import Section
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem
from cuecard.template.analysis import inputs_of
from cuecard.template.markup import blanked, mustache_spans
from cuecard.template.parser import parse
from cuecard.template.source import Source

_RHYTHM = {"call": "from call to call", "step": "from step to step"}


@dataclass(frozen=True, slots=True)
class ListedText:
    """A section with its text: `moved` puts a problem of the text where people wrote it, `problem` makes one."""

    section: Section
    source: Source
    moved: Callable[[Problem], Problem]
    problem: Callable[..., Problem]


def check_listed_volatile(texts: Sequence[ListedText]) -> Iterator[Problem]:
    """A warning for each text in a static section that looks as if it changed."""
    for each in texts:
        if each.section.tier == "static":
            plain = blanked(each.source.text, mustache_spans(parse(each.source).body), " ")
            yield from map(each.moved, volatile_texts(each.source, plain, 0))


def check_listed_mappings(texts: Sequence[ListedText], spec: AgentFile) -> Iterator[Problem]:
    """A warning for each text that walks a mapping in whatever order the host has built it."""
    for each in texts:
        program = parse(each.source)
        uses = inputs_of(program.body, each.source, (), {})
        yield from map(each.moved, check_mappings({MAIN: (each.source, program)}, spec, uses))


def check_listed_order(texts: Sequence[ListedText], cost: Callable[[Section], int]) -> list[Problem]:
    """A warning for each section that changes, or comes and goes, before static ones, with what those cost in tokens.

    Providers cache a prompt up to the first place where it differs from the one before.
    """
    lost, last, found = 0, "", list[Problem]()
    for each in reversed(texts):
        section, conditional = each.section, bool(each.section.spec and each.section.spec.when)
        if section.tier == "static" and not conditional:
            lost, last = lost + cost(section), last or section.id
        elif last:
            does = "comes and goes" if conditional else f"changes {_RHYTHM[section.tier]}"
            message = f"`{section.id}` {does}, before {lost:,} tokens of static text"
            hint = f"a prompt cache ends at the first difference: move it behind `{last}`"
            code = "conditional-section" if conditional else "section-order"
            found.append(each.problem(code, message, hint, severity="warning"))
    return found[::-1]
