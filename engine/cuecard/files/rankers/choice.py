"""The ranker that is wanted, made once; BM25 with its cache where nobody says otherwise."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from functools import cache as once
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from cuecard.agent.host_functions import NamedRanker
from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.fields import WEIGHTS
from cuecard.catalogue.ranker import Ranker, reason
from cuecard.catalogue.search import SearchIndex
from cuecard.catalogue.word_index import WordIndex, pack, unpack
from cuecard.errors import InputError, Problem, SpecError
from cuecard.files.cache import Cache, cache_at, fingerprint
from cuecard.files.host_code import AnyRanker, RankerMaker, is_ranker, load_function
from cuecard.files.rankers.encoder import Made, Tools
from cuecard.model import CountTokens, Diagnostic, ToolCard
from cuecard.records import dataclass

WORTH_KEEPING = 100
"""The number of tools from which an index takes so long to build (0.03 s) that caching it (a tenth of that to read)
pays.
"""


def lexical_ranker(cards: Sequence[ToolCard], cache: Cache) -> Bm25Ranker:
    """The ranker of these tools."""
    if len(cards) < WORTH_KEEPING or cache.folder is None:
        return Bm25Ranker.build(cards)
    key = fingerprint(["words 1", *_made_by(), *map(_text, cards)])
    names = [card.name for card in cards]
    kept = cache.get(key)
    if kept is not None:
        try:
            return Bm25Ranker(unpack(kept, names), WEIGHTS)
        except ValueError:  # of another format: built again
            pass
    index = WordIndex.build(cards)
    cache.put(key, pack(index))
    return Bm25Ranker(index, WEIGHTS)


def _text(card: ToolCard) -> str:
    """Everything that an index depends on."""
    instructions = card.instructions
    told = [instructions.before, instructions.after, instructions.next, instructions.gotcha] if instructions else []
    known = [card.name, card.description, card.input_schema, card.phrases, card.category, told]
    return json.dumps(known, default=str)


@once
def _made_by() -> tuple[str, ...]:
    """What else an index depends on besides the cards: our own code, the stemmer, Python's character tables."""
    catalogue = files("cuecard").joinpath("catalogue")
    ours = sorted((file.name, file) for file in catalogue.iterdir() if file.name.endswith(".py"))
    return (
        *(file.read_text(encoding="utf-8") for _, file in ours),
        version("cuecard"),
        version("snowballstemmer"),
        unicodedata.unidata_version,
    )


def by_words(tools: Tools) -> Ranker:
    """BM25."""
    return tools.lexical()


@dataclass(frozen=True, slots=True)
class Search:
    """What ranks the tools, and where indexes are cached. By default BM25, without a cache."""

    make: Made = by_words
    cache: Cache = Cache()

    def index(self, cards: Sequence[ToolCard], count: CountTokens | None = None) -> SearchIndex:
        """The index of these tools. If its ranker cannot be created, BM25 ranks, and every answer says why."""
        lexical, told = once(lambda: lexical_ranker(cards, self.cache)), tuple[Diagnostic, ...]()
        try:
            ranker = self.make(Tools(cards, lexical, self.cache))
        except Exception as error:  # noqa: BLE001 - a damaged model or a host's own code: the conversation goes on
            said = f"the ranker cannot be created, so BM25 answers instead: {reason(error)}"
            ranker, told = lexical(), (Diagnostic("ranker_failed", said),)
        return SearchIndex.build(cards, ranker=ranker, fallback=lexical, diagnostics=told, count=count)


@dataclass(frozen=True, slots=True)
class SearchWish:
    """A host's wishes for the search.

    Attributes:
        ranker: ranks the tools, overriding the agent file.
        allow_code: whether a function that the agent file names may be imported and called.
        cache: the folder that keeps indexes; True for the user's cache folder, False for none.
    """

    ranker: AnyRanker | None = None
    allow_code: bool = False
    cache: str | Path | bool = True

    def open(self, named: NamedRanker) -> Search:
        """The search of an agent that names this ranker.

        Raises:
            SpecError: when the ranker does not exist, or is code that is not allowed.
            InputError: when the host's own ranker is not callable.
        """
        return Search(self._made(named), cache_at(self.cache))

    def _made(self, named: NamedRanker) -> Made:
        if self.ranker is not None:
            if not is_ranker(self.ranker):
                message = f"a ranker of type {type(self.ranker).__name__} cannot be called"
                hint = "pass a function that takes a query and a limit and returns names with scores"
                raise InputError(Problem("wrong-ranker", message, hint, name="ranker"))
            return partial(_given, self.ranker)
        match named.name.kind:
            case "code":
                return partial(_given, self._function(named))
            case "semantic":
                return by_meaning(named)
        return by_words

    def _function(self, named: NamedRanker) -> AnyRanker:
        if not self.allow_code:
            message = f"`{named.name.value}` is code, and this program does not load code named by files"
            hint = "if you trust this agent's files, allow it: `Engine.open(..., allow_code=True)`, or `--allow-code`"
            raise SpecError(named.problem("code-not-allowed", message, hint))
        return load_function(named)


def _given(ranker: AnyRanker, tools: Tools) -> Ranker:
    return ranker.for_tools(tools.cards) if isinstance(ranker, RankerMaker) else ranker


def by_meaning(named: NamedRanker) -> Made:
    """The ranker of sentence vectors that an agent file names.

    Raises:
        SpecError: when its extra is not installed; the error says how to install it.
    """
    from cuecard.files.rankers.semantic import MODULE, SentenceEncoder, semantic_ranker  # noqa: PLC0415 - few need it

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
