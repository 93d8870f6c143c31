"""The core template and its partials, compiled and cut into sections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cuecard.agent.checks.partials import check_partials
from cuecard.agent.checks.placeholders import check_placeholders
from cuecard.agent.checks.sections import Placed, check_names, place_sections
from cuecard.agent.checks.trees import Trees, read_trees
from cuecard.agent.nouns import BUILT_IN, Section
from cuecard.config.documents.texts import SourceText
from cuecard.errors import Problem, TemplateError
from cuecard.model import Tier
from cuecard.template import BACKENDS, Escaping, InputUse, Part, compile_template


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """A template that compiles: its sections with their places, what it reads, the trees of all its texts.

    `problems` are those that need no other file.
    """

    trees: Trees
    placed: tuple[Placed, ...]
    inputs: tuple[InputUse, ...]
    problems: tuple[Problem, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        """What the agent renders."""
        return tuple(placed.section for placed in self.placed)


Backend: TypeAlias = Literal["cuecard", "pybars3"]


def read_core(
    source: SourceText, partials: tuple[SourceText, ...], escaping: Escaping, backend: Backend, names: frozenset[str]
) -> Core:
    """Compile and check a core template. No data may open or close an element of one of the `names`.

    Raises:
        TemplateError: with every reason why it does not compile.
    """
    texts = {partial.stem: partial.text for partial in partials}
    try:
        template = compile_template(
            source.text,
            name=source.name,
            partials=texts,
            escaping=escaping,
            names=names,
            backend=BACKENDS[backend],
        )
        parts = template.outline().parts
    except TemplateError as error:
        files = {partial.stem: partial.name for partial in partials}
        raise type(error)(replace(p, name=files.get(p.name, p.name)) for p in error.problems) from None
    trees = read_trees(source, partials)
    placed = place_sections(trees, parts, [_section(part, source) for part in parts])
    found = (*check_names(trees, placed), *check_placeholders(trees), *check_partials(trees, partials))
    return Core(trees, placed, template.inputs, found)


def _section(part: Part, source: SourceText) -> Section:
    reads = frozenset(use.name for use in part.inputs)
    return Section(part.id, tier_of(reads), reads, f"{source.path}:{part.span.line}", part.render)


def tier_of(reads: frozenset[str]) -> Tier:
    """How often what reads these inputs may change."""
    tiers = {BUILT_IN.get(name, "call") for name in reads}
    return "step" if "step" in tiers else "call" if tiers else "static"
