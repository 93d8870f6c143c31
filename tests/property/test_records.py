"""`cuecard.records.dataclass` makes what the standard decorator makes, only later."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.records import dataclass

VALUES = st.one_of(st.integers(0, 3), st.sampled_from(["", "a"]))
FIELDS: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    init=st.booleans(),
    repr=st.booleans(),
    compare=st.booleans(),
    kw_only=st.booleans(),
) | st.builds(dict, default=VALUES, kw_only=st.booleans(), init=st.booleans())
FACTORIES = st.just({"default_factory": list})
OPTIONS = st.fixed_dictionaries({"frozen": st.booleans(), "slots": st.booleans(), "eq": st.booleans()})
CALLS = st.lists(st.tuples(st.lists(VALUES, max_size=3), st.dictionaries(st.sampled_from("abcd"), VALUES)), max_size=4)


def written(fields: list[Mapping[str, Any]]) -> type:
    names = "abcd"[: len(fields)]
    body = {name: dataclasses.field(**options) for name, options in zip(names, fields, strict=True)}
    return type("Written", (), {"__annotations__": dict.fromkeys(names, "int"), "__doc__": "Told.", **body})


def outcome(work: Callable[[], Any]) -> tuple[str, Any]:
    """What it gives, or the kind of its exception."""
    try:
        return "gives", work()
    except Exception as error:  # noqa: BLE001 - whatever the standard decorator raises, ours is to raise
        return "raises", type(error)


def facts(kind: type, calls: list[tuple[list[Any], dict[str, Any]]]) -> list[Any]:
    """All that can be seen of a class and its instances."""
    made = [outcome(lambda: kind(*args, **named)) for args, named in calls]  # noqa: B023 - called at once
    found = [value for how, value in made if how == "gives"]
    return [
        str(inspect.signature(kind)),
        str(inspect.signature(kind.__init__)),  # type: ignore[misc] # of this very class
        getattr(kind, "__match_args__", None),
        [(each.name, each.init, each.kw_only, each.type) for each in dataclasses.fields(kind)],
        [value if how == "raises" else outcome(lambda: repr(value)) for how, value in made],  # noqa: B023
        [outcome(lambda: hash(value) == hash(copy.copy(value))) for value in found],  # noqa: B023
        [[outcome(lambda: a == b) for b in found] for a in found],  # noqa: B023
        [outcome(lambda: setattr(value, "a", 9)) for value in found],  # noqa: B023
        # What it raises for slots differs between versions of Python, and is not always meant.
        [outcome(lambda: setattr(value, "unknown", 9))[0] for value in found],  # noqa: B023
        [outcome(lambda: delattr(value, "a")) for value in found],  # noqa: B023
        [outcome(lambda: dataclasses.asdict(value)) for value in found],  # noqa: B023
        [outcome(lambda: repr(copy.deepcopy(value))) for value in found],  # noqa: B023
    ]


@given(st.lists(FIELDS | FACTORIES, min_size=1, max_size=4), OPTIONS, CALLS)
def test_a_class_is_what_the_standard_decorator_makes(
    fields: list[Mapping[str, Any]],
    options: dict[str, bool],
    calls: list[tuple[list[Any], dict[str, Any]]],
) -> None:
    usual = outcome(lambda: dataclasses.dataclass(**options)(written(fields)))
    ours = outcome(lambda: dataclass(**options)(written(fields)))

    assert ours[0] == usual[0]
    if usual[0] == "raises":
        assert ours == usual
    else:
        assert facts(ours[1], calls) == facts(usual[1], calls)


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Named(Point):
    name: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """One that looks at what it is given."""

    x: int
    twice: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.x)


def test_no_method_is_compiled_before_the_first_instance() -> None:
    @dataclass(frozen=True, slots=True)
    class Late:
        x: int

    names = Late.__init__.__code__.co_varnames
    Late(1)

    assert "x" not in names
    assert "x" in Late.__init__.__code__.co_varnames


def test_an_instance_can_be_pickled_copied_and_replaced() -> None:
    point = Point(1, [2])

    assert pickle.loads(pickle.dumps(point)) == point  # noqa: S301 - made here
    assert copy.deepcopy(point) == point
    assert dataclasses.replace(point, x=3) == Point(3, [2])


def test_what_is_derived_by_the_standard_decorator_is_sound() -> None:
    named = Named(1, name="a")

    assert repr(named) == "Named(x=1, y=[], name='a')"
    assert named == Named(1, [], "a") != Named(1, [], "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        named.x = 2  # type: ignore[misc] # which is the question


def test_a_class_that_checks_itself_does_so() -> None:
    assert Checked(2).twice == 4


def test_a_value_that_contains_itself_can_be_printed() -> None:
    around: list[Any] = []
    point = Point(1, around)
    around.append(point)

    assert repr(point) == "Point(x=1, y=[...])"
