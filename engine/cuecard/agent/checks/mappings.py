"""Mappings whose order reaches the prompt: equal values in another order would produce a different prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from cuecard.agent.assembly import Compiled
from cuecard.agent.trees import Trees
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem, Span
from cuecard.template.syntax.nodes import Block, Path, Statement, walk
from cuecard.template.syntax.source import Source


def check_mappings(compiled: Sequence[Compiled], partials: Trees, spec: AgentFile) -> Iterator[Problem]:
    """A warning for each `{{#each x}}` over an input of type `object`, in sections and in the partials they call."""
    objects = {name for name, declared in spec.inputs.items() if declared.type == "object"}
    for each in compiled:
        text = each.text
        uses = {(use.template, use.span): use.name for use in text.inputs if use.name in objects}
        body = [node for node in text.program.body if text.start <= node.start < text.end]
        yield from map(text.place, _unsorted(text.source, body, {s for name, s in uses if name not in partials}))
        for called in dict.fromkeys(name for name, _ in uses if name in partials):
            source, program = partials[called]
            yield from _unsorted(source, program.body, {span for name, span in uses if name == called})


def _unsorted(source: Source, body: Sequence[Statement], uses: Collection[Span]) -> Iterator[Problem]:
    for node in walk(body):
        path = _walked(node) if isinstance(node, Block) else None
        if path and source.span(path.start, path.end) in uses:
            message = f"`each` over the mapping `{path.original}` prints its keys in whatever order the host built it"
            hint = "pass a list, or let the host sort the keys"
            yield source.problem(path.start, path.end, "unsorted-mapping", message, hint, severity="warning")


def _walked(block: Block) -> Path | None:
    """The value that an `each` iterates over, if it is a whole input: `facts`, `../facts` or `@root.facts`."""
    head, params = block.call.head, block.call.params
    if not (isinstance(head, Path) and head.original == "each" and len(params) == 1):
        return None
    value = params[0]
    return value if isinstance(value, Path) and len(value.parts) == 1 + value.data else None
