"""Checks the arguments of public functions against their annotations, once: one `InputError` tells all that is wrong.

pydantic does the checking, strictly. Three things are ours: a list or another sequence is taken as the tuple that is
meant, and a mapping as a dict; where a value may be one thing or another, the error is about the one that was meant;
and what comes in are exact built-in types and records, so that what was checked is what is printed and stored.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache, cached_property, partial, wraps
from itertools import islice
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from annotated_types import Ge, Le
from pydantic import (
    AfterValidator,
    ConfigDict,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError, SchemaValidator, core_schema

from cuecard.errors import InputError, Problem
from cuecard.model.argument_problems import (
    CHOICE,
    MADE,
    not_right,
    path_of,
    problem_of,
    problems_of,
    refuse,
    unread,
    way_out,
)
from cuecard.model.json_values import MAX_VALUES, UNFIT, Wrong, exact_json, exact_object

Function = TypeVar("Function", bound=Callable[..., Any])
Given: TypeAlias = Mapping[str, Any]
Rules: TypeAlias = Callable[[Given], Iterable[Problem]]
"""What annotations cannot say: the problems of arguments, which are given by name as far as their types are right."""

_STRICT = ConfigDict(strict=True, revalidate_instances="always", arbitrary_types_allowed=True, allow_inf_nan=False)
_CORE = core_schema.CoreConfig(strict=True, revalidate_instances="always", allow_inf_nan=False)
_BUILT_IN = frozenset({str, int, float, bool, datetime, NoneType})
_OURS = "cuecard."
_WRONG, _MENDING = object(), object()


@overload
def checked(function: Function) -> Function: ...


@overload
def checked(*, also: Rules) -> Callable[[Function], Function]: ...


def checked(function: Any = None, *, also: Rules | None = None) -> Any:
    """Decorates a public function or method: its arguments are checked against their annotations on every call.

    Args:
        function: the function, which gets the arguments in exact types. A parameter without an annotation is not
            checked, nor is a default.
        also: rules that annotations cannot state; `self` is among what they are given.
    """
    if function is None:
        return partial(checked, also=also)
    door = _Door(function, also)
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*arguments: Any, **named: Any) -> Any:
            return await function(**door.admit(arguments, named))

        return awaited

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        return function(**door.admit(arguments, named))

    return called


def check_fields(record: Any, *names: str) -> None:
    """Check these fields of an object against the annotations of its class.

    Raises:
        InputError: with everything that is wrong in them.
    """
    problems: list[Problem] = []
    for name in names:
        annotation, module = next(
            (held[name], kind.__module__)
            for kind in type(record).__mro__
            if name in (held := inspect.get_annotations(kind))
        )
        taken(_resolved(annotation, module), getattr(record, name), name, problems)
    refuse(problems)


def taken(annotation: Any, value: Any, at: str, problems: list[Problem]) -> Any:
    """The value in the exact types of an annotation; where it does not fit, the problems are added, and it is None.

    Args:
        annotation: what it should be.
        value: the value.
        at: what errors call it.
        problems: collects the problems.
    """
    made = _check_of(annotation).take(value, at, problems)
    return None if made is _WRONG else made


def admit(annotation: Any, value: Any, at: str) -> Any:
    """The value in the exact types of an annotation; `at` is what errors call it.

    Raises:
        InputError: with everything that is wrong in it.
    """
    problems: list[Problem] = []
    made = taken(annotation, value, at, problems)
    refuse(problems)
    return made


def agreeing(rule: Callable[[Any], Iterable[Wrong]]) -> AfterValidator:
    """Annotates a record whose fields have to agree with each other."""
    return AfterValidator(lambda value: _unless_wrong(value, list(rule(value))))


def _filled(text: str) -> str:
    if not text:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    return text


def _unless_wrong(value: Any, found: Sequence[Wrong], info: ValidationInfo | None = None) -> Any:
    if found and not (info and info.context is _MENDING):
        lines = [
            InitErrorDetails(type=not_right(each.told, each.hint, each.code), loc=each.path, input=None)
            for each in found
        ]
        raise ValidationError.from_exception_data("a value", lines)
    return value


def _json(value: Any, info: ValidationInfo, *, finite: bool = True) -> Any:
    return _unless_wrong(*exact_json(value, finite=finite), info)


def _table(value: Any) -> Any:
    """A mapping as a dict."""
    if type(value) is dict or not issubclass(type(value), Mapping):
        return value
    with _reading():
        return dict(value.items())


def _json_object(value: Any, info: ValidationInfo) -> Any:
    if not issubclass(type(value), Mapping):
        raise PydanticKnownError("dict_type")
    made, found = exact_object(value)
    return _unless_wrong(made, found, None if made is UNFIT else info)


Count: TypeAlias = Annotated[int, Ge(0)]
"""How many there are of something."""

Seconds: TypeAlias = Annotated[float, Ge(0), Le(86_400)]
"""A time to wait, at most a day."""

FilledText: TypeAlias = Annotated[str, AfterValidator(_filled)]
"""A text that is not empty."""

JsonValue: TypeAlias = Annotated[Any, PlainValidator(_json)]
"""A JSON value with finite numbers."""

AnyJson: TypeAlias = Annotated[Any, PlainValidator(partial(_json, finite=False))]
"""A JSON value in which NaN and infinities are numbers, too."""

JsonObject: TypeAlias = Annotated[Mapping[str, Any], PlainValidator(_json_object)]
"""JSON values by name."""


class _Door:
    """The parameters of a function, and what checks each; made when it is first called with an argument."""

    def __init__(self, function: Callable[..., Any], also: Rules | None) -> None:
        parameters = inspect.signature(function).parameters.values()
        self.names = [each.name for each in parameters]
        self.known = frozenset(self.names)
        self.defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
        self.annotations = {each.name: each.annotation for each in parameters if each.annotation is not each.empty}
        self.checks: dict[str, _Check] = {}
        self.function, self.also = function, also

    def admit(self, arguments: Sequence[Any], named: Given) -> dict[str, Any]:
        given = dict(zip(self.names, arguments, strict=False), **named)
        if len(given) < len(arguments) + len(named) or not self.known.issuperset(given):
            self.function(*arguments, **named)  # raises what Python says of such a call
        problems: list[Problem] = []
        for name, value in given.items():
            if name in self.annotations and value is not self.defaults.get(name, _WRONG):
                check = self.checks.get(name) or self._check(name)
                given[name] = check.take(value, name, problems, mend=self.also is not None)
        if self.also:
            every = {**self.defaults, **given}
            right = {name: each for name, each in every.items() if each is not _WRONG} if problems else every
            problems += self.also(right)
        if problems:
            raise InputError(problems)
        return given

    def _check(self, name: str) -> _Check:
        self.checks[name] = made = _check_of(_resolved(self.annotations[name], self.function.__module__))
        return made


@cache
def _resolved(annotation: Any, module: str) -> Any:
    """An annotation that is written as a text, in the words of its module."""
    holder = lambda: None  # noqa: E731 - anything that may have annotations
    holder.__annotations__ = {"it": annotation}
    return get_type_hints(holder, vars(sys.modules[module]), include_extras=True)["it"]


class _ByClass:
    """Annotates a class of which objects are not looked into."""

    def __get_pydantic_core_schema__(self, kind: Any, _: object) -> Any:
        return core_schema.is_instance_schema(kind)


def _by_class(annotation: Any) -> Any:
    """The annotation, with what only its class matters of."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return Union[tuple(map(_by_class, inner))]  # noqa: UP007 - made from a tuple
    kind = annotation if origin is None else origin
    if not isinstance(kind, type) or kind in _BUILT_IN or kind.__module__ in {"builtins", "collections.abc", "typing"}:
        return annotation
    if getattr(kind, "_is_protocol", False) and "__call__" in vars(kind):
        return Callable[..., Any]
    by_field = hasattr(kind, "__get_pydantic_core_schema__") or (
        is_dataclass(kind) and kind.__module__.startswith(_OURS)
    )
    return annotation if by_field and kind.__name__ not in MADE else Annotated[kind, _ByClass()]


