"""Functions of the host's, named in an agent file: loaded only where the host allows code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from cuecard.agent.ranker import NamedRanker
from cuecard.catalogue import Ranker
from cuecard.errors import SpecError
from cuecard.model import ToolCard


@runtime_checkable
class RankerMaker(Protocol):
    """Makes rankers, for rankings that have to know the tools."""

    def for_tools(self, cards: Sequence[ToolCard], /) -> Ranker:
        """The ranker of these tools; asked once for each catalogue, at its first search."""


AnyRanker: TypeAlias = Ranker | RankerMaker
"""What a host may hand in, and what an agent file may name."""


def is_ranker(value: object) -> TypeGuard[AnyRanker]:
    """Whether it could be one: nobody knows before it is called."""
    return callable(value) or isinstance(value, RankerMaker)


def load_function(named: NamedRanker) -> AnyRanker:
    """What `package.module:name` names.

    Raises:
        SpecError: when there is no such module or function, when importing it fails, or when it cannot be called.
    """
    module, _, name = named.name.value.partition(":")
    try:
        found: object = attrgetter(name)(import_module(module))
    except ModuleNotFoundError as error:
        hint = "install it, or put its folder on Python's path: PYTHONPATH=FOLDER"
        raise SpecError(named.problem("missing-ranker", f"there is no module `{error.name}`", hint)) from None
    except AttributeError:
        message = f"the module `{module}` has no `{name}`"
        raise SpecError(named.problem("missing-ranker", message, "name a function of it")) from None
    except Exception as error:
        message = f"`{module}` cannot be imported: {type(error).__name__}: {error}"
        raise SpecError(named.problem("missing-ranker", message, "mend it, or name another ranker")) from error
    if not is_ranker(found):
        message = f"`{named.name.value}` is of type {type(found).__name__}, which cannot be called"
        raise SpecError(
            named.problem("missing-ranker", message, "name a function: query and limit to names with scores")
        )
    return found
