"""Removes entities from the working memory that a tool reports as deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from cuecard.config.memory_spec import ForgetSpec, MemorySpec
from cuecard.model import Entity, Json
from cuecard.sources.result_values import applies, identifier, value_at


def without_gone(entities: Iterable[Entity], tool: str, result: Json, spec: MemorySpec, asks: str) -> list[Entity]:
    """The entities that remain after this successful result of a tool.

    Args:
        entities: the known entities, and those in the result.
        tool: the tool of the result.
        result: the result.
        spec: the rules.
        asks: the key that is true in a result that asks for confirmation, so nothing has been deleted yet.
    """
    kept = list(entities)
    if isinstance(result, Mapping) and result.get(asks) is True:
        return kept
    for rule in forget_rules(tool, spec):
        if applies(result, rule.when):
            gone = set(_identifiers(value_at(result, rule.at)))
            kept = [entity for entity in kept if not _is_gone(entity, rule.type, gone)]
    return kept


def forget_rules(tool: str, spec: MemorySpec) -> Iterator[ForgetSpec]:
    """The rules for results of this tool."""
    for pattern, rules in spec.forget.items():
        if fnmatchcase(tool, pattern):
            yield from rules


def _identifiers(value: Json) -> Iterator[str]:
    for item in value if isinstance(value, (list, tuple)) else [value]:
        yield identifier(item.get("id") if isinstance(item, Mapping) else item)


def _is_gone(entity: Entity, kind: str, gone: set[str]) -> bool:
    return kind in ("", entity.type) and not gone.isdisjoint({entity.id, entity.key or entity.id})
