"""Reads the safetensors format: a JSON table of contents, then plain numbers, and nothing executable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from cuecard.outside.rankers.model_files import opened
from cuecard.outside.roots import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}
_MAX_CONTENTS = 1 << 20

MAX_WEIGHTS: Final = 4 * 1024**3
"""The maximum size of a file of weights in bytes; only those that are used are read."""


def read_tensors(place: Place) -> dict[str, NDArray[Any]]:
    """Every tensor of a file by name, read from disk when it is used.

    Raises:
        ValueError: when the file is invalid.
        OSError: when it cannot be read.
    """
    import numpy as np  # noqa: PLC0415 - part of an extra

    with opened(place, MAX_WEIGHTS) as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _MAX_CONTENTS:
            raise ValueError("not a safetensors file")
        contents = json.loads(stream.read(length))
        if not isinstance(contents, dict):
            raise ValueError("not a safetensors file")  # noqa: TRY004 - it is the value of a file
        data = np.memmap(stream, mode="r", offset=8 + length)
    return {name: _tensor(data, about) for name, about in contents.items() if name != "__metadata__"}


def _tensor(data: NDArray[Any], about: Any) -> NDArray[Any]:
    try:
        kind, shape, (start, end) = _KINDS[about["dtype"]], about["shape"], about["data_offsets"]
        if not 0 <= start <= end <= len(data):
            raise ValueError("a truncated tensor")
        return data[start:end].view(kind).reshape(shape)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a tensor in an unknown format: {error}") from None
