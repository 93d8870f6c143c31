"""The section source `rows`: the entries of a list that the host supplies, in order, within a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cuecard.config.sections.sources_spec import RowsSpec
from cuecard.errors import Problem, TemplateError, TemplateSyntaxError
from cuecard.model import Cut, Json
from cuecard.records import dataclass
from cuecard.sources.content import Content, SourceInput, is_blank, one_line
from cuecard.template import Escaping, Template, compile_template
from cuecard.template.runtime.values import text_of

OWN = ("item",)
"""The names that the template of an entry may read besides the values of the call."""

_TEXTS = ("item", "before", "after")


@dataclass(frozen=True, slots=True)
class RowsSource:
    """Compiled rows; `source(given)` returns the section's content. Created by `compile_rows`."""

    spec: RowsSpec
    templates: Mapping[str, Template]
    printed: Callable[[str], str] = lambda text: text

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that it reads."""
        read = {use.name for template in self.templates.values() for use in template.inputs}
        return frozenset({self.spec.input} | read - set(OWN))

    def __call__(self, given: SourceInput) -> Content:
        """The entries as text, with a cut for each beyond the limit.

        Raises:
            TemplateRenderError: when a template reads a value that the call does not have.
        """
        held = given.values.get(self.spec.input)
        entries = self._sorted([entry for entry in held if _says(entry)]) if isinstance(held, (list, tuple)) else []
        limit = len(entries) if self.spec.limit is None else self.spec.limit
        cuts = [
            Cut(f"{self.spec.input} {place}", f"rows.limit: {limit}") for place in range(limit + 1, len(entries) + 1)
        ]
        shown = [{"item": self._shown(entry)} for entry in entries[:limit]]
        rows = self.spec.separator.join(self._text("item", given, own) for own in shown)
        if is_blank(rows):
            return Content("", tuple(cuts))
        return Content(self._text("before", given) + rows + self._text("after", given), tuple(cuts))

    def _sorted(self, entries: list[Json]) -> list[Json]:
        if not self.spec.sort_by:
            return entries
        return sorted(entries, key=self._key, reverse=self.spec.descending)

    def _key(self, entry: Json) -> tuple[bool, float, str]:
        """The sort key: numbers by size, before texts; entries without the key come first."""
        value = entry.get(self.spec.sort_by) if isinstance(entry, Mapping) else None
        if isinstance(value, (int, float)):
            return False, value, ""
        return value is not None, 0, text_of(value)

    def _shown(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.printed(one_line(value) if self.spec.lines == "join" else value.strip())
        if isinstance(value, Mapping):
            return {key: self._shown(inner) for key, inner in value.items()}
        return [self._shown(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    def _text(self, name: str, given: SourceInput, own: Mapping[str, Json] | None = None) -> str:
        return self.templates[name].render({**given.values, **(own or {})})


def _says(value: Json) -> bool:
    """Whether an entry contains any text or number."""
    if isinstance(value, Mapping):
        return any(map(_says, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_says, value))
    return bool(text_of(value).strip())


def compile_rows(
    spec: RowsSpec,
    name: str,
    *,
    escaping: Escaping = "text",
    printed: Callable[[str], str] = lambda text: text,
) -> RowsSource:
    """Compile rows.

    Args:
        spec: which list, and its format.
        name: its name in errors, such as `sections.memory.rows`.
        escaping: how `{{{x}}}` prints data.
        printed: applied to each text before it is printed: `trusted`, or a function that keeps it from looking like a
            part of the layout.

    Raises:
        TemplateSyntaxError: with every problem of its templates.
    """
    templates: dict[str, Template] = {}
    problems: list[Problem] = []
    for key in _TEXTS:
        try:
            templates[key] = compile_template(getattr(spec, key), name=f"{name}.{key}", escaping=escaping)
        except TemplateError as error:
            problems += error.problems
    if problems:
        raise TemplateSyntaxError(problems)
    return RowsSource(spec, templates, printed)
