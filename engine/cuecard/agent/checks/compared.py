"""Comparisons in templates with values that an input can never have: `(eq mode "pln")` where `values` are declared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cuecard.agent.assembly import Compiled
from cuecard.agent.trees import Trees
from cuecard.config.agent_file import AgentFile, InputSpec
from cuecard.errors import Problem, Span, did_you_mean
from cuecard.template.syntax.nodes import Block, Call, Expression, Literal, Mustache, Path, Statement, walk
from cuecard.template.syntax.source import Source

_COMPARE = frozenset({"eq", "ne", "one_of"})


def check_compared(compiled: Sequence[Compiled], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each such comparison, in sections and in the partials that they call."""
    closed = {name: declared for name, declared in spec.inputs.items() if declared.values is not None}
    called: dict[str, set[Span]] = {}
    for each in compiled if closed else ():
        text = each.text
        body = [node for node in text.program.body if text.start <= node.start < text.end]
        own = {use.span for use in text.inputs if use.name in closed and use.template not in partials}
        yield from map(text.place, _comparisons(text.source, body, own, closed))
        for use in text.inputs:
            if use.name in closed and use.template in partials:
                called.setdefault(use.template, set()).add(use.span)
    for name, spans in called.items():
        source, program = partials[name]
        yield from _comparisons(source, program.body, spans, closed)


def _comparisons(
    source: Source, body: Sequence[Statement], uses: Collection[Span], closed: Mapping[str, InputSpec]
) -> Iterator[Problem]:
    """The comparisons in statements; `uses`: the places where inputs with declared values are read."""
    for node in walk(body):
        for call in _calls(node.call) if isinstance(node, Block | Mustache) else ():
            read = [each for each in call.params if isinstance(each, Path) and len(each.parts) == 1]
            known = [each for each in read if source.span(each.start, each.end) in uses]
            for path in known:
                yield from _never(source, call, path, closed[path.parts[0]])


def _calls(expression: Expression | Call) -> Iterator[Call]:
    """The comparisons in an expression, including nested ones."""
    if not isinstance(expression, Call):
        return
    if isinstance(expression.head, Path) and expression.head.original in _COMPARE:
        yield expression
    for inner in (*expression.params, *(value for _, value in expression.hash)):
        yield from _calls(inner)


def _never(source: Source, call: Call, path: Path, spec: InputSpec) -> Iterator[Problem]:
    values = spec.values or ()
    for each in call.params:
        if isinstance(each, Literal) and each.value is not None and each.value not in values:
            message = f"`{path.original}` can never be `{each.original}`"
            hint = did_you_mean(each.original, map(str, values))
            yield source.problem(each.start, each.end, "no-effect", message, hint, severity="warning")
