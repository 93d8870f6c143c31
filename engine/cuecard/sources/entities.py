"""Extracts entities from tool results, so that the working memory knows what the conversation has touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from cuecard.config.cues import PENDING
from cuecard.config.memory_spec import ExtractSpec, ForgetSpec, MemorySpec
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import Words
from cuecard.model import Entity, History, Json, Memory
from cuecard.sources.gone import forget_rules, without_gone
from cuecard.sources.result_values import applies, identifier, read_result, value_at
from cuecard.template import without_controls

_LONGEST_TYPE = 100


def remember(
    memory: Memory,
    results: History,
    spec: MemorySpec,
    words: Words,
    asks: str = PENDING,
) -> Memory:
    """The memory after these results: newest first, one entry per id, at most `spec.total`, without deleted entities.

    Error results are ignored. Within one result, the first entity found is the newest. Nothing is stored that a turn
    would reject: control characters are removed from names, and entities with such an id are skipped. Results are
    processed one after the other, so that the memory does not depend on how they were portioned. A result in which the
    key `asks` is true asks for confirmation, so nothing has been deleted.
    """
    entities = newest(memory.entities, spec.total)
    for item in results:
        if not item.is_error:
            result = _without_frame(read_result(item.result), item.tool, spec)
            known = [*entities_in(item.tool, result, spec, words), *entities]
            kept = known if item.pending else without_gone(known, item.tool, result, spec, asks)
            entities = newest(kept, spec.total)
    return Memory(entities)


def _without_frame(result: Json, tool: str, spec: MemorySpec) -> Json:
    """The value of `result` if it is the only key and no rule names it: MCP servers and frameworks add it."""
    if not isinstance(result, Mapping) or result.keys() != {"result"}:
        return result
    rules: list[ExtractSpec | ForgetSpec] = [*spec.extract, *forget_rules(tool, spec)]
    asked = any("result" in {rule.when, rule.at.partition(".")[0]} for rule in rules)
    return result if asked else read_result(result["result"])


def newest(entities: Iterable[Entity], total: int) -> tuple[Entity, ...]:
    """The first `total` entities, each id once at its most recent place; a known key is kept."""
    unique: dict[str, Entity] = {}
    for entity in entities:
        newer = unique.setdefault(entity.id, entity)
        if entity.key and not newer.key and entity.type == newer.type:
            unique[entity.id] = replace(newer, key=entity.key)
    return tuple(unique.values())[:total]


def entities_in(tool: str, result: Json, spec: MemorySpec, words: Words) -> list[Entity]:
    """Every entity that the configured rules find in one result, in rule order."""
    return [
        entity
        for rule in spec.extract
        if applies(result, rule.when)
        for value in _candidates(value_at(result, rule.at), rule)
        if (entity := _entity(value, rule, tool, spec, words))
    ]


def _candidates(value: Json, rule: ExtractSpec) -> Iterator[Mapping[str, Json]]:
    values = value[: rule.limit] if isinstance(value, list) else [value]
    yield from (v for v in values if isinstance(v, dict))


def _entity(value: Mapping[str, Json], rule: ExtractSpec, tool: str, spec: MemorySpec, words: Words) -> Entity | None:
    identity = identifier(value.get("id"))
    if not identity:
        return None
    kind = rule.type or _stated(value.get("type")) or _type_of(tool, spec)
    keys = spec.names.get(kind) or spec.names.get("*") or ("name", "title", "slug")
    named = next((value[key] for key in keys if isinstance(value.get(key), str) and value[key].strip()), None)
    if named is None and not rule.at:
        # A bare `id` at the top of a result may be anything; a list or a named field holds entities by intent.
        return None
    taken = spec.keys.get(kind) or spec.keys.get("*") or ()
    key = next(filter(None, (identifier(value.get(field)) for field in taken)), "")
    return Entity(kind, identity, without_controls(named or "") or fill(words.unnamed, {"type": kind}), key)


def _stated(kind: Json) -> str:
    """The type that an entity states; empty if it is not a single word."""
    return without_controls(kind) if isinstance(kind, str) and len(kind) <= _LONGEST_TYPE else ""


def _type_of(tool: str, spec: MemorySpec) -> str:
    return next((kind for pattern, kind in spec.types.items() if fnmatchcase(tool, pattern)), "resource")
