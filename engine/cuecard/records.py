"""Dataclasses that are quick to define.

The standard decorator compiles up to six methods for each class while a module is imported: for the 200 classes that
one command meets, a fifth of its start. Here fields, slots and parameters are still those of `dataclasses`; comparing,
printing and refusing to be changed take no compiled code, and `__init__` is compiled when the first instance is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # to type checkers it is the standard decorator
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - the form that mypy takes for an export
    from dataclasses import replace as replace  # noqa: PLC0414 - likewise; mypy knows which fields it takes
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """As `dataclasses.replace`, in a fourth of the time, since a call changes large records."""
        kind = type(record)
        known = _taken_over(kind)
        if known is None or not known[0].issuperset(changes):
            return kind(**(reader_of(kind)(record) | changes))
        made = object.__new__(kind)
        own = made.__dict__
        own.update(record.__dict__)
        for name in known[1]:
            own.pop(name, None)
        own.update(changes)
        return made

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """As `dataclasses.dataclass`, with its options `frozen`, `slots`, `eq`, `kw_only` and `weakref_slot`.

        A class that asks for more (`order`), or whose base is a dataclass, is made by the standard decorator. `InitVar`
        is not for these classes.
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        if options.keys() - _OPTIONS or any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:]):
            return dataclasses.dataclass(cls, **options)
        frozen, compared = options.pop("frozen", False), options.pop("eq", True)
        cls.__doc__ = cls.__doc__ or f"{cls.__name__}."  # or else the standard decorator writes the signature out
        made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, **options)
        made.__dataclass_params__.frozen = frozen  # what a class says that is derived from it by the standard decorator
        for name, method in _methods(made, frozen=frozen, compared=compared):
            if name not in cls.__dict__:
                setattr(made, name, method)
        return made


@cache
def _taken_over(kind: type) -> tuple[frozenset[str], tuple[str, ...]] | None:
    """The fields of a record that is nothing but its attributes, and what else it may keep among them; None for one
    that does more as it is made.
    """
    by_dict = getattr(vars(kind).get("__init__"), "by_dict", False)
    if not by_dict or not all(field.init for field in dataclasses.fields(kind)):
        return None
    kept = (name for name, value in vars(kind).items() if isinstance(value, cached_property))
    return frozenset(field.name for field in dataclasses.fields(kind)), tuple(kept)


@cache
def reader_of(kind: type) -> Callable[[Any], dict[str, Any]]:
    """Reads the fields that records of a class are made from, by name."""
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    values = _getter(names)
    return lambda record: dict(zip(names, values(record), strict=True))


_OPTIONS = frozenset({"frozen", "slots", "eq", "kw_only", "weakref_slot"})


class _Factory:
    """Stands in signatures for a default that is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Factory()


def _methods(cls: type, *, frozen: bool, compared: bool) -> Iterator[tuple[str, Any]]:
    fields = dataclasses.fields(cls)
    _check_order(field for field in fields if field.init and not field.kw_only)
    yield "__init__", _first_init(cls, frozen=frozen)
    yield "__signature__", _Signature()
    yield "__repr__", _repr([field.name for field in fields if field.repr])
    if compared:
        values = _getter([field.name for field in fields if field.compare])
        yield "__eq__", _eq(values)
        yield "__hash__", (lambda self: hash(values(self))) if frozen else None
    if frozen:
        yield "__setattr__", _refusing(cls, "assign to", object.__setattr__)
        yield "__delattr__", _refusing(cls, "delete", object.__delattr__)
    if frozen and "__slots__" in cls.__dict__:
        names = [field.name for field in fields]
        yield "__getstate__", lambda self: [getattr(self, name) for name in names]
        yield "__setstate__", _restore(names)


def _check_order(positional: Iterable[dataclasses.Field[Any]]) -> None:
    """Raises as the standard decorator does, which checks this only where it writes `__init__`."""
    last = ""
    for field in positional:
        if field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING:
            last = field.name
        elif last:
            raise TypeError(f"non-default argument {field.name!r} follows default argument {last!r}")


def _first_init(cls: type, *, frozen: bool) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **values: Any) -> None:  # noqa: N807 - it becomes that method
        _complete(cls, frozen=frozen)
        cls.__init__(self, *args, **values)  # type: ignore[misc] # the method of this very class, now compiled

    __init__.completes = lambda: _complete(cls, frozen=frozen)  # type: ignore[attr-defined] # a function may carry data
    return __init__


class _Signature:
    """Lets `inspect.signature` of a class see the compiled `__init__`, by compiling it when somebody looks."""

    def __get__(self, instance: object, owner: type) -> Any:
        complete = getattr(owner.__init__, "completes", None)  # type: ignore[misc] # of the class or its base
        if complete is not None:
            complete()
        raise AttributeError("__signature__")


def _complete(cls: type, *, frozen: bool) -> None:
    """Compile `__init__`. Two threads may both do so; the results are the same."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_made": _MADE}
    usual: list[str] = []
    by_keyword: list[str] = []
    by_dict = frozen and "__slots__" not in cls.__dict__
    lines = ["_own = self.__dict__"] if by_dict else list[str]()
    for field in dataclasses.fields(cls):
        name, default, value = field.name, "", field.name
        if field.default is not dataclasses.MISSING:
            default = f"_default_{name}"
            names[default] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            default, names[f"_factory_{name}"] = "_made", field.default_factory
            value = f"_factory_{name}() if {name} is _made else {name}" if field.init else f"_factory_{name}()"
        if field.init:
            (by_keyword if field.kw_only else usual).append(f"{name}={default}" if default else name)
        elif not default:
            continue
        value = value if field.init or default == "_made" else default
        slot = cls.__dict__.get(name)
        if frozen and isinstance(slot, MemberDescriptorType):
            names[f"_set_{name}"] = slot.__set__  # in two thirds of the time of `object.__setattr__`
            lines.append(f"_set_{name}(self, {value})")
        elif by_dict:
            lines.append(f"_own[{name!r}] = {value}")  # in a third of it
        else:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    given = ", ".join(["self", *usual, *(["*"] if by_keyword else []), *by_keyword])
    exec(f"def __init__({given}):\n  " + "\n  ".join(lines or ["pass"]), names)  # noqa: S102 - names and places of fields only, as in `dataclasses`
    made = names["__init__"]
    made.by_dict = by_dict and not hasattr(cls, "__post_init__")
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {field.name: field.type for field in dataclasses.fields(cls) if field.init} | {
        "return": None
    }
    type.__setattr__(cls, "__init__", made)


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def __eq__(self: Any, other: object) -> Any:  # noqa: N807 - it becomes that method
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _repr(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807 - it becomes that method
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return recursive_repr()(__repr__)


def _refusing(cls: type, what: str, otherwise: Callable[..., None]) -> Callable[..., None]:
    own = {field.name for field in dataclasses.fields(cls)}

    def refuse(self: Any, name: str, *value: Any) -> None:
        if type(self) is cls or name in own:
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
        otherwise(self, name, *value)  # a class derived from it may have attributes of its own

    return refuse


def _restore(names: list[str]) -> Callable[[Any, list[Any]], None]:
    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807 - it becomes that method
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __setstate__
