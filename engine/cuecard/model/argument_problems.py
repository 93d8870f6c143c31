"""What is told of wrong arguments: pydantic's errors as problems, in the words of cuecard."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from cuecard.errors import InputError, Problem, did_you_mean, seen, shortened
from cuecard.model.json_values import KEY, Path, Wrong

MADE: Mapping[str, str] = {
    "Call": "pass the result of `prepare_call`; `Call.from_json` reads a stored one",
    "Conversation": "`Engine.conversation` makes one",
    "Engine": "`Engine.open` makes one",
    "Limits": "",
    "Manifest": "",
    "ModelProfile": 'pass just its name, such as "claude-opus-4-8"',
    "MeterProvider": "such as `opentelemetry.sdk.metrics.MeterProvider`",
    "TracerProvider": "such as `opentelemetry.sdk.trace.TracerProvider`",
    "Step": "pass the result of `prepare_step`; `Step.from_json` reads a stored one",
    "Watcher": "`cuecard.watch` makes one",
    "EngineServer": "`cuecard.watch` makes one",
    "EngineSource": "`cuecard.watch` makes one",
}
"""Classes of which cuecard itself fills the fields, so that only the class is checked; and where objects come from."""

_HINTS: Mapping[str, str] = {
    **MADE,
    "ConversationState": "read plain JSON with `ConversationState.from_json`, and what `dump` wrote with `load`",
    "Message": 'make it with `Message("user", "...")`, or read plain JSON with `messages_from_json`',
}
_PLAIN_DICT = "pass a plain dict; an object of an SDK has a method such as `model_dump()`"
_ZONE = "pass a datetime with tzinfo, such as datetime.now(UTC)"

_SHOULD: Mapping[str, str] = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "True or False",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "greater_than_equal": "{number}, at least {ge:g}",
    "less_than_equal": "{number}, at most {le:g}",
    "datetime_type": "a datetime",
    "tuple_type": "a tuple or list",
    "dict_type": "a mapping with texts as keys",
    "callable_type": "a function",
    "dataclass_type": "{name}",
    "dataclass_exact_type": "{name}",
    "is_instance_of": "{name}",
    "literal_error": "{words}",
    "none_required": "None",
}
"""What a value should be, by the kinds of pydantic's errors."""

_NUMBERS = frozenset({"string_too_short", "finite_number", "greater_than_equal", "less_than_equal"})
_MISMATCHES = frozenset(_SHOULD) - _NUMBERS
"""The kinds that leave open whether something else was meant, where a value may be one thing or another."""

CHOICE = "\0choice "
"""Begins the step of a path that says which member of a union an error is about."""


def refuse(problems: Sequence[Problem]) -> None:
    """Raise the problems.

    Raises:
        InputError: with every problem, if there is one.
    """
    if problems:
        raise InputError(problems)


def wrong(at: str, should: str, value: object, hint: str = "") -> Problem:
    """The problem of an argument of the wrong kind; errors name its type, never its text."""
    return Problem("wrong-argument", f"`{at}` should be {should}, not {seen(value)}", hint, at)


def not_right(told: str, hint: str = "", code: str = "wrong-argument") -> PydanticCustomError:
    """What a validator raises."""
    return PydanticCustomError("told", "{told}", {"code": code, "told": told, "hint": hint})


def unread(error: Exception) -> str:
    """What is told of an object that raised this while it was read."""
    return f"cannot be read: it raises {shortened(type(error).__name__)}"


def problems_of(error: ValidationError, at: str) -> Iterator[Problem]:
    """What pydantic found in a value that errors call `at`: one problem for each place."""
    found = [_Error(each["type"], each["loc"], each["input"], each.get("ctx", {})) for each in error.errors()]
    return (_problem(group, at) for group in _meant(found))


def problem_of(error: PydanticCustomError, value: object, at: str) -> Problem:
    """What a validator raised of a whole value."""
    return _problem([_Error("told", (), value, error.context or {})], at)


