"""The section source `facts`: facts about a call, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from cuecard.config.sections.sources_spec import FactsSpec
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.sources.clock import ClockSource
from cuecard.sources.content import Content, SourceInput, is_blank, one_line
from cuecard.template import Escaping, Template, compile_template, trusted
from cuecard.template.runtime.values import text_of

OWN = ("label", "value")
"""The names that the template of a fact may read besides the values of the call."""

CLOCK = ("datetime", "date", "time", "timezone")
"""The values that a clock adds."""


@dataclass(frozen=True, slots=True)
class FactsSource:
    """Compiled facts; `source(given)` returns the section's content. Created by `compile_facts`."""

    spec: FactsSpec
    line: Template
    printed: Callable[[str], str] = lambda text: text

    @property
    def inputs(self) -> frozenset[str]:
        """The values of a call that it reads."""
        named = {path.partition(".")[0] for path in (*self.spec.labels, self.spec.others) if path}
        clock = self.spec.clock
        told = named - set(CLOCK) | ClockSource(clock).inputs if clock else named
        return frozenset(told | {use.name for use in self.line.inputs if use.name not in OWN})

    def __call__(self, given: SourceInput) -> Content:
        """The facts as text.

        Raises:
            InputError: when the clock's zone or locale is invalid.
            TemplateRenderError: when the template reads a value that the call does not have.
        """
        clock = ClockSource(self.spec.clock)(given).values if self.spec.clock else {}
        lines = [self._line(label, text, given) for label, text in self._facts({**given.values, **clock})]
        text = self.spec.separator.join(lines)
        return Content("" if is_blank(text) else text)

    def _facts(self, values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
        for path, label in self.spec.labels.items():
            if text := fact_text(_at(values, path)):
                yield trusted(label), text
        others = _at(values, self.spec.others) if self.spec.others else None
        # Sorted, because equal mappings must give equal prompts, however the host built them.
        for name, value in sorted(others.items()) if isinstance(others, Mapping) else ():
            if text := fact_text(value):
                yield one_line(name), text

    def _line(self, label: str, text: str, given: SourceInput) -> str:
        return self.line.render({**given.values, "label": label, "value": self.printed(text)})


def compile_facts(
    spec: FactsSpec,
    name: str,
    *,
    escaping: Escaping = "text",
    printed: Callable[[str], str] = lambda text: text,
) -> FactsSource:
    """Compile facts.

    Args:
        spec: which facts, and their format.
        name: its name in errors, such as `agent.yaml: sections.facts`.
        escaping: how `{{{x}}}` prints data.
        printed: applied to each value before it is printed: `trusted`, or a function that keeps it from looking like a
            part of the layout.

    Raises:
        TemplateSyntaxError: with every problem of `line`.
    """
    return FactsSource(spec, compile_template(spec.line, name=f"{name}.line", escaping=escaping), printed)


def fact_text(value: Json) -> str:
    """A value on one line: lists of plain values with commas, objects as JSON; empty for an empty value."""
    if value is None or value in ("", [], (), {}):
        return ""
    if isinstance(value, Mapping):
        return one_line(_json(value))
    if isinstance(value, (list, tuple)):
        is_plain = not any(isinstance(item, (Mapping, list, tuple)) for item in value)
        return ", ".join(filter(None, map(fact_text, value))) if is_plain else one_line(_json(value))
    return one_line(text_of(value))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _at(values: Mapping[str, Json], path: str) -> Json:
    def inner(value: Json, key: str) -> Json:
        return value.get(key) if isinstance(value, Mapping) else None

    return reduce(inner, path.split("."), values)
