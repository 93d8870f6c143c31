"""The mistakes that mutmut would make in modules: run by the Python of `.tools/mutate`, which alone has it.

It reads a JSON object, `{"files": [...], "seed": ..., "number": ...}`, and prints a line of JSON for each mistake that
it draws. Of several mistakes at one place it draws one: a text alone would otherwise stand for three.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper
from mutmut.mutation.file_mutation import Mutation, create_mutations


@dataclass(frozen=True)
class Module:
    """A module, and all the mistakes that can be made in its functions, by place."""

    file: str
    text: str
    tree: libcst.Module
    spans: Any
    places: list[list[Mutation]]

    @classmethod
    def read(cls, file: str) -> Module:
        """The module of a file."""
        text, found = Path(file).read_text(encoding="utf-8"), dict[int, list[Mutation]]()
        tree, mutations, *_ = create_mutations(file, text)
        for each in mutations:
            if each.contained_by_top_level_function is not None:
                found.setdefault(id(each.original_node), []).append(each)
        spans = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
        return cls(file, text, tree, spans, [*found.values()])

    def made(self, mistake: Mutation) -> dict[str, Any]:
        """The module with a mistake, and what it changes."""
        span, data = self.spans[mistake.original_node], self.text.encode()
        end = span.start + span.length
        new = self.tree.code_for_node(mistake.mutated_node).encode()
        if data[span.start : end] != self.tree.code_for_node(mistake.original_node).encode():  # it has parentheses
            new = self.tree.deep_replace(mistake.original_node, mistake.mutated_node).code.encode()
            span, end = None, 0
        text = (new if span is None else data[: span.start] + new + data[end:]).decode()
        head, *told = [*difflib.unified_diff(self.text.splitlines(), text.splitlines(), n=0, lineterm="")][2:]
        line = int(head.split()[1].lstrip("-").partition(",")[0])
        return {"file": self.file, "line": line, "change": [each for each in told if each[0] in "+-"], "text": text}


def main() -> None:
    """Print what is asked for."""
    asked = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        modules = [Module.read(file) for file in sorted(asked["files"])]
    found = [(module, place) for module in modules for place in module.places]
    drawn = random.Random(asked["seed"])  # noqa: S311 - the same mistakes for the same seed
    drawn.shuffle(found)
    for module, place in found[: asked["number"] or None]:
        print(json.dumps(module.made(drawn.choice(place))))


if __name__ == "__main__":
    main()
