"""Models of model2vec, from a folder or from what a hub's client has kept on this machine; never from the network."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cuecard.outside.rankers.tensors import read_tensors
from cuecard.outside.rankers.word_vectors import WordVectors, read_tokenizer

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"


def find_model(place: str, folder: Path) -> Path | None:
    """The folder of a model: one that is there, relative to `folder`; else what a hub's client keeps by that name."""
    named = [*(_kept(place) if not place.startswith((".", "/", "~")) else ())]
    try:
        return next((each for each in (folder / Path(place).expanduser(), *named) if _is_model(each)), None)
    except (OSError, ValueError, RuntimeError):  # a name that no file could have
        return None


def _is_model(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file()


def load_model(folder: Path) -> WordVectors:
    """The vectors of a model.

    Raises:
        ValueError: when its files are not what they should be.
        OSError: when they cannot be read.
    """
    tensors, tokenizer = read_tensors(folder / WEIGHTS), read_tokenizer(folder / TOKENIZER)
    table = tensors.get("embeddings")
    if table is None or table.ndim != 2:
        raise ValueError(f"{WEIGHTS} has no table `embeddings`")
    rows, weights = tensors.get("mapping"), tensors.get("weights")
    size = tokenizer.get_vocab_size()
    if rows is not None and (rows.ndim != 1 or not len(rows) or rows.min() < 0 or rows.max() >= len(table)):
        raise ValueError(f"{WEIGHTS} has a `mapping` to rows that do not exist")
    if weights is not None and (weights.ndim != 1 or len(weights) < min(size, len(table if rows is None else rows))):
        raise ValueError(f"{WEIGHTS} has other `weights` than pieces")
    return WordVectors(tokenizer, table, rows, weights, unknown=_unknown(folder, tokenizer))


def _unknown(folder: Path, tokenizer: Any) -> int:
    """The number of the piece for what is not known; such pieces say nothing."""
    model = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))["model"]
    token, number = model.get("unk_token"), model.get("unk_id")
    found = tokenizer.token_to_id(token) if isinstance(token, str) else number
    return found if isinstance(found, int) else -1


def _kept(name: str) -> list[Path]:
    """The newest revision of a model in the folder where clients of the hub keep what they have fetched."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface"))
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    model = hub / f"models--{name.replace('/', '--')}"
    try:
        revision = (model / "refs" / "main").read_text(encoding="ascii").strip()
        return [model / "snapshots" / revision] if revision.isalnum() else []
    except (OSError, ValueError):
        return []
