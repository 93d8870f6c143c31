"""Idioms in templates that rarely mean what they say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cuecard.agent.assembly import CompiledSection
from cuecard.agent.results import READS, ResultText
from cuecard.agent.sections.section import BUILT_IN
from cuecard.agent.trees import Trees, reachable
from cuecard.config.agent_file import AgentFile, InputSpec
from cuecard.errors import Problem, Span, did_you_mean
from cuecard.template.markup.tags import in_attributes
from cuecard.template.syntax.habits import FOREIGN, PLACEHOLDER, foreign_hint, is_code
from cuecard.template.syntax.nodes import (
    Block,
    Expression,
    HelperCall,
    Literal,
    Mustache,
    Path,
    Statement,
    TextNode,
    walk,
)
from cuecard.template.syntax.source import TemplateSource

_COMPARE = frozenset({"eq", "ne", "one_of"})


def check_compared(compiled: Sequence[CompiledSection], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each such comparison, in sections and in the partials that they call."""
    closed = {name: declared for name, declared in spec.inputs.items() if declared.values is not None}
    called: dict[str, set[Span]] = {}
    for each in compiled if closed else ():
        text = each.text
        own = {use.span for use in text.inputs if use.name in closed and use.template not in partials}
        yield from map(text.place, _comparisons(text.source, text.statements, own, closed))
        for use in text.inputs:
            if use.name in closed and use.template in partials:
                called.setdefault(use.template, set()).add(use.span)
    for name, spans in called.items():
        source, program = partials[name]
        yield from _comparisons(source, program.body, spans, closed)


def _comparisons(
    source: TemplateSource, body: Sequence[Statement], uses: Collection[Span], closed: Mapping[str, InputSpec]
) -> Iterator[Problem]:
    """The comparisons in statements; `uses`: the places where inputs with declared values are read."""
    for node in walk(body):
        for call in _calls(node.call) if isinstance(node, Block | Mustache) else ():
            read = [each for each in call.params if isinstance(each, Path) and len(each.parts) == 1]
            known = [each for each in read if source.span(each.start, each.end) in uses]
            for path in known:
                yield from _never(source, call, path, closed[path.parts[0]])


def _calls(expression: Expression | HelperCall) -> Iterator[HelperCall]:
    """The comparisons in an expression, including nested ones."""
    if not isinstance(expression, HelperCall):
        return
    if isinstance(expression.head, Path) and expression.head.original in _COMPARE:
        yield expression
    for inner in (*expression.params, *(value for _, value in expression.hash)):
        yield from _calls(inner)


def _never(source: TemplateSource, call: HelperCall, path: Path, spec: InputSpec) -> Iterator[Problem]:
    values = spec.values or ()
    for each in call.params:
        if isinstance(each, Literal) and each.value is not None and each.value not in values:
            message = f"`{path.original}` can never be `{each.original}`"
            hint = did_you_mean(each.original, map(str, values))
            yield source.problem(each.start, each.end, "no-effect", message, hint, severity="warning")


def check_habits(compiled: Sequence[CompiledSection], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each occurrence, in sections and in the partials that they call."""
    texts = {name for name, declared in spec.inputs.items() if declared.type == "string" and declared.trust == "data"}
    known = frozenset((*spec.inputs, *BUILT_IN))
    called: dict[str, set[Span]] = {}
    quoted: dict[int, frozenset[int]] = {}  # by program: the sections of a core template share one
    for each in compiled:
        text = each.text
        uses: dict[str, set[Span]] = {name: set() for name in ("", *reachable(partials, text.statements))}
        for use in text.inputs:
            if use.name in texts:
                uses[use.template].add(use.span)
        own = uses.pop("")
        if own and id(text.program) not in quoted:
            quoted[id(text.program)] = in_attributes(text.program, text.source.text)
        yield from map(
            text.place, _habits(text.source, text.statements, own, quoted.get(id(text.program), frozenset()), known)
        )
        for name, spans in uses.items():
            called.setdefault(name, set()).update(spans)
    yield from _in_partials(partials, called, known)


def check_result_habits(texts: Sequence[ResultText]) -> Iterator[Problem]:
    """The same for the templates of results, in which `content` is a text."""
    for each in texts:
        template = each.template
        source = TemplateSource(template.name, template.text)
        spans = {use.span for use in template.inputs if use.name in {"content", "tool"} and not use.template}
        quoted = in_attributes(template.program, template.text)
        yield from map(each.place, _habits(source, template.program.body, spans, quoted, READS))


def _in_partials(partials: Trees, called: Mapping[str, Collection[Span]], known: Collection[str]) -> Iterator[Problem]:
    for name, spans in called.items():
        source, program = partials[name]
        yield from _habits(source, program.body, spans, in_attributes(program, source.text), known)


def _habits(
    source: TemplateSource,
    body: Sequence[Statement],
    texts: Collection[Span],
    quoted: Collection[int],
    known: Collection[str],
) -> Iterator[Problem]:
    """All occurrences in statements.

    Args:
        source: the text.
        body: its statements.
        texts: the places where inputs that are texts are read.
        quoted: the offsets of placeholders in attributes.
        known: the names of known values.
    """
    for node in walk(body):
        if isinstance(node, TextNode):
            yield from _foreign(source, node)
            yield from _placeholders(source, node, known)
        elif isinstance(node, Mustache) and node.escaped and node.start not in quoted:
            yield from _escaped(source, node, texts)


def _foreign(source: TemplateSource, node: TextNode) -> Iterator[Problem]:
    for found in FOREIGN.finditer(source.text, node.start, node.end):
        if is_code(source.text, found.start()):
            continue
        message = f"`{found.group()}` is not a Handlebars tag: it is printed verbatim"
        hint = foreign_hint(found["word"])
        yield source.problem(found.start(), found.end(), "foreign-tag", message, hint, severity="warning")


def _placeholders(source: TemplateSource, node: TextNode, known: Collection[str]) -> Iterator[Problem]:
    for found in PLACEHOLDER.finditer(source.text, node.start, node.end):
        name = found["name"] or found["other"]
        if name in known and not is_code(source.text, found.start()):
            message, hint = (
                f"`{found.group()}` is not a placeholder: it is printed verbatim",
                f"write `{{{{{{{name}}}}}}}`",
            )
            yield source.problem(found.start(), found.end(), "foreign-tag", message, hint, severity="warning")


def _escaped(source: TemplateSource, node: Mustache, texts: Collection[Span]) -> Iterator[Problem]:
    head = node.call.head
    if isinstance(head, Path) and len(head.parts) == 1 + head.data and source.span(head.start, head.end) in texts:
        message = f"`{{{{{head.original}}}}}` prints text with escapes: O'Neil as O&#x27;Neil"
        hint = f"write `{{{{{{{head.original}}}}}}}`: it stays readable, and still cannot open or close a section"
        yield source.problem(node.start, node.end, "escaped-text", message, hint, severity="warning")
