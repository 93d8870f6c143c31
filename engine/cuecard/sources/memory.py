"""The working memory: what it learns from results, what it forgets, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from cuecard.config.results_spec import ExtractSpec, ForgetSpec, MemorySpec
from cuecard.config.tools_spec import PENDING
from cuecard.config.values import fill, value_at
from cuecard.config.words_spec import Words
from cuecard.model import Cut, Entity, History, Json, Memory, ToolResult
from cuecard.records import dataclass, replace
from cuecard.sources.content import one_line
from cuecard.sources.result_values import applies, identifier, read_result
from cuecard.template import without_controls


@dataclass(frozen=True, slots=True)
class ReadCall:
    """A successful call of a tool, as rules read it: what it returned, and what it was asked for."""

    tool: str
    result: Json
    arguments: Json = None

    def value(self, rule: ExtractSpec | ForgetSpec) -> Json:
        """What the rule reads; None where it does not apply."""
        return value_at(self.part(rule.from_), rule.at) if applies(self.result, rule.when) else None

    def part(self, name: str) -> Json:
        """The result or the arguments."""
        return self.result if name == "result" else self.arguments

    def type(self, rule: ExtractSpec | ForgetSpec) -> str | None:
        """The type that the rule names or finds; empty if it names none, None if the call does not say it."""
        if isinstance(rule.type, str):
            return rule.type
        return _stated(value_at(self.part(rule.type.from_), rule.type.at)) or None


def read_call(item: ToolResult, spec: MemorySpec) -> ReadCall:
    """A call with its JSON read."""
    return ReadCall(item.tool, _without_frame(read_result(item.result), item.tool, spec), read_result(item.arguments))


def gone_by(call: ReadCall, entities: Iterable[Entity], spec: MemorySpec) -> Iterator[tuple[str, Entity]]:
    """Each entity that the call has removed, with the name of the rule.

    Args:
        call: the call.
        entities: the known entities, and those in the call.
        spec: the rules.
    """
    left = list(entities)
    for name, rule in forget_rules(call.tool, spec):
        kind = call.type(rule)
        gone = _GoneEntities(call.value(rule), kind or _type_of(call.tool, spec), spec)
        for entity in [each for each in left if kind is not None and each in gone]:
            left.remove(entity)
            yield name, entity


def forget_rules(tool: str, spec: MemorySpec) -> Iterator[tuple[str, ForgetSpec]]:
    """The rules for calls of this tool, with their names."""
    for pattern, rules in spec.forget.items():
        if fnmatchcase(tool, pattern):
            yield from ((f"forget.{pattern}[{place}]", rule) for place, rule in enumerate(rules))


class _GoneEntities:
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
_NAMES = ("name", "title", "slug")
"""The keys of names in every type, after those of the agent file."""


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
            call = read_call(item, spec)
            known = [*(entity for _, entity in entities_in(call, spec, words)), *entities]
            gone = [] if asks_first(item, call, asks) else [entity for _, entity in gone_by(call, known, spec)]
            entities = newest([entity for entity in known if entity not in gone], spec.total)
    return Memory(entities)


def asks_first(item: ToolResult, call: ReadCall, asks: str) -> bool:
    """Whether the tool waits for a confirmation, so that nothing has been deleted yet."""
    return item.pending or (isinstance(call.result, Mapping) and call.result.get(asks) is True)


def _without_frame(result: Json, tool: str, spec: MemorySpec) -> Json:
    """The value of `result` if it is the only key and no rule names it: MCP servers and frameworks add it."""
    if not isinstance(result, Mapping) or result.keys() != {"result"}:
        return result
    rules: list[ExtractSpec | ForgetSpec] = [*spec.extract, *(rule for _, rule in forget_rules(tool, spec))]
    asked = any("result" in {rule.when, rule.from_ == "result" and rule.at.partition(".")[0]} for rule in rules)
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


def entities_in(call: ReadCall, spec: MemorySpec, words: Words) -> list[tuple[str, Entity]]:
    """Every entity that the configured rules find in one call, in rule order, with the name of the rule."""
    return [
        (f"extract[{place}]", entity)
        for place, rule in enumerate(spec.extract)
        for value in _candidates(call.value(rule), rule)
        if (entity := _entity(value, rule, call, spec, words))
    ]


def _candidates(value: Json, rule: ExtractSpec) -> Iterator[Mapping[str, Json]]:
    values = value[: rule.limit] if isinstance(value, list) else [value]
    yield from (v for v in values if isinstance(v, dict))


def _entity(
    value: Mapping[str, Json], rule: ExtractSpec, call: ReadCall, spec: MemorySpec, words: Words
) -> Entity | None:
    kind = call.type(rule)
    if kind is None:
        return None
    kind = kind or _stated(value.get("type")) or _type_of(call.tool, spec) or "resource"
    identity = _first(value, _id_keys(kind, spec))
    if not identity:
        return None
    names = (_at(value, path) for path in (*_of_type(spec.names, kind), *_NAMES))
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
    yield fill(words.types.get(kind, words.type), {"type": one_line(kind)})
    for entity in entities:
        yield fill(words.entity, {"name": _name(entity), "id": one_line(entity.key or entity.id)})


def _name(entity: Entity) -> str:
    name = one_line(entity.name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."


def _cuts(memory: Memory, shown: set[tuple[str, str]], kept: tuple[Entity, ...]) -> tuple[Cut, ...]:
    in_total = {_identity(entity) for entity in kept}
    everything = kept if len(kept) == len(memory.entities) else newest(memory.entities, len(memory.entities))
    gone = tuple(
        Cut(f"memory {e.type} {e.id}", f"more than memory.{'per_type' if _identity(e) in in_total else 'total'}")
        for e in everything
        if _identity(e) not in shown
    )
    long = (e for e in kept if len(e.name) > _LONGEST_NAME < len(one_line(e.name)) and _identity(e) in shown)
    return (*gone, *(Cut(f"memory {e.type} {e.id}", f"a name of more than {_LONGEST_NAME} characters") for e in long))