class _Error(NamedTuple):
    """One of pydantic's errors."""

    kind: str
    loc: Path
    value: Any
    context: Mapping[str, Any]


def _is_choice(step: str | int) -> bool:
    return isinstance(step, str) and step.startswith(CHOICE)


def path_of(loc: Path) -> Path:
    """The path in the value itself."""
    if loc[-1:] == ("[key]",):
        return (*path_of(loc[:-2]), KEY)
    return tuple(step for step in loc if not _is_choice(step))


def _meant(errors: Sequence[_Error]) -> Iterator[tuple[_Error, ...]]:
    """The errors, in groups of those that say the same of one value: it is none of what it may be."""
    waiting = list(errors)
    while waiting:
        first = waiting[0]
        place = next((place for place, step in enumerate(first.loc) if _is_choice(step)), None)
        if place is None:
            yield (waiting.pop(0),)
            continue
        stem = first.loc[:place]
        apart = [each.loc[:place] == stem and _is_choice(each.loc[place]) for each in waiting]
        same = list(compress(waiting, apart))
        waiting = [each for each, taken_out in zip(waiting, apart, strict=True) if not taken_out]
        cut = [each._replace(loc=(*stem, *each.loc[place + 1 :])) for each in same]
        telling = [each for each in cut if len(each.loc) > place] or [each for each in cut if _tells(each)]
        if telling:
            yield from _meant(telling)
        else:
            yield tuple(sorted(cut, key=lambda each: each.kind == "none_required"))


def _tells(error: _Error) -> bool:
    """Whether the value was meant for this choice."""
    return error.kind not in _MISMATCHES or (error.kind == "literal_error" and isinstance(error.value, str))


def _problem(errors: Sequence[_Error], at: str) -> Problem:
    kind, loc, value, context = errors[0]
    code, told = context.get("code", "wrong-argument"), context.get("told", "")
    place = Wrong(code, path_of(loc), told).place(at)
    if told:
        return Problem(code, f"`{place}` {told}", context["hint"], place)
    if kind == "timezone_aware":
        return Problem("naive-time", f"`{place}` has no time zone, so its date is ambiguous", _ZONE, place)
    should = " or ".join(_should(each) for each in errors)
    if kind == "literal_error" and isinstance(value, str):
        told = f"`{place}` should be {should}, not `{shortened(value)}`"
        return Problem("unknown-word", told, did_you_mean(value[:100], _words(context)), place)
    return wrong(place, should, value, next(filter(None, map(_hint, errors)), ""))


def _should(error: _Error) -> str:
    context = dict(error.context)
    if name := _class_of(context):
        context["name"] = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    *others, last = (f"`{word}`" for word in _words(context) or ("",))
    context["words"] = f"{', '.join(others)} or {last}" if others else last
    limit = context.get("ge", context.get("le"))
    context["number"] = "a whole number" if isinstance(limit, int) else "a number"
    return _SHOULD[error.kind].format_map(context) if error.kind in _SHOULD else f"valid ({error.kind})"


def _class_of(context: Mapping[str, Any]) -> str:
    name: str = context.get("class_name") or context.get("class") or ""
    return name


def _words(context: Mapping[str, Any]) -> list[str]:
    return re.findall("'([^']*)'", context.get("expected", ""))


def _hint(error: _Error) -> str:
    """How to get what is expected."""
    value = error.value
    if error.kind == "datetime_type":
        return _ZONE
    if error.kind == "dict_type" and not isinstance(value, Mapping):
        return _PLAIN_DICT
    made: str = error.context.get("hint", "")
    return _HINTS.get(_class_of(error.context), made)


def way_out(value: Any, *, of_texts: bool) -> str:
    """How to get the tuple that is expected."""
    kind = type(value)
    if issubclass(kind, str):
        if not of_texts:
            return ""
        return f'write a single item as `("{shortened(str.__str__(value))}",)`'
    if issubclass(kind, Mapping):
        return "pass its keys or its values as a tuple"
    return "convert it to a tuple first" if hasattr(kind, "__iter__") else ""
