"""The arguments of `Engine.open` and `watch`, and of what follows files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuecard.boundary.nouns import shape_of
from cuecard.model import Call, DeliveryWish, ReloadPolicy
from cuecard.shapes import Either, Findings, Function, Instance, Maybe, Noun, Number, Shape, Text, Whole

_DAY = 86_400
_PATH = Either([Text(least=1), Instance(Path)])
_CLOCK = Function("a function that tells the time")
_OPENING: Mapping[str, Shape] = {
    "path": _PATH,
    "delivery": shape_of(DeliveryWish | None),
    "clock": _CLOCK,
    "salt": Text(),
    "key": Text(),
}
_CALL = Maybe([Instance(Call, hint="pass on what `prepare_call` gave")])


def check_opening(path: Any, delivery: Any, clock: Any, salt: Any, key: Any) -> None:
    """The arguments of `Engine.open`.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _take(_OPENING, {"path": path, "delivery": delivery, "clock": clock, "salt": salt, "key": key}, found)
    found.refuse()


def check_watching(arguments: Mapping[str, Any], pace: type) -> None:
    """The arguments of `watch` by name; `pace` is the class of the pace.

    Raises:
        InputError: with each that is wrong.
    """
    more = {"ready": Maybe([Function()]), "state": Maybe([_PATH]), "pace": _pace(pace)}
    found = Findings()
    _take({**_OPENING, **more}, arguments, found)
    found.refuse()


def check_following(objects: Mapping[str, tuple[Any, type]], build: Any, pace: Any, kind: type) -> None:
    """The arguments of a watcher: objects with their classes, what builds, and the pace with its class.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    for name, (value, wanted) in objects.items():
        Instance(wanted).take(value, name, found)
    Function().take(build, "build", found)
    _pace(kind).take(pace, "pace", found)
    found.refuse()


def check_callback(callback: Any) -> None:
    """The argument of `Watcher.on_change`.

    Raises:
        InputError: when it cannot be called.
    """
    found = Findings()
    Function().take(callback, "callback", found)
    found.refuse()


def check_serving(arguments: Mapping[str, Any], watcher: tuple[Any, type] | None = None) -> None:
    """The arguments of `Pins` by name; its watcher with the class of watchers.

    Raises:
        InputError: with each that is wrong.
    """
    shapes: Mapping[str, Shape] = {
        "policy": shape_of(ReloadPolicy | None),
        "keep": Whole(1),
        "previous": _CALL,
        "call": _CALL,
    }
    found = Findings()
    if watcher:
        Instance(watcher[1], hint="`cuecard.watch` makes one").take(watcher[0], "watcher", found)
    _take(shapes, arguments, found)
    found.refuse()


def _pace(kind: type) -> Shape:
    return Maybe([Noun(kind, dict.fromkeys(("quiet", "max_wait", "hold", "sweep"), Number(0, _DAY)))])


def _take(shapes: Mapping[str, Shape], arguments: Mapping[str, Any], found: Findings) -> None:
    for name, value in arguments.items():
        shapes[name].take(value, name, found)
