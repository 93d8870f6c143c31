"""What a template is compiled by: its mode, its helpers, and the names that Handlebars knows by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeAlias

from cuecard.records import dataclass

if TYPE_CHECKING:
    from cuecard.model import Json


Helper: TypeAlias = "Callable[..., Json]"
"""A function on values: positional parameters, then `name=value` pairs as keywords; or a parameter named `options`."""

BLOCKS = ("if", "unless", "each", "with")
HOOKS = ("helperMissing", "blockHelperMissing")
"""Helpers that are never called by name: Handlebars.js calls them where nothing else is found."""

TOOL = "tool:"
"""What stands before the name of a tool in the values of a render, where a template asks for it."""

BUILT_IN = (*BLOCKS, "lookup", "log", *HOOKS)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a template is compiled.

    Attributes:
        attributes: the offsets of the mustaches inside its own tags.
        plain: the partials that print the same for the same context, wherever they are called.
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
