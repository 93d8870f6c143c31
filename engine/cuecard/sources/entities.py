"""Entities out of tool results: how the working memory learns what the conversation has touched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from cuecard.config.agent_file import ExtractSpec, MemorySpec
from cuecard.config.values.placeholders import fill
from cuecard.config.words.prompt_words import MemoryWords
from cuecard.config.words_spec import ENGLISH
from cuecard.model import Entity, History, Json, Memory, ToolResult
from cuecard.template import without_controls


def remember(memory: Memory, results: History, spec: MemorySpec, words: MemoryWords = ENGLISH.memory) -> Memory:
    """The memory after these results: newest first, one entry per id, at most `spec.total`.

    Results that are errors teach nothing. Within one result the first entity found is the newest. What a turn would be
    refused for never gets in: names lose control characters, and no entity has an id that holds one.
    """
    entities = list(memory.entities)
    for item in results:
        if not item.is_error:
            entities = [*entities_in(item, spec, words), *entities]
    return Memory(newest(entities, spec.total))


def newest(entities: list[Entity] | tuple[Entity, ...], total: int) -> tuple[Entity, ...]:
    """The first `total` entities, each id once, in its most recent place."""
    unique: dict[str, Entity] = {}
    for entity in entities:
        unique.setdefault(entity.id, entity)
    return tuple(unique.values())[:total]


def entities_in(item: ToolResult, spec: MemorySpec, words: MemoryWords = ENGLISH.memory) -> list[Entity]:
    """Every entity that the configured rules find in one result, in rule order."""
    result = _parsed(item.result)
    return [
        entity
        for rule in spec.extract
        if not rule.when or (isinstance(result, dict) and result.get(rule.when) is True)
        for value in _candidates(_at(result, rule.at), rule)
        if (entity := _entity(value, rule, item.tool, spec, words))
    ]


def _parsed(result: Json) -> Json:
    if not isinstance(result, str):
        return result
    try:
        return json.loads(result)
    except (ValueError, RecursionError):
        return None


def _at(value: Json, path: str) -> Json:
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _candidates(value: Json, rule: ExtractSpec) -> Iterator[Mapping[str, Json]]:
    values = value[: rule.limit] if isinstance(value, list) else [value]
    yield from (v for v in values if isinstance(v, dict))


def _entity(
    value: Mapping[str, Json], rule: ExtractSpec, tool: str, spec: MemorySpec, words: MemoryWords
) -> Entity | None:
    identity = value.get("id")
    if isinstance(identity, bool) or not isinstance(identity, (str, int)) or identity == "":
        return None
    if isinstance(identity, str) and without_controls(identity) != identity:
        return None  # the next turn would be refused for it, and no tool call could carry it
    stated = value.get("type")
    kind = rule.type or (without_controls(stated) if isinstance(stated, str) else "") or _type_of(tool, spec)
    keys = spec.names.get(kind) or spec.names.get("*") or ("name", "title", "slug")
    named = next((value[key] for key in keys if isinstance(value.get(key), str) and value[key].strip()), None)
    if named is None and not rule.at:
        # A bare `id` at the top of a result may be anything; a list or a named field holds entities by intent.
        return None
    return Entity(kind, str(identity), without_controls(named or "") or fill(words.unnamed, {"type": kind}))


def _type_of(tool: str, spec: MemorySpec) -> str:
    return next((kind for pattern, kind in spec.types.items() if fnmatchcase(tool, pattern)), "resource")
