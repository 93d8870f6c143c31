"""The section source `tools`: the tools that exist for a call, one by one."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.config.sections.tool_list_spec import ToolListSpec, VisibilitySpec
from cuecard.model import Cut, ToolCard
from cuecard.records import dataclass
from cuecard.sources.content import Content, Given
from cuecard.sources.text import is_blank, joined, one_line
from cuecard.sources.tools.examples import examples_text
from cuecard.sources.tools.visibility import visible
from cuecard.template import Escaping, Template, compile_template, trusted

OWN = ("name", "description", "category")
"""The names that the template of a tool may read besides the values of the call."""


@dataclass(frozen=True, slots=True)
class ToolListSource:
    """A compiled list of tools; `source(given)` returns the section's content. Created by `compile_tool_list`."""

    spec: ToolListSpec
    item: Template
    visibility: VisibilitySpec | None = None
    printed: Callable[[str], str] = lambda text: text

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that its template reads."""
        return frozenset(use.name for use in self.item.inputs if use.name not in OWN)

    def __call__(self, given: Given) -> Content:
        """The list, with a cut for each tool that a gate keeps out.

        Raises:
            TemplateRenderError: when the template reads a value that the call does not have.
        """
        if given.tools is None:
            return Content(self.spec.unknown)
        if self.visibility is None:
            return self._listed(given.tools, (), given)
        return self._listed(*visible(given.tools, given.gates, self.visibility, unlisted=self.visibility.meta), given)

    def _listed(self, cards: tuple[ToolCard, ...], cuts: tuple[Cut, ...], given: Given) -> Content:
        if self.spec.sort == "name":
            cards = tuple(sorted(cards, key=lambda card: card.name))
        lines, refused = [], list(cuts)
        for card in cards:
            description, dropped = self._described(card)
            own = {"name": card.name, "category": card.category, "description": description}
            lines.append(self.item.render({**given.values, **own}))
            refused += dropped
        text = self.spec.separator.join(lines)
        return Content(self.spec.empty if is_blank(text) else text, tuple(refused))

    def _described(self, card: ToolCard) -> tuple[str, tuple[Cut, ...]]:
        text = one_line(card.description) if self.spec.lines == "join" else card.description.strip()
        text = self.printed(text) if text else trusted(self.spec.missing_description)
        examples, cuts = examples_text(card, self.spec.examples.get(card.name, {}))
        return joined(text, self.spec.examples_heading + examples) if examples else text, cuts


def compile_tool_list(
    spec: ToolListSpec,
    name: str,
    *,
    escaping: Escaping = "text",
    visibility: VisibilitySpec | None = None,
    printed: Callable[[str], str] = lambda text: text,
) -> ToolListSource:
    """Compile a list of tools.

    Args:
        spec: its format.
        name: its name in errors, such as `agent.yaml: sections.tooling`.
        escaping: how `{{{x}}}` prints data.
        visibility: the effect of the call's gates; None if the tools have passed them already.
        printed: applied to each description before it is printed: `trusted`, or a function that keeps it from looking
            like a part of the layout.

    Raises:
        TemplateSyntaxError: with every problem of `item`.
    """
    item = compile_template(spec.item, name=f"{name}.item", escaping=escaping)
    return ToolListSource(spec, item, visibility, printed)
