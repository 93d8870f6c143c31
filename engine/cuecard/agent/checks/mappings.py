"""Mappings whose order reaches the prompt: equal values in another order would make another prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cuecard.agent.checks.trees import Trees
from cuecard.config.agent_file import AgentFile
from cuecard.errors import Problem, Span
from cuecard.template import InputUse
from cuecard.template.nodes import Block, Path, walk


def check_mappings(trees: Trees, spec: AgentFile, uses: tuple[InputUse, ...]) -> Iterator[Problem]:
    """A warning for each `{{#each x}}` over an input of type `object`."""
    objects = {name for name, declared in spec.inputs.items() if declared.type == "object"}
    places: Mapping[tuple[str, Span], str] = {(use.template, use.span): use.name for use in uses}
    for name, (source, program) in trees.items():
        for node in walk(program.body):
            path = _walked(node) if isinstance(node, Block) else None
            if path and places.get((name, source.span(path.start, path.end))) in objects:
                message = f"`each` over the mapping `{path.original}` prints in whatever order the host built it"
                hint = "pass a list, or let the host sort the keys"
                yield source.problem(path.start, path.end, "unsorted-mapping", message, hint, severity="warning")


def _walked(block: Block) -> Path | None:
    """The value that an `each` goes through, if it is a whole input: `facts`, `../facts` or `@root.facts`."""
    head, params = block.call.head, block.call.params
    if not (isinstance(head, Path) and head.original == "each" and len(params) == 1):
        return None
    value = params[0]
    return value if isinstance(value, Path) and len(value.parts) == 1 + value.data else None
