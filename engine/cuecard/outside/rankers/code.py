"""The host's own functions, named in an agent file; loaded only if the host allows code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, TypeGuard, runtime_checkable

from cuecard.agent.ranker import NamedRanker
from cuecard.catalogue.ranker import Ranker
from cuecard.errors import SpecError
from cuecard.model import ToolCard
from cuecard.outside.code import named_object


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
