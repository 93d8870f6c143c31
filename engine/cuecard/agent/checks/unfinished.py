"""Tool instructions that are still to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cuecard.config.cues import CUES
from cuecard.config.documents.texts import SourceText
from cuecard.config.documents.yaml_text import problem_at
from cuecard.errors import Problem, Span
from cuecard.model import ToolCard

TODO = "TODO"
"""The beginning of a text that is still to be written."""


def check_unfinished(cards: Iterable[ToolCard], files: Sequence[SourceText]) -> Iterator[Problem]:
    """A warning for each tool with a text that still begins with TODO, which the model would read."""
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards:
        told = card.instructions
        texts: dict[str, str] = {"description": card.description}
        texts |= {cue: getattr(told, cue) for cue in CUES if told}
        waiting = [key for key, text in texts.items() if text.lstrip().startswith(TODO)]
        place, _, line = card.source.rpartition(":")
        if waiting and place in known:
            file, at = known[place], int(line)
            row = file.text.split("\n")[at - 1]
            span = Span(at, len(row) - len(row.lstrip()) + 1, len(card.name))
            message = f"`{card.name}` has unfinished texts: {', '.join(waiting)}"
            hint = "models read these texts: write them, or leave out those that would say nothing"
            yield problem_at(file.name, file.text, span, "unfinished-tool", message, hint, severity="warning")
