"""The working memory: what it learns from results, what it forgets, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from cuecard.config.results_spec import ExtractSpec, ForgetSpec, MemorySpec
from cuecard.config.tools_spec import PENDING
from cuecard.config.values import fill, value_at
from cuecard.config.words_spec import Words
from cuecard.model import Cut, Entity, History, Json, Memory
from cuecard.sources.result_values import applies, identifier, read_result
from cuecard.template import without_controls


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
            gone = _Gone(value_at(result, rule.at), rule.type or _type_of(tool, spec), spec)
            kept = [entity for entity in kept if entity not in gone]
    return kept


def forget_rules(tool: str, spec: MemorySpec) -> Iterator[ForgetSpec]:
    """The rules for results of this tool."""
    for pattern, rules in spec.forget.items():
        if fnmatchcase(tool, pattern):
            yield from rules


class _Gone:
    """The entities that a value in a result names: of one type, or of any if that is empty."""

    def __init__(self, value: Json, kind: str, spec: MemorySpec) -> None:
        self._items = value if isinstance(value, (list, tuple)) else (value,)
        self._kind, self._spec = kind, spec
        self._ids: dict[tuple[str, ...], set[str]] = {}

    def __contains__(self, entity: Entity) -> bool:
        if self._kind not in ("", entity.type):
            return False
        at = _id_keys(entity.type, self._spec)
        gone = self._ids.get(at)
        if gone is None:
            named = (_first(item, at) if isinstance(item, Mapping) else identifier(item) for item in self._items)
            gone = self._ids[at] = {*named}
        return not gone.isdisjoint({entity.id, entity.key or entity.id})


_LONGEST_TYPE = 100


def remember(
    memory: Memory,
    results: History,
    spec: MemorySpec,
    words: Words,
    asks: str = PENDING,
) -> Memory:
    """The memory after these results: newest first, one entry per type and id, at most `spec.total`, without what is
    deleted.

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
    """The first `total` entities, each type and id once at its most recent place; a known key is kept."""
    unique: dict[tuple[str, str], Entity] = {}
    for entity in entities:
        newer = unique.setdefault(_identity(entity), entity)
        if entity.key and not newer.key:
            unique[_identity(entity)] = replace(newer, key=entity.key)
    return tuple(unique.values())[:total]


def _identity(entity: Entity) -> tuple[str, str]:
    """What tells entities apart: systems that count from 1 in every table have a page 1 and an article 1."""
    return entity.type, entity.id


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
    kind = rule.type or _stated(value.get("type")) or _type_of(tool, spec) or "resource"
    identity = _first(value, _id_keys(kind, spec))
    if not identity:
        return None
    names = (_at(value, path) for path in _of_type(spec.names, kind) or ("name", "title", "slug"))
    named = next((name for name in names if isinstance(name, str) and name.strip()), None)
    if named is None and not rule.at:
        # A bare `id` at the top of a result may be anything; a list or a named field holds entities by intent.
        return None
    key = _first(value, _of_type(spec.keys, kind))
    return Entity(kind, identity, without_controls(named or "") or fill(words.unnamed, {"type": kind}), key)


def _of_type(listed: Mapping[str, tuple[str, ...]], kind: str) -> tuple[str, ...]:
    return listed.get(kind) or listed.get("*") or ()


def _id_keys(kind: str, spec: MemorySpec) -> tuple[str, ...]:
    return _of_type(spec.ids, kind) or ("id",)


def _first(value: Mapping[str, Json], paths: tuple[str, ...]) -> str:
    """The first id or key at these paths; empty if there is none."""
    return next(filter(None, (identifier(_at(value, path)) for path in paths)), "")


def _at(value: Mapping[str, Json], path: str) -> Json:
    """The value of a key, which may contain dots, or at a path."""
    return value[path] if path in value else value_at(value, path)


def _stated(kind: Json) -> str:
    """The type that an entity states; empty if it is not a single word."""
    return without_controls(kind) if isinstance(kind, str) and len(kind) <= _LONGEST_TYPE else ""


def _type_of(tool: str, spec: MemorySpec) -> str:
    return next((kind for pattern, kind in spec.types.items() if fnmatchcase(tool, pattern)), "")


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
    return text, _cuts(memory, {_identity(e) for entities in shown.values() for e in entities}, kept)


def _lines(kind: str, entities: Sequence[Entity], words: Words) -> Iterator[str]:
    yield fill(words.types.get(kind, words.type), {"type": _one_line(kind)})
    for entity in entities:
        yield fill(words.entity, {"name": _name(entity), "id": _one_line(entity.key or entity.id)})


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(entity: Entity) -> str:
    name = _one_line(entity.name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _cuts(memory: Memory, shown: set[tuple[str, str]], kept: tuple[Entity, ...]) -> tuple[Cut, ...]:
    in_total = {_identity(entity) for entity in kept}
    gone = tuple(
        Cut(f"memory {e.type} {e.id}", f"more than memory.{'per_type' if _identity(e) in in_total else 'total'}")
        for e in newest(memory.entities, len(memory.entities))
        if _identity(e) not in shown
    )
    long = (e for e in kept if _identity(e) in shown and len(_one_line(e.name)) > _LONGEST_NAME)
    return (*gone, *(Cut(f"memory {e.type} {e.id}", f"a name of more than {_LONGEST_NAME} characters") for e in long))