@cache
def _check_of(annotation: Any) -> _Check:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Sequence, Collection, Iterable):
        return _Check(tuple[_by_class(inner[0]), ...], origin)  # type: ignore[misc] # known only now
    return _Check(_by_class(annotation))


class _Check:
    """What checks values against an annotation: quickly, and with care what the quick check has not taken."""

    def __init__(self, annotation: Any, collection: Any = None) -> None:
        self.annotation, self.collection = annotation, collection
        self.quick = _compiled(annotation, careful=False)

    @cached_property
    def careful(self) -> SchemaValidator:
        return _compiled(self.annotation, careful=True)

    def take(self, value: Any, at: str, problems: list[Problem], *, mend: bool = False) -> Any:
        """The value in exact types, or else `_WRONG`; with `mend`, a record or tuple without what is wrong in it."""
        try:
            value = _tuple(value, wanted=self.collection) if self.collection else value  # some can be read only once
        except PydanticCustomError as error:
            problems.append(problem_of(error, value, at))
            return _WRONG
        try:
            return self.quick.validate_python(value)
        except Exception:  # noqa: BLE001 - whatever it is, it is told of what the careful check finds
            return self._with_care(value, at, problems, mend=mend)

    def _with_care(self, value: Any, at: str, problems: list[Problem], *, mend: bool) -> Any:
        try:
            return self.careful.validate_python(value)
        except ValidationError as error:
            problems += problems_of(error, at)
            too_large = any(each.code == "value-too-large" for each in problems)  # walked through once is enough
            return self._mended(value) if mend and not too_large else _WRONG
        except Exception as error:  # noqa: BLE001 - whatever it raises, it is the argument that is wrong
            problems.append(Problem("wrong-argument", f"`{at}` {unread(error)}", "", at))
            return _WRONG

    def _mended(self, value: Any) -> Any:
        """What is right of a value, for rules to look at: wrong fields have their defaults, wrong items are None."""
        take = self.careful.validate_python
        try:
            return take(value, context=_MENDING)
        except ValidationError as error:
            failing = {path_of(each["loc"])[:1] for each in error.errors()}
        try:
            if is_dataclass(value) and not isinstance(value, type):
                kept = {each.name: getattr(value, each.name) for each in fields(value) if (each.name,) not in failing}
                return take(type(value)(**kept), context=_MENDING)
            if issubclass(type(value), (list, tuple)) and () not in failing:
                items = [() if (at,) in failing else take((each,)) for at, each in enumerate(value)]
                return tuple(item[0] if item else None for item in items)
        except Exception:  # noqa: BLE001 - nothing of it can be used, and what is wrong was reported
            return _WRONG
        return _WRONG


