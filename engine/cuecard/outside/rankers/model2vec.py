"""model2vec models, from a folder or a hub client's cache on this machine; never from the network."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuecard.errors import SpecError
from cuecard.outside.rankers.model_files import read
from cuecard.outside.rankers.tensors import read_tensors
from cuecard.outside.rankers.word_vectors import MAX_TOKENIZER, WordVectors, read_tokenizer
from cuecard.outside.roots import Place, Roots

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
_REVISION = 200
"""More bytes than the name of any revision has."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The paths of the files of a model."""

    weights: Place
    tokenizer: Place


def find_model(place: str, folder: Path, roots: Iterable[str] = ()) -> ModelFiles | None:
    """The files of a model, in a folder relative to `folder` or in a hub client's cache.

    Args:
        place: the folder or the name.
        folder: the agent's folder.
        roots: folders outside of it where links may lead.

    Raises:
        SpecError: when a link on the way leads out of the roots.
    """
    try:
        named = os.fspath(Path(place).expanduser())
    except RuntimeError:  # there is no such user
        return None
    found = _files(Roots.of(folder, (named,), roots), named)
    if found is None and not place.startswith((".", "/", "~")):
        found = _kept(place)
    return found


def load_model(files: ModelFiles) -> WordVectors:
    """The vectors of a model.

    Raises:
        ValueError: when its files are not what they should be.
        OSError: when they cannot be read.
    """
    text = read(files.tokenizer, MAX_TOKENIZER)
    tensors, tokenizer = read_tensors(files.weights), read_tokenizer(TOKENIZER, text)
    table = tensors.get("embeddings")
    if table is None or table.ndim != 2:
        raise ValueError(f"{WEIGHTS} has no table `embeddings`")
    rows, weights = tensors.get("mapping"), tensors.get("weights")
    size = tokenizer.get_vocab_size()
    if rows is not None and (rows.ndim != 1 or not len(rows) or rows.min() < 0 or rows.max() >= len(table)):
        raise ValueError(f"{WEIGHTS} has a `mapping` to rows that do not exist")
    if weights is not None and (weights.ndim != 1 or len(weights) < min(size, len(table if rows is None else rows))):
        raise ValueError(f"{WEIGHTS} has a different number of `weights` than pieces")
    return WordVectors(tokenizer, table, rows, weights, unknown=_unknown(text, tokenizer))


def _files(roots: Roots, folder: str) -> ModelFiles | None:
    found = ModelFiles(*(roots.find(f"{folder}/{name}") for name in (WEIGHTS, TOKENIZER)))
    try:
        regular = all(stat.S_ISREG(each.path.lstat().st_mode) for each in (found.weights, found.tokenizer))
    except (OSError, ValueError):  # missing, or an impossible name
        return None
    return found if regular else None


def _unknown(text: bytes, tokenizer: Any) -> int:
    """The number of the piece for unknown text, which carries no meaning."""
    model = json.loads(text)["model"]
    token, number = model.get("unk_token"), model.get("unk_id")
    found = tokenizer.token_to_id(token) if isinstance(token, str) else number
    return found if isinstance(found, int) else -1


def _kept(name: str) -> ModelFiles | None:
    """The newest revision of a model in the hub client's cache folder."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface"))
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    # The files of a revision are links to other files of the same model.
    roots = Roots.of(hub / f"models--{name.replace('/', '--')}")
    try:
        revision = read(roots.find("refs/main"), _REVISION).decode("ascii").strip()
        return _files(roots, f"snapshots/{revision}") if revision.isalnum() else None
    except (OSError, ValueError, SpecError):
        return None
