"""Files of models, under the same rules as all others: regular files of limited size, with links only inside the
roots.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from cuecard.outside.confined_files import RefusedError, open_below, read_below
from cuecard.outside.roots import Place


@contextmanager
def opened(place: Place, limit: int) -> Iterator[BinaryIO]:
    """A file of a model, opened for reading.

    Raises:
        ValueError: when it is not a regular file, or larger than `limit` bytes.
        OSError: when it cannot be opened.
    """
    try:
        with open_below(place.root, place.parts, limit) as file:
            yield file
    except RefusedError as error:
        raise ValueError(f"{place.path.name}: {error}") from None


def read(place: Place, limit: int) -> bytes:
    """The bytes of a file of a model.

    Raises:
        ValueError: when it is no regular file, or larger than `limit` bytes.
        OSError: when it cannot be read.
    """
    try:
        return read_below(place.root, place.parts, limit)[0]
    except RefusedError as error:
        raise ValueError(f"{place.path.name}: {error}") from None
