"""How the templates of an agent print values: between marks, for the gate that checks the assembled text."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.guard import Trusted, escape_text
from cuecard.template.guards.marks import HTML, Shown, marked
from cuecard.template.runtime.printing import Printer
from cuecard.template.runtime.runtime import Runtime


@dataclass(frozen=True, slots=True)
class MarkingRuntime(Runtime):
    """The runtime of a compiled template whose data must be told apart from its own text."""

    def html(self, value: Json, place: int) -> str:
        """`{{x}}`: escaped as usual and marked as escaped; `Shown` data is only marked."""
        if isinstance(value, Trusted):
            return value
        text = self.text(value, place)
        return marked(text) if isinstance(value, Shown) else marked(Printer.html(self, text, place), HTML)

    def are_clean(self, values: Sequence[Json]) -> bool:  # noqa: ARG002 - whatever they are, they are marked
        """Always false: each value is printed separately, between marks."""
        return False

    def bare(self, value: Json, place: int) -> str:
        """`{{{x}}}`: as it is."""
        return value if isinstance(value, Trusted) else marked(self.text(value, place))

    def attribute(self, value: Json, place: int) -> str:
        """`{{{x}}}` inside an attribute: without quotes and line breaks."""
        if isinstance(value, (Trusted, Shown)):
            return self.bare(value, place)
        return marked(escape_text(self.text(value, place), mode="names", attribute=True))

    def block(self, value: Json, place: int) -> str:
        """The output of a block helper: data, unless the helper is trusted."""
        return value if isinstance(value, Trusted) else marked(self.text(value, place))

    def quoted(self, value: Json, place: int, *, attribute: bool = False) -> str:
        """Data between the tags that `xml` writes; trusted text is printed as it is."""
        text = Runtime.quoted(self, value, place, attribute=attribute)
        return text if isinstance(value, Trusted) else marked(text)
