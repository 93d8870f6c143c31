"""Cache breakpoints of two lifetimes in one body for Anthropic or Bedrock: the longer must stand before the shorter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cuecard.errors import InputError, Problem

_SECONDS = {"5m": 300, "1h": 3600}
_HINT = "give every breakpoint before it the longer lifetime, or this one the shorter: providers reject this order"


def check_lifetimes(body: Mapping[str, Any]) -> None:
    """Check that the lifetimes of a body's breakpoints never grow from tools to system to messages.

    Raises:
        InputError: naming every breakpoint that lives longer than one in front of it, or has no lifetime that exists.
    """
    problems, shortest = [], max(_SECONDS.values())
    for place, ttl in _breakpoints(body):
        lives = _SECONDS.get(ttl) if isinstance(ttl, str) else None
        if lives is None:
            problems.append(Problem("wrong-option", f"unknown lifetime {ttl!r}", "write 5m or 1h", place))
        elif lives > shortest:
            problems.append(Problem("wrong-option", f"a breakpoint of {ttl} follows one of 5m", _HINT, place))
        else:
            shortest = lives
    if problems:
        raise InputError(problems)


def _breakpoints(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The place and the lifetime of each, in the order in which a request is cached; the body's own is at its end."""
    if isinstance(config := body.get("toolConfig"), Mapping):
        yield from _within(config.get("tools"), "body.toolConfig.tools")
    for part in ("tools", "system", "messages"):
        yield from _within(body.get(part), f"body.{part}")
    yield from _own(body, "body")


def _within(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from _within(value.get("content"), f"{place}.content")
        yield from _own(value, place)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _within(item, f"{place}[{at}]")


def _own(value: Mapping[str, Any], place: str) -> Iterator[tuple[str, Any]]:
    for key in ("cache_control", "cachePoint"):
        if isinstance(control := value.get(key), Mapping):
            yield f"{place}.{key}", control.get("ttl", "5m")