def _compiled(annotation: Any, *, careful: bool) -> SchemaValidator:
    # As the item of a tuple, since pydantic takes no configuration for a dataclass itself.
    schema: Any = TypeAdapter(tuple[annotation], config=_STRICT).core_schema
    if schema["type"] != "definitions":
        return SchemaValidator(_ours(schema["items_schema"][0], careful=careful), _CORE)
    item, held = schema["schema"]["items_schema"][0], schema["definitions"]
    made = core_schema.definitions_schema(_ours(item, careful=careful), _ours(held, careful=careful))
    return SchemaValidator(made, _CORE)


def _ours(schema: Any, *, careful: bool) -> Any:
    """Pydantic's schema of an annotation, with lists taken as tuples, and mappings as dicts.

    With `careful`, choices say which one was meant, and every object is asked for what it may refuse.
    """
    if not isinstance(schema, dict):
        return [_ours(each, careful=careful) for each in schema] if isinstance(schema, list) else schema
    made: Any = {key: _ours(value, careful=careful) if key in _INNER else value for key, value in schema.items()}
    kind: str = schema["type"]
    if kind == "dataclass" and schema["cls"].__name__ in MADE:
        kind, made = "is-instance", core_schema.is_instance_schema(schema["cls"], ref=schema.get("ref"))
    if kind in {"nullable", "union"}:
        return _choice(made) if careful else {**made, "mode": "left_to_right"} if kind == "union" else made
    if kind == "tuple":
        return core_schema.no_info_wrap_validator_function(_Several(schema["items_schema"][0]), made)
    before: Any = {"datetime": _moment, "dict": _table}.get(kind)
    if careful and kind in {"str", "literal"}:
        before = _text
    elif careful and kind in {"dataclass", "is-instance"}:
        args = schema["schema"]["fields"] if kind == "dataclass" else ()
        names = tuple(each["name"] for each in args if each["schema"]["type"] != "any")
        before = partial(_instance, kind=made["cls"], names=names)
    if before is None:
        return made
    made.pop("strict", None)
    ref = made.pop("ref", None)
    return core_schema.no_info_before_validator_function(before, made, ref=ref)


