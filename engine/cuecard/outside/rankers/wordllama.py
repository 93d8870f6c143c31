"""Vectors of the package `wordllama`, from its own files.

The package is never imported: its own `load()` asks a hub for the tokenizer first, and importing it sets up logging.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from cuecard.outside.rankers.model_files import read
from cuecard.outside.rankers.tensors import read_tensors
from cuecard.outside.rankers.word_vectors import MAX_TOKENIZER, WordVectors, read_tokenizer
from cuecard.outside.roots import Roots

MODULE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

_LOADING = threading.Lock()


def load_wordllama() -> WordVectors:
    """The vectors of this process, loaded once.

    Raises:
        ValueError: when the package's files are invalid.
        OSError: when they cannot be read.
    """
    with _LOADING:
        return _load()


@cache
def _load() -> WordVectors:
    found = find_spec(MODULE)
    folder = Path(next(iter(found.submodule_search_locations or ()), "")) if found else Path()
    # Installers may have replaced the package's files with links.
    weights, tokenizer = (Roots.anywhere(folder).find(name) for name in (_WEIGHTS, _TOKENIZER))
    table = read_tensors(weights).get("embedding.weight")
    if table is None or table.ndim != 2:
        raise ValueError("wordllama's weights are no longer where they were")
    pieces = read_tokenizer(tokenizer.path.name, read(tokenizer, MAX_TOKENIZER))
    return WordVectors(pieces, table, weighs=True, identity=f"{MODULE} {version(MODULE)}")
