"""What rankers are made from, and what encodes texts as vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from cuecard.catalogue.ranker import Ranker
from cuecard.files.cache import Cache
from cuecard.model import ToolCard
from cuecard.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """One row per text, each of length 1, or 0 for a text that says nothing."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools to rank, a factory for the ranker by words, and the cache for indexes."""

    cards: Sequence[ToolCard]
    lexical: Callable[[], Ranker]
    cache: Cache


Made: TypeAlias = Callable[[Tools], Ranker]
"""Makes a ranker."""


class Encoder(Protocol):
    """Encodes texts as vectors. It may be shared between threads."""

    @property
    def identity(self) -> str:
        """What the vectors depend on, such as a package and its version; empty if they are not worth caching."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts to be searched."""

    def ask(self, query: str) -> Vectors:
        """The vector of a query: one row."""


def unit(vectors: Vectors) -> Vectors:
    """Every row scaled to length 1; rows of length 0, or of a length that is not finite, are 0."""
    import numpy as np  # noqa: PLC0415 - part of an extra

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    scaled: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=usable)
    return scaled
