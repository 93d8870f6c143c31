"""Vectors of the package `wordllama`, from the files that it carries.

The package is never imported: its own `load()` asks a hub for the tokenizer first, and importing it sets up logging.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cuecard.outside.rankers.tensors import read_tensors
from cuecard.outside.rankers.word_vectors import WordVectors, read_tokenizer

MODULE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

_LOADING = threading.Lock()


def load_wordllama() -> WordVectors:
    """The vectors of this process, loaded once.

    Raises:
        ValueError: when the package's files are not what they should be.
        OSError: when they cannot be read.
    """
    with _LOADING:
        return _load()


@cache
def _load() -> WordVectors:
    found = find_spec(MODULE)
    folder = Path(next(iter(found.submodule_search_locations or ()), "")) if found else Path()
    table = read_tensors(folder / _WEIGHTS).get("embedding.weight")
    if table is None or table.ndim != 2:
        raise ValueError("wordllama's weights are not where they were")
    return WordVectors(read_tokenizer(folder / _TOKENIZER), table, weighs=True, identity=f"{MODULE} {version(MODULE)}")
