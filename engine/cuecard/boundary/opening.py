"""The arguments of `Engine.open` and `watch`, and of watchers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from cuecard.boundary.nouns import shape_of
from cuecard.model import Call, DeliveryWish, ReloadPolicy, Turn
from cuecard.shapes import Either, Findings, Flag, Function, Instance, Maybe, Noun, Number, Shape, Text, Whole

_DAY = 86_400
_PATH = Either([Text(least=1), Instance(Path)])
_DELIVERIES = get_args(DeliveryWish)
_CLOCK = Function("a function that returns the current time")
_OPENING: Mapping[str, Shape] = {
    "path": _PATH,
    "delivery": shape_of(DeliveryWish | None),
    "clock": _CLOCK,
    "salt": Text(),
    "key": Text(),
    "allow_code": Flag(),
    "cache": Either([Flag(), _PATH]),
}
_CALL = Maybe([Instance(Call, hint="pass the result of `prepare_call`")])
_SERVING: Mapping[str, Shape] = {
    "policy": shape_of(ReloadPolicy | None),
    "keep": Whole(1),
    "previous": _CALL,
    "call": _CALL,
    "turn": Instance(Turn),
}


def check_delivery(delivery: Any) -> None:
    """The delivery of an engine created in code, for example by `dataclasses.replace`.

    Raises:
        InputError: when there is no such delivery.
    """
    if delivery in _DELIVERIES:
        return
    found = Findings()
    shape_of(DeliveryWish).take(delivery, "delivery", found)
    found.refuse()


def check_opening(arguments: Mapping[str, Any]) -> None:
    """The arguments of `Engine.open` by name, except for the ranker, which is checked where it is used.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _take(_OPENING, arguments, found)
    found.refuse()


def check_watching(arguments: Mapping[str, Any], pace: type) -> None:
    """The arguments of `watch` by name; `pace` is the class of the pace.

    Raises:
        InputError: with each that is wrong.
    """
    more = {"ready": Maybe([Function()]), "states": Maybe([_PATH]), "pace": _pace(pace)}
    found = Findings()
    _take({**_OPENING, **more}, arguments, found)
    found.refuse()


def check_following(objects: Mapping[str, tuple[Any, type]], build: Any, pace: Any, kind: type) -> None:
    """The arguments of a watcher: objects with their classes, the builder, and the pace with its class.

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
        InputError: when it is not callable.
    """
    found = Findings()
    Function().take(callback, "callback", found)
    found.refuse()


def check_serving(arguments: Mapping[str, Any]) -> None:
    """The arguments of `Pins` and of what it serves, by name.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    for name, value in arguments.items():
        if name == "watcher":
            if not all(hasattr(value, each) for each in ("current", "states", "home", "remake")):
                found.wrong("watcher", "a Watcher", value, "`cuecard.watch` makes one")
        else:
            _SERVING[name].take(value, name, found)
    found.refuse()


def check_keeping(folder: Any, most: Any, size: Any) -> None:
    """The arguments of a folder of states.

    Raises:
        InputError: with each that is wrong.
    """
    found = Findings()
    _PATH.take(folder, "folder", found)
    Whole(0).take(most, "most", found)
    Whole(0).take(size, "size", found)
    found.refuse()


def _pace(kind: type) -> Shape:
    return Maybe([Noun(kind, dict.fromkeys(("quiet", "max_wait", "hold", "sweep"), Number(0, _DAY)))])


def _take(shapes: Mapping[str, Shape], arguments: Mapping[str, Any], found: Findings) -> None:
    for name, value in arguments.items():
        shapes[name].take(value, name, found)
