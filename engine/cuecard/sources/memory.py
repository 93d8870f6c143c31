"""The working memory as text, in the form of the CMS seed (003): a header, then a few lines per type."""

from __future__ import annotations

from cuecard.config.agent_file import MemorySpec
from cuecard.model import Cut, Entity, Memory
from cuecard.sources.entities import newest


def memory_text(memory: Memory, spec: MemorySpec) -> tuple[str, tuple[Cut, ...]]:
    """The text, and what the limits left out.

    Types stand in the order of their most recent entity, entities newest first, at most `per_type` lines each.
    A name keeps to its line: line breaks in it become spaces.
    """
    kept = newest(memory.entities, spec.total)
    by_type: dict[str, list[Entity]] = {}
    for entity in kept:
        by_type.setdefault(entity.type, []).append(entity)
    shown = {kind: entities[: spec.per_type] for kind, entities in by_type.items()}
    lines = [line for kind, entities in shown.items() for line in (f"{_one_line(kind)}s:", *map(_line, entities))]
    text = "\n".join(["[WORKING MEMORY]", *lines]) if lines else spec.empty
    return text, _cuts(memory, {e.id for entities in shown.values() for e in entities}, kept)


def _line(entity: Entity) -> str:
    return f'  - "{_one_line(entity.name)}" ({_one_line(entity.id)})'


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cuts(memory: Memory, shown: set[str], kept: tuple[Entity, ...]) -> tuple[Cut, ...]:
    in_total = {entity.id for entity in kept}
    left_out = {e.id: e for e in memory.entities if e.id not in shown}
    return tuple(
        Cut(f"memory {e.type} {e.id}", "more than memory.per_type" if e.id in in_total else "more than memory.total")
        for e in left_out.values()
    )
