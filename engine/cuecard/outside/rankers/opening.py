"""Finds the ranker that a host or an agent file wants when the agent is opened, so that a missing one is reported
at once.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from cuecard.agent.ranker import NamedRanker
from cuecard.catalogue.ranker import Ranker
from cuecard.errors import InputError, Problem, SpecError
from cuecard.outside.cache import cache_at
from cuecard.outside.rankers.code import AnyRanker, RankerMaker, is_ranker, load_function
from cuecard.outside.rankers.search import Search, by_words
from cuecard.outside.rankers.tools import Made, Tools
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class SearchWish:
    """A host's wishes for the search.

    Attributes:
        ranker: ranks the tools, overriding the agent file.
        allow_code: whether a function that the agent file names may be imported and called.
        cache: the folder that keeps indexes; True for the user's cache folder, False for none.
    """

    ranker: AnyRanker | None = None
    allow_code: bool = False
    cache: str | Path | bool = True

    def open(self, named: NamedRanker) -> Search:
        """The search of an agent that names this ranker.

        Raises:
            SpecError: when the ranker does not exist, or is code that is not allowed.
            InputError: when the host's own ranker is not callable.
        """
        return Search(self._made(named), cache_at(self.cache))

    def _made(self, named: NamedRanker) -> Made:
        if self.ranker is not None:
            if not is_ranker(self.ranker):
                message = f"a ranker of type {type(self.ranker).__name__} cannot be called"
                hint = "pass a function that takes a query and a limit and returns names with scores"
                raise InputError(Problem("wrong-ranker", message, hint, name="ranker"))
            return partial(_given, self.ranker)
        match named.name.kind:
            case "code":
                return partial(_given, self._function(named))
            case "semantic":
                from cuecard.outside.rankers.meaning import by_meaning  # noqa: PLC0415 - few agents name vectors

                return by_meaning(named)
        return by_words

    def _function(self, named: NamedRanker) -> AnyRanker:
        if not self.allow_code:
            message = f"`{named.name.value}` is code, and this host does not load code named by files"
            hint = "if you trust this agent's files, allow it: `Engine.open(..., allow_code=True)`, or `--allow-code`"
            raise SpecError(named.problem("code-not-allowed", message, hint))
        return load_function(named)


def _given(ranker: AnyRanker, tools: Tools) -> Ranker:
    return ranker.for_tools(tools.cards) if isinstance(ranker, RankerMaker) else ranker
