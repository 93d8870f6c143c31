"""What templates rarely mean: texts printed with HTML escapes, and tags of other languages, which are printed as
text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cuecard.agent.assembly import Compiled
from cuecard.agent.results import READS, ResultText
from cuecard.agent.sections.section import BUILT_IN
from cuecard.agent.trees import Trees, reachable
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem, Span
from cuecard.template.markup.tags import in_attributes
from cuecard.template.syntax.habits import FOREIGN, PLACEHOLDER, foreign_hint, is_code
from cuecard.template.syntax.nodes import Content, Mustache, Path, Statement, walk
from cuecard.template.syntax.source import Source


def check_habits(compiled: Sequence[Compiled], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each occurrence, in sections and in the partials that they call."""
    texts = {name for name, declared in spec.inputs.items() if declared.type == "string" and declared.trust == "data"}
    known = frozenset((*spec.inputs, *BUILT_IN))
    called: dict[str, set[Span]] = {}
    quoted: dict[int, frozenset[int]] = {}  # by program: the sections of a core template share one
    for each in compiled:
        text = each.text
        body = [node for node in text.program.body if text.start <= node.start < text.end]
        uses: dict[str, set[Span]] = {name: set() for name in ("", *reachable(partials, body))}
        for use in text.inputs:
            if use.name in texts:
                uses.setdefault(use.template, set()).add(use.span)
        own = set().union(*(spans for name, spans in uses.items() if name not in partials))
        if own and id(text.program) not in quoted:
            quoted[id(text.program)] = in_attributes(text.program, text.source.text)
        yield from map(text.place, _habits(text.source, body, own, quoted.get(id(text.program), frozenset()), known))
        for name, spans in uses.items():
            if name in partials:
                called.setdefault(name, set()).update(spans)
    yield from _in_partials(partials, called, known)


def check_result_habits(texts: Sequence[ResultText]) -> Iterator[Problem]:
    """The same for the templates of results, in which `content` is a text."""
    for each in texts:
        template = each.template
        source = Source(template.name, template.text)
        spans = {use.span for use in template.inputs if use.name in {"content", "tool"} and not use.template}
        quoted = in_attributes(template.program, template.text)
        yield from map(each.place, _habits(source, template.program.body, spans, quoted, READS))


def _in_partials(partials: Trees, called: Mapping[str, Collection[Span]], known: Collection[str]) -> Iterator[Problem]:
    for name, spans in called.items():
        source, program = partials[name]
        yield from _habits(source, program.body, spans, in_attributes(program, source.text), known)


def _habits(
    source: Source,
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
        if isinstance(node, Content):
            yield from _foreign(source, node)
            yield from _placeholders(source, node, known)
        elif isinstance(node, Mustache) and node.escaped and node.start not in quoted:
            yield from _escaped(source, node, texts)


def _foreign(source: Source, node: Content) -> Iterator[Problem]:
    for found in FOREIGN.finditer(source.text, node.start, node.end):
        if is_code(source.text, found.start()):
            continue
        message = f"`{found.group()}` is not a Handlebars tag: it is printed verbatim"
        hint = foreign_hint(found["word"])
        yield source.problem(found.start(), found.end(), "foreign-tag", message, hint, severity="warning")


def _placeholders(source: Source, node: Content, known: Collection[str]) -> Iterator[Problem]:
    for found in PLACEHOLDER.finditer(source.text, node.start, node.end):
        name = found["name"] or found["other"]
        if name in known and not is_code(source.text, found.start()):
            message, hint = (
                f"`{found.group()}` is not a placeholder: it is printed verbatim",
                f"write `{{{{{{{name}}}}}}}`",
            )
            yield source.problem(found.start(), found.end(), "foreign-tag", message, hint, severity="warning")


def _escaped(source: Source, node: Mustache, texts: Collection[Span]) -> Iterator[Problem]:
    head = node.call.head
    if isinstance(head, Path) and len(head.parts) == 1 + head.data and source.span(head.start, head.end) in texts:
        message = f"`{{{{{head.original}}}}}` prints text with escapes: O'Neil as O&#x27;Neil"
        hint = f"write `{{{{{{{head.original}}}}}}}`: it stays readable, and still cannot open or close a section"
        yield source.problem(node.start, node.end, "escaped-text", message, hint, severity="warning")
