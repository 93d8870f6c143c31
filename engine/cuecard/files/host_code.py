"""The host's functions, loaded if allowed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from importlib.metadata import entry_points
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from cuecard.agent.host_functions import LoadHelpers, NamedHelpers, NamedRanker, refuse_helpers
from cuecard.catalogue.ranker import Ranker
from cuecard.errors import Problem, SpecError
from cuecard.model import Json, ToolCard
from cuecard.template import trusted
from cuecard.template.rules import BUILT_IN, Helper

Describe: TypeAlias = Callable[[str, str], Problem]
"""Turns a message and a hint into a problem at the place that names the object."""


def named_object(written: str, describe: Describe) -> object:
    """The object that `package.module:name` names.

    Raises:
        SpecError: when there is no such module or name, or when importing it fails.
    """
    module, _, name = written.partition(":")
    try:
        return attrgetter(name)(import_module(module))
    except ModuleNotFoundError as error:
        hint = "install it, or add its folder to Python's path: PYTHONPATH=FOLDER"
        raise SpecError(describe(f"there is no module `{error.name}`", hint)) from None
    except AttributeError:
        raise SpecError(describe(f"the module `{module}` has no `{name}`", "name something that it defines")) from None
    except Exception as error:
        message = f"`{module}` cannot be imported: {type(error).__name__}: {error}"
        raise SpecError(describe(message, "fix it, or remove it")) from error


GROUP = "cuecard.helpers"
"""The group of entry points under which packages offer helpers."""

_NAME = re.compile(r"[^\W\d][\w-]*")


def helper_loader(*, allow_code: bool) -> LoadHelpers:
    """The function that loads helpers, or refuses to."""
    return load_helpers if allow_code else refuse_helpers


def load_helpers(named: NamedHelpers) -> Mapping[str, Helper]:
    """The functions by name; their results are data, or trusted if the file says so.

    Raises:
        SpecError: when they cannot be imported, or are not a mapping of names to functions.
    """
    found = _object(named)
    if not isinstance(found, Mapping):
        message = f"`{named.spec.code}` is of type {type(found).__name__}, not a mapping"
        raise SpecError(_problem(named)(message, "name a mapping of names to functions: `HELPERS = {'shout': shout}`"))
    wrong = [name for name in found if not _is_helper(name, found[name])]
    if wrong:
        message = f"`{named.spec.code}` contains what no template can call: {', '.join(f'`{name}`' for name in wrong)}"
        hint = f"a helper is a function with a name of letters, digits and `_`, other than {', '.join(BUILT_IN)}"
        raise SpecError(_problem(named)(message, hint))
    return {name: _owned(found[name], author=named.spec.trust == "author") for name in found}


def _object(named: NamedHelpers) -> object:
    if ":" in named.spec.code:
        return named_object(named.spec.code, _problem(named))
    offered = entry_points(group=GROUP)
    if named.spec.code not in offered.names:
        known = ", ".join(f"`{name}`" for name in sorted(offered.names)) or "none is installed"
        hint = f"install the package that provides it, or write `my_package.my_module:HELPERS`; available here: {known}"
        raise SpecError(_problem(named)(f"no installed package provides helpers named `{named.spec.code}`", hint))
    try:
        found: object = offered[named.spec.code].load()
    except Exception as error:
        message = f"`{named.spec.code}` cannot be loaded: {type(error).__name__}: {error}"
        raise SpecError(_problem(named)(message, "fix it, or remove it")) from error
    return found


def _problem(named: NamedHelpers) -> Callable[[str, str], Problem]:
    return lambda message, hint: named.problem("missing-helpers", message, hint)


def _is_helper(name: object, function: object) -> bool:
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and name not in BUILT_IN and callable(function)


def _owned(function: Helper, *, author: bool) -> Helper:
    @wraps(function)
    def owned(*values: Json, **pairs: Json) -> Json:
        made = function(*values, **pairs)
        if not isinstance(made, str):
            return made
        return trusted(made) if author else str(made)

    return owned


@runtime_checkable
class RankerMaker(Protocol):
    """Creates rankers that need to know the tools."""

    def for_tools(self, cards: Sequence[ToolCard], /) -> Ranker:
        """The ranker for these tools; called once per catalogue, at its first search."""


AnyRanker: TypeAlias = Ranker | RankerMaker
"""A ranker that a host may pass, or an agent file may name."""


def is_ranker(value: object) -> TypeGuard[AnyRanker]:
    """Whether it could be a ranker, which is only certain when it is called."""
    return callable(value) or isinstance(value, RankerMaker)


def load_function(named: NamedRanker) -> AnyRanker:
    """The ranker that `package.module:name` names.

    Raises:
        SpecError: when there is no such module or function, when importing it fails, or when it cannot be called.
    """
    found = named_object(named.name.value, lambda message, hint: named.problem("missing-ranker", message, hint))
    if not is_ranker(found):
        message = f"`{named.name.value}` is of type {type(found).__name__}, which cannot be called"
        raise SpecError(
            named.problem(
                "missing-ranker",
                message,
                "name a function that takes a query and a limit and returns names with scores",
            )
        )
    return found
