"""Static word-piece vectors: a text is the weighted mean of its pieces, each a row of one table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from cuecard.outside.rankers.encoder import unit
from cuecard.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cuecard.outside.rankers.encoder import Vectors

MAX_TOKENIZER: Final = 64 * 1024**2
"""The maximum size of a tokenizer's file in bytes."""
MAX_PIECES = 512
"""The number of word pieces of a text that count, as in model2vec."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A tokenizer and a table.

    Attributes:
        tokenizer: a `tokenizers.Tokenizer`.
        table: one row per vector.
        rows: the row of each piece; None if rows and pieces have the same numbers.
        weights: the weight of each piece; None if all have the same weight.
        unknown: the number of the piece for unknown text, which does not count.
        weighs: whether pieces that are rare in the searched texts count more.
        identity: what the vectors depend on; empty if finding out would take longer than computing them again.
    """

    tokenizer: Any
    table: NDArray[Any]
    rows: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None
    unknown: int = -1
    weighs: bool = False
    identity: str = ""

    def fitted(self, texts: Sequence[str]) -> WordVectors:
        """The same encoder, with weights by rarity if `weighs` is set."""
        import numpy as np  # noqa: PLC0415 - part of an extra

        if not self.weighs:
            return self
        counts = Counter(piece for text in texts for piece in set(self._pieces(text)))
        weights = np.full(len(self.table), 1 + math.log(len(texts) + 1), np.float32)
        for piece, count in counts.items():
            weights[piece] = 1 + math.log((len(texts) + 1) / (count + 1))
        return replace(self, weights=weights)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector for each text."""
        import numpy as np  # noqa: PLC0415 - part of an extra

        vectors = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            if pieces := self._pieces(text):
                rows = self.table[self.rows[pieces] if self.rows is not None else pieces].astype(np.float32)
                vector[:] = rows.mean(0) if self.weights is None else (self.weights[pieces, None] * rows).mean(0)
        return unit(vectors)

    def ask(self, query: str) -> Vectors:
        """The same as for a searched text."""
        return self.encode([query])

    def _pieces(self, text: str) -> list[int]:
        known = len(self.table) if self.rows is None else len(self.rows)
        found = self.tokenizer.encode(text, add_special_tokens=False).ids
        return [piece for piece in found if piece != self.unknown and piece < known][:MAX_PIECES]


def read_tokenizer(name: str, data: bytes) -> Any:
    """A tokenizer from its JSON; `name` is that of its file.

    Raises:
        ValueError: when it is not a tokenizer.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 - part of an extra

    try:
        tokenizer = Tokenizer.from_str(data.decode())
    except Exception as error:  # noqa: BLE001 - the package raises nothing more exact
        raise ValueError(f"{name} is not a tokenizer: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
