"""Whether a condition holds, what it reads, and what it says in a manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from cuecard.config.sections.condition import ConditionSpec
from cuecard.model import Json


def holds(condition: ConditionSpec, values: Mapping[str, Json], tools: Collection[str]) -> bool:
    """Whether the condition is true for these values and the tools of the call."""
    if condition.input is not None:
        return bool(value_at(values, condition.input))
    if condition.equals is not None:
        return all(_same(value_at(values, path), wanted) for path, wanted in condition.equals.items())
    if condition.tool is not None:
        return condition.tool in tools
    if condition.not_ is not None:
        return not holds(condition.not_, values, tools)
    if condition.all is not None:
        return all(holds(each, values, tools) for each in condition.all)
    return any(holds(each, values, tools) for each in condition.any or ())


def value_at(values: Mapping[str, Json], path: str) -> Json:
    """The value at a dotted path; None where it leads nowhere."""
    value: Json = values
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _same(value: Json, wanted: Json) -> bool:
    """Equal, and not a number where a boolean is wanted."""
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def inputs_read(condition: ConditionSpec) -> Iterator[str]:
    """The names of the inputs that a condition looks at."""
    if condition.input is not None:
        yield condition.input.partition(".")[0]
    yield from (path.partition(".")[0] for path in condition.equals or ())
    inner = (condition.not_,) if condition.not_ else ()
    for each in (*inner, *(condition.all or ()), *(condition.any or ())):
        yield from inputs_read(each)


def asks_for_tools(condition: ConditionSpec) -> bool:
    """Whether a condition looks at the tools of the call."""
    inner = (condition.not_,) if condition.not_ else ()
    return condition.tool is not None or any(
        asks_for_tools(each) for each in (*inner, *(condition.all or ()), *(condition.any or ()))
    )


def told(condition: ConditionSpec) -> str:
    """The condition in words, for a manifest."""
    if condition.input is not None:
        return condition.input
    if condition.equals is not None:
        return " and ".join(f"{path} = {wanted!r}" for path, wanted in condition.equals.items())
    if condition.tool is not None:
        return f"tool {condition.tool}"
    if condition.not_ is not None:
        return f"not {told(condition.not_)}"
    word, inner = ("and", condition.all) if condition.all is not None else ("or", condition.any or ())
    return "(" + f" {word} ".join(told(each) for each in inner) + ")"
