"""The rules for compiling a template: its mode, its helpers, and the names built into Handlebars."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
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
