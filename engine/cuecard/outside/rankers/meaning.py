"""Finds the vectors that an agent file names: a ranker that is packaged, or a model on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from cuecard.agent.ranker import NamedRanker
from cuecard.errors import SpecError
from cuecard.outside.rankers.model2vec import find_model, load_model
from cuecard.outside.rankers.semantic import PACKAGED, Packaged, semantic_ranker
from cuecard.outside.rankers.tools import Made

_MODEL2VEC = Packaged(("model2vec",), ("numpy", "tokenizers"), lambda: load_model(Path()))


def by_meaning(named: NamedRanker, folder: Path) -> Made:
    """The ranker of sentence vectors that the agent whose file is in `folder` names.

    Raises:
        SpecError: when its extra is not installed, or its model is not there.
    """
    if named.name.kind == "semantic":
        packaged = PACKAGED[named.name.value]
        _need(named, packaged)
        return lambda tools: semantic_ranker(tools, packaged.load)
    model = _model(named, folder)
    return lambda tools: semantic_ranker(tools, lambda: load_model(model))


def _model(named: NamedRanker, folder: Path) -> Path:
    _need(named, _MODEL2VEC)
    model = find_model(named.name.value, folder)
    if model is None:
        message = f"there is no model `{named.name.value}` on this machine"
        hint = "name a folder with `model.safetensors` and `tokenizer.json`: ./models/potion; nothing is downloaded"
        raise SpecError(named.problem("missing-ranker", message, hint))
    return model


def _need(named: NamedRanker, packaged: Packaged) -> None:
    """Whether its packages are there.

    Raises:
        SpecError: when one is not; it names the extra and how to install it.
    """
    missing = [module for module in packaged.modules if not _installed(module)]
    if missing:
        extras = ",".join(packaged.extras)
        message = f"this ranker needs the extra `{extras}`, which is not installed (no module `{missing[0]}`)"
        raise SpecError(named.problem("missing-ranker", message, f'pip install "cuecard[{extras}]"'))


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # somebody has put None in its place
        return False
