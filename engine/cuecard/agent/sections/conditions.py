"""Whether a condition holds, what it reads, and its description in a manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from cuecard.config.model_profile import names_to_try
from cuecard.config.sections.section_spec import ConditionSpec
from cuecard.config.values import value_at
from cuecard.model import Json
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class ConditionFacts:
    """The facts for conditions: the values of a call, its tools, the name of its model, and which sections are not
    empty.
    """

    values: Mapping[str, Json]
    tools: Collection[str] = ()
    model: str = ""
    saying: Collection[str] = ()


def holds(condition: ConditionSpec, facts: ConditionFacts) -> bool:
    """Whether the condition is true for these facts."""
    if condition.not_ is not None:
        return not holds(condition.not_, facts)
    if condition.all is not None:
        return all(holds(each, facts) for each in condition.all)
    if condition.any is not None:
        return any(holds(each, facts) for each in condition.any)
    if condition.tool is not None or condition.empty is not None:
        return condition.tool in facts.tools if condition.tool is not None else condition.empty not in facts.saying
    if condition.model is not None:
        names = [name.casefold() for name in names_to_try(facts.model)]
        return any(fnmatchcase(name, pattern.casefold()) for name in names for pattern in condition.model)
    return _holds_of_values(condition, facts.values)


def _holds_of_values(condition: ConditionSpec, values: Mapping[str, Json]) -> bool:
    if condition.input is not None:
        value = value_at(values, condition.input)
        return bool(value.strip() if isinstance(value, str) else value)
    if condition.set is not None:
        return value_at(values, condition.set) is not None
    if condition.equals is not None:
        return all(_is_one_of(value_at(values, path), wanted) for path, wanted in condition.equals.items())
    sized = {path: size(value_at(values, path)) for path in (*(condition.at_least or ()), *(condition.at_most or ()))}
    return all(number is not None for number in sized.values()) and (
        all((sized[path] or 0) >= least for path, least in (condition.at_least or {}).items())
        and all((sized[path] or 0) <= most for path, most in (condition.at_most or {}).items())
    )


def size(value: Json) -> float | None:
    """A number itself, or the length of a text, list or mapping; None for any other value."""
    if isinstance(value, bool) or value is None:
        return None
    return value if isinstance(value, (int, float)) else len(value)


def _is_one_of(value: Json, wanted: Json) -> bool:
    """Whether the value is one of a list of wanted values, or equals a single one."""
    return any(_same(value, each) for each in (wanted if isinstance(wanted, list) else [wanted]))


def _same(value: Json, wanted: Json) -> bool:
    """Whether two values are equal, distinguishing numbers from booleans."""
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def parts_of(condition: ConditionSpec) -> Iterator[tuple[tuple[str | int, ...], ConditionSpec]]:
    """The condition and its nested conditions, each with its path within it."""
    yield (), condition
    inner: list[tuple[tuple[str | int, ...], ConditionSpec]] = [(("not",), condition.not_)] if condition.not_ else []
    inner += [(("all", at), each) for at, each in enumerate(condition.all or ())]
    inner += [(("any", at), each) for at, each in enumerate(condition.any or ())]
    for place, each in inner:
        yield from (((*place, *rest), found) for rest, found in parts_of(each))


def paths_read(condition: ConditionSpec) -> Iterator[str]:
    """The dotted paths that a condition reads, without those of nested conditions."""
    yield from (path for path in (condition.input, condition.set) if path is not None)
    for table in (condition.equals, condition.at_least, condition.at_most):
        yield from table or ()


def inputs_read(condition: ConditionSpec) -> Iterator[str]:
    """The names of the inputs that a condition reads."""
    for _, each in parts_of(condition):
        yield from (path.partition(".")[0] for path in paths_read(each))


def asks_the_call(condition: ConditionSpec) -> bool:
    """Whether a condition depends on the call beyond its inputs: on its tools, model or sections."""
    return any(not {each.tool, each.model, each.empty} <= {None} for _, each in parts_of(condition))


def sections_asked(condition: ConditionSpec) -> Iterator[str]:
    """The sections that a condition tests for emptiness, so that it can only be evaluated after them."""
    yield from (each.empty for _, each in parts_of(condition) if each.empty is not None)


def told(condition: ConditionSpec) -> str:
    """The condition in words, for a manifest."""
    if condition.not_ is not None:
        return f"not {told(condition.not_)}"
    if condition.all is not None or condition.any is not None:
        word, inner = (" and ", condition.all) if condition.all is not None else (" or ", condition.any)
        return "(" + word.join(told(each) for each in inner or ()) + ")"
    words = {
        "input": condition.input,
        "set": f"{condition.set} is set",
        "tool": f"tool {condition.tool}",
        "empty": f"{condition.empty} is empty",
        "model": f"model {' or '.join(condition.model or ())}",
    }
    said = next((text for key, text in words.items() if getattr(condition, key) is not None), None)
    tables = (("=", condition.equals), (">=", condition.at_least), ("<=", condition.at_most))
    rows = ((sign, path, wanted) for sign, table in tables for path, wanted in (table or {}).items())
    return said or " and ".join(f"{path} {sign} {wanted!r}" for sign, path, wanted in rows)
