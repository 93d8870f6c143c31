"""Sections among each other: one of each name, and nothing that changes before what never does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuecard.agent.checks.trees import MAIN, Trees
from cuecard.agent.nouns import Section
from cuecard.errors import CuecardError, Problem
from cuecard.model import Json
from cuecard.template import Part
from cuecard.template.markup import FILLER, Tag, blanked, mustache_spans, tags
from cuecard.template.nodes import Block
from cuecard.template.source import Source

_RHYTHM = {"call": "from call to call", "step": "from step to step"}


@dataclass(frozen=True, slots=True)
class Placed:
    """A section with its first tag, as offsets into the template; `conditional`: the tag stands in a block."""

    section: Section
    start: int
    end: int
    tag: Tag
    conditional: bool

    @property
    def is_text(self) -> bool:
        """Whether it is more than the closing tag of the root."""
        return self.tag.kind != "close"

    def text(self, source: Source, values: Mapping[str, Json]) -> str:
        """What the section prints; where it cannot be rendered, what is written."""
        try:
            return self.section.render(values)
        except CuecardError:
            return source.text[self.start : self.end]


def place_sections(trees: Trees, parts: Sequence[Part], sections: Sequence[Section]) -> tuple[Placed, ...]:
    """The parts of a core template with their places, in order."""
    source, program = trees[MAIN]
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    blocks = [node for node in program.body if isinstance(node, Block) and not node.decorator]
    found, end, rest = [], 0, tags(plain)
    for part, section in zip(parts, sections, strict=True):
        start, end = end, end + len(part.text)
        tag = next(tag for tag in rest if tag.start >= start)
        conditional = any(block.start < tag.start < block.end for block in blocks)
        found.append(Placed(section, start, end, tag, conditional))
    return tuple(found)


def check_names(trees: Trees, placed: Sequence[Placed]) -> Iterator[Problem]:
    """A second section of the same name, which manifests and budgets call by another."""
    source, first = trees[MAIN][0], dict[str, Placed]()
    for each in (p for p in placed if p.is_text):
        other = first.setdefault(each.tag.name, each)
        if other is not each:
            message = f"a second section is called `{each.tag.name}`; manifests name it `{each.section.id}`"
            hint = f"the first is at {source.where(other.tag.start)}; rename one, or make one section of both"
            span = each.tag.start, each.tag.end
            yield source.problem(*span, "duplicate-section", message, hint, severity="warning")


def check_tiers(trees: Trees, placed: Sequence[Placed], cost: Callable[[Placed], int]) -> list[Problem]:
    """Sections that change, or are not always there, before static ones, with what the latter cost in tokens.

    Providers cache a prompt up to the first place where it differs from the one before.
    """
    source, lost, last, found = trees[MAIN][0], 0, "", list[Problem]()
    for each in reversed(placed):
        if each.section.tier == "static" and each.is_text:
            lost, last = lost + cost(each), last or each.tag.name
        elif each.section.tier != "static" and last:
            found.append(_early(source, each, lost, last))
    return found[::-1]


def _early(source: Source, each: Placed, lost: int, last: str) -> Problem:
    does = "comes and goes" if each.conditional else "changes"
    message = f"<{each.tag.name}> {does} {_RHYTHM[each.section.tier]}, before {lost:,} tokens of static text"
    return source.problem(
        each.tag.start,
        each.tag.end,
        "conditional-section" if each.conditional else "section-order",
        message,
        f"a prompt cache ends at the first difference: move it behind <{last}>",
        severity="warning",
    )
