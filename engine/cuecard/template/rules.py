"""What templates are compiled by: their mode, their helpers, and the limits of a render."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

from cuecard.records import dataclass

Helper: TypeAlias = Callable[..., Any]
"""A function on values: positional parameters, then `name=value` pairs as keywords; or a parameter named `options`."""

BLOCKS = ("if", "unless", "each", "with")
HOOKS = ("helperMissing", "blockHelperMissing")
"""Helpers that are never called by name: Handlebars.js calls them if nothing else is found."""

TOOL = "tool:"
"""The prefix of a tool's name in the values of a render, for templates that ask for the tool."""

BUILT_IN = (*BLOCKS, "lookup", "log", *HOOKS)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a template is compiled.

    Attributes:
        attributes: the offsets of the mustaches inside its own tags.
        plain: the partials whose output depends only on their context.
    """

    strict: bool
    assume_objects: bool
    helpers: Mapping[str, Helper]
    partials: Collection[str]
    attributes: Collection[int] = frozenset()
    plain: Collection[str] = frozenset()


def wants_options(helper: Helper) -> bool:
    """Whether a helper has a parameter named `options`."""
    try:
        return "options" in inspect.signature(helper).parameters
    except (TypeError, ValueError):
        return False


MAX_PARTIALS = 100
"""The maximum depth of partials that call partials."""

PER_CALL = 5
"""The number of loop items that take as long as one call of a partial."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one render, which also bound its time and memory.

    Attributes:
        work: the maximum number of loop items; a call of a partial counts as `PER_CALL` items.
        output: the maximum number of characters.
    """

    work: int = 500_000
    output: int = 10_000_000


USUAL = Limits()
"""The default limits."""

WORK_LEFT: ContextVar[list[int] | None] = ContextVar("cuecard_template_work", default=None)
"""The work left for the current render. It is a context variable because a partial that reads only its context gets
no other argument, and because other threads and tasks render at the same time.
"""


def spend(amount: int) -> bool:
    """Use up work; whether enough was left."""
    left = WORK_LEFT.get()
    if left is None:
        return True
    left[0] -= amount
    return left[0] >= 0
