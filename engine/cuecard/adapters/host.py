"""What a host brings beside its turns, the same in every adapter: what its tools raise becomes a result, or stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from cuecard.catalogue.search import wrong_limit
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import CuecardError, InputError

ToolErrors: TypeAlias = bool | str | Callable[[Exception], str]
"""What becomes of an exception of a tool: the host gets it (False), or the model reads its type (True), this text, or
what the function makes of it.
"""


def told_error(error: BaseException, handling: ToolErrors) -> str | None:
    """What the model reads of an exception of a tool; None where it is left to the host and its framework.

    Errors of the engine, and of a tool server that is gone, are never the model's to mend.
    """
    return None if isinstance(error, CuecardError) else error_text(error, handling)


def error_text(error: BaseException, handling: ToolErrors) -> str | None:
    """What the model reads of any exception of a tool; None where the host gets it."""
    if handling is False or not isinstance(error, Exception):
        return None
    if handling is True:
        return type(error).__name__
    return handling if isinstance(handling, str) else handling(error)


def refused_limit(error: InputError, limit: int | None, words: WordsSpec) -> str:
    """What a model hears that has asked for more tools than a search returns, or for none.

    Raises:
        InputError: the same error, if it is about anything else: then it is the host's.
    """
    if any(problem.code != "search-limit" for problem in error.problems):
        raise error
    return wrong_limit(limit or 0, words)