_INNER = ("schema", "items_schema", "keys_schema", "values_schema", "fields", "definitions", "choices")


def _choice(made: Any) -> Any:
    """A union that says in the place of an error which of its members it is about."""
    inner = made["schema"] if made["type"] == "nullable" else made
    several = [each[0] if isinstance(each, tuple) else each for each in inner.get("choices", [inner])]
    choices = [*([core_schema.none_schema()] if made["type"] == "nullable" else []), *several]
    named: list[Any] = [(each, f"{CHOICE}{number}") for number, each in enumerate(choices)]
    return core_schema.union_schema(named, mode="left_to_right")


class _Several:
    """Takes a sequence as a tuple; records whose fields are all of types of which every value is right, as they are."""

    __slots__ = ("columns", "kind", "of_texts")

    def __init__(self, items: Any) -> None:
        self.of_texts = items["type"] == "str"
        self.kind = items["cls"] if items["type"] == "dataclass" else None
        args = items["schema"]["fields"] if self.kind else ()
        exact = {each["name"]: _exact(each["schema"]) for each in args}
        self.columns = [(attrgetter(name), types) for name, types in exact.items() if types is not None]

    def __call__(self, value: Any, check: Callable[[Any], Any]) -> Any:
        held = _tuple(value, wanted=Sequence)
        if type(held) is not tuple:
            hint = way_out(value, of_texts=self.of_texts)
            raise PydanticCustomError("tuple_type", "a tuple", {"hint": hint})
        return held if not held or (self.kind and self._all_right(held)) else check(held)

    def _all_right(self, items: tuple[Any, ...]) -> bool:
        if {*map(type, items)} != {self.kind}:
            return False
        try:
            for get, types in self.columns:
                if not types.issuperset(map(type, map(get, items))):
                    return False
        except AttributeError:  # created without its constructor
            return False
        return True


def _exact(schema: Any) -> frozenset[type] | None:
    """The types of which every value is right as it is; None for any type."""
    if schema["type"] == "any":
        return None
    if schema["type"] in {"default", "nullable"}:
        inner = _exact(schema["schema"])
        return inner if inner is None or schema["type"] == "default" else inner | {NoneType}
    return frozenset({each for each in (str, bool) if each.__name__ == schema["type"]})


def _tuple(value: Any, *, wanted: Any) -> Any:
    """A collection of the wanted kind as a tuple; anything else as it is, for pydantic to refuse."""
    kind = type(value)
    if kind is tuple or kind is list:
        return tuple(value)
    if not issubclass(kind, wanted) or issubclass(kind, (str, bytes, bytearray, memoryview, Mapping)):
        return value
    with _reading():
        held = tuple(islice(value, MAX_VALUES + 1))
    if len(held) > MAX_VALUES:
        raise not_right(f"holds more than {MAX_VALUES:,} values", "supply less", "value-too-large")
    return held


def _text(value: Any) -> Any:
    return str.__str__(value) if issubclass(type(value), str) else value


def _moment(value: Any) -> Any:
    if issubclass(type(value), datetime):
        with _reading():
            value.utcoffset()
    return value


def _instance(value: Any, *, kind: type, names: Sequence[str]) -> Any:
    """The value, once it has said whether it is one; a record, once it has shown all of its fields."""
    with _reading():
        is_one = isinstance(value, kind)
    if names and not is_one:
        made = f"create it with `{kind.__name__}({', '.join(each.name for each in fields(kind))})`"
        raise PydanticCustomError("dataclass_type", "{class_name}", {"class_name": kind.__name__, "hint": made})
    found = []
    for name in names:
        try:
            getattr(value, name)
        except AttributeError:
            found.append(Wrong("wrong-argument", (name,), "is missing"))
        except Exception as error:  # noqa: BLE001 - a property of a class derived from ours
            found.append(Wrong("wrong-argument", (name,), unread(error)))
    return _unless_wrong(value, found)


class _reading:  # noqa: N801 - a context manager
    """Whatever an object of the host raises while it is read, it is the object that is wrong."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception):
            raise not_right(unread(error)) from error
