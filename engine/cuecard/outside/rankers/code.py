"""Functions of the host's, named in an agent file: loaded only where the host allows code."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any

from cuecard.agent.ranker import NamedRanker
from cuecard.errors import SpecError


def load_function(named: NamedRanker) -> Any:
    """What `package.module:name` names.

    Raises:
        SpecError: when there is no such module or function, when importing it fails, or when it cannot be called.
    """
    module, _, name = named.name.value.partition(":")
    try:
        found = attrgetter(name)(import_module(module))
    except ModuleNotFoundError as error:
        hint = "install it, or put its folder on Python's path: PYTHONPATH=FOLDER"
        raise SpecError(named.problem("missing-ranker", f"there is no module `{error.name}`", hint)) from None
    except AttributeError:
        message = f"the module `{module}` has no `{name}`"
        raise SpecError(named.problem("missing-ranker", message, "name a function of it")) from None
    except Exception as error:
        message = f"`{module}` cannot be imported: {type(error).__name__}: {error}"
        raise SpecError(named.problem("missing-ranker", message, "mend it, or name another ranker")) from error
    if not callable(found) and not callable(getattr(found, "for_tools", None)):
        message = f"`{named.name.value}` is of type {type(found).__name__}, which cannot be called"
        raise SpecError(named.problem("missing-ranker", message, "name a function: query and limit to names with scores"))
    return found
