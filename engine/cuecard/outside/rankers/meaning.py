"""The ranker of sentence vectors, if its extra is installed."""

from __future__ import annotations

from importlib.util import find_spec

from cuecard.agent.ranker import NamedRanker
from cuecard.errors import SpecError
from cuecard.outside.rankers.semantic import semantic_ranker
from cuecard.outside.rankers.sentence_encoder import MODULE, SentenceEncoder
from cuecard.outside.rankers.tools import Made


def by_meaning(named: NamedRanker) -> Made:
    """The ranker of sentence vectors that an agent file names.

    Raises:
        SpecError: when its extra is not installed; the error says how to install it.
    """
    missing = [module for module in ("numpy", MODULE) if not _installed(module)]
    if missing:
        message = f"this ranker needs the extra `semantic`, which is not installed (no module `{missing[0]}`)"
        raise SpecError(named.problem("missing-ranker", message, 'pip install "cuecard[semantic]"'))
    return lambda tools: semantic_ranker(tools, SentenceEncoder.load)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # someone has replaced it with None
        return False
