"""Finds the vectors that an agent file names: a packaged ranker, or a model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from cuecard.agent.ranker import NamedRanker
from cuecard.errors import SpecError
from cuecard.outside.rankers.model2vec import ModelFiles, find_model, load_model
from cuecard.outside.rankers.semantic import PACKAGED, semantic_ranker
from cuecard.outside.rankers.tools import Made


def by_meaning(named: NamedRanker, folder: Path, roots: Sequence[str] = ()) -> Made:
    """The ranker of sentence vectors that the agent whose file is in `folder` names.

    Args:
        named: the ranker.
        folder: where relative paths start.
        roots: folders outside it where links may lead.

    Raises:
        SpecError: when its extra is not installed, or its model does not exist.
    """
    if named.name.kind == "semantic":
        packaged = PACKAGED[named.name.value]
        _need(named, packaged.extras, packaged.modules)
        return lambda tools: semantic_ranker(tools, packaged.load)
    model = _model(named, folder, roots)
    return lambda tools: semantic_ranker(tools, lambda: load_model(model))


def _model(named: NamedRanker, folder: Path, roots: Sequence[str]) -> ModelFiles:
    _need(named, ("model2vec",), ("numpy", "tokenizers"))
    model = find_model(named.name.value, folder, roots)
    if model is None:
        message = f"there is no model `{named.name.value}` on this machine"
        hint = "name a folder with `model.safetensors` and `tokenizer.json`: ./models/potion; nothing is downloaded"
        raise SpecError(named.problem("missing-ranker", message, hint))
    return model


def _need(named: NamedRanker, names: Sequence[str], modules: Sequence[str]) -> None:
    """Check that its packages are installed.

    Raises:
        SpecError: when one is missing; the error names the extra and how to install it.
    """
    missing = [module for module in modules if not _installed(module)]
    if missing:
        extras = ",".join(names)
        message = f"this ranker needs the extra `{extras}`, which is not installed (no module `{missing[0]}`)"
        raise SpecError(named.problem("missing-ranker", message, f'pip install "cuecard[{extras}]"'))


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # someone has replaced it with None
        return False
