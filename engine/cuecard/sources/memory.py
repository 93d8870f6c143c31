"""The working memory as text: a header, then a few lines per type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cuecard.config.memory_spec import MemorySpec
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import Words
from cuecard.model import Cut, Entity, Memory
from cuecard.sources.entities import newest

_LONGEST_NAME = 200
"""The maximum length of a name in characters. Names come from tools, and lines of the prompt must be bounded."""


def memory_text(memory: Memory, spec: MemorySpec, words: Words) -> tuple[str, tuple[Cut, ...]]:
    """The text, and what the limits left out.

    Types are ordered by their most recent entity, entities newest first, with at most `per_type` lines each. Line
    breaks in a name become spaces, and a name that is too long is truncated.
    """
    kept = newest(memory.entities, spec.total)
    by_type: dict[str, list[Entity]] = {}
    for entity in kept:
        by_type.setdefault(entity.type, []).append(entity)
    shown = {kind: entities[: spec.per_type] for kind, entities in by_type.items()}
    lines = [line for kind, entities in shown.items() for line in _lines(kind, entities, words)]
    text = "\n".join([words.heading, *lines]) if lines else spec.empty
    return text, _cuts(memory, {e.id for entities in shown.values() for e in entities}, kept)


def _lines(kind: str, entities: Sequence[Entity], words: Words) -> Iterator[str]:
    yield fill(words.types.get(kind, words.type), {"type": _one_line(kind)})
    for entity in entities:
        yield fill(words.entity, {"name": _name(entity), "id": _one_line(entity.key or entity.id)})


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(entity: Entity) -> str:
    name = _one_line(entity.name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _cuts(memory: Memory, shown: set[str], kept: tuple[Entity, ...]) -> tuple[Cut, ...]:
    in_total = {entity.id for entity in kept}
    gone = tuple(
        Cut(f"memory {e.type} {e.id}", "more than memory.per_type" if e.id in in_total else "more than memory.total")
        for e in newest(memory.entities, len(memory.entities))
        if e.id not in shown
    )
    long = (e for e in kept if e.id in shown and len(_one_line(e.name)) > _LONGEST_NAME)
    return (*gone, *(Cut(f"memory {e.type} {e.id}", f"a name of more than {_LONGEST_NAME} characters") for e in long))
