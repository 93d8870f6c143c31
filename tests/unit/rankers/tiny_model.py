"""A model2vec model of a few words, made on the spot: words of one group point into one direction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

GROUPS = (
    ("weather", "forecast", "rain", "umbrella"),
    ("charge", "card", "customer", "invoice"),
    ("play", "music", "sing", "tune"),
    ("send", "letter", "mail", "post"),
)


def write_model(folder: Path, *, quantized: bool = False) -> Path:
    """The model; `quantized` as newer versions write it: fewer rows than pieces, and weights apart."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {"[UNK]": 0, **{word: n for n, word in enumerate((w for group in GROUPS for w in group), 1)}}
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"normalize": True}), encoding="utf-8")
    rows = np.vstack([np.zeros(4), np.eye(4)]).astype(np.float32)
    mapping = np.array([0, *(group for group in range(1, 5) for _ in range(4))], np.int64)
    if quantized:
        weights = np.ones(len(mapping), np.float64)
        write_tensors(folder, {"embeddings": rows.astype(np.float16), "mapping": mapping, "weights": weights})
    else:
        write_tensors(folder, {"embeddings": rows[mapping]})
    return folder


def write_tensors(folder: Path, tensors: dict[str, np.ndarray]) -> None:
    """Tensors as safetensors writes them."""
    kinds = {"float16": "F16", "float32": "F32", "float64": "F64", "int64": "I64"}
    contents, body = {}, b""
    for name, tensor in tensors.items():
        data = tensor.tobytes()
        places = [len(body), len(body) + len(data)]
        contents[name] = {"dtype": kinds[tensor.dtype.name], "shape": list(tensor.shape), "data_offsets": places}
        body += data
    head = json.dumps(contents).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)
