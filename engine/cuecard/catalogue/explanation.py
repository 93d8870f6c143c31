"""Why a search answers as it does: words, fields and phrases of each hit, and where the list was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from cuecard.model import Diagnostic, Json, ToolCard
from cuecard.records import dataclass

End: TypeAlias = Literal["confidence", "cut", "gap", "limit", "end"]
"""Why no more tools are returned: the answer is not sure enough, the next is too far below the best, or (of a sure
answer) below the one before it, the limit, or there are no more."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of the query: how many tools contain it, and the words it was read as if no tool does."""

    word: str
    tools: int
    taken_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the query in a tool: the fields that contain it, and its share of the tool's score (0 to 1)."""

    word: str
    fields: tuple[str, ...]
    part: float


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why a tool has its score: its matching words, best first, and the phrase (or name) nearest to the query."""

    matches: tuple[Match, ...] = ()
    nearest: str = ""
    nearness: float = 0.0


@dataclass(frozen=True, slots=True)
class RankerReasons:
    """A ranker's explanation of a query: its words, and the reasons of each tool, in the requested order."""

    words: tuple[QueryWord, ...]
    reasons: tuple[Reasons, ...]


@runtime_checkable
class Explainer(Protocol):
    """A ranker that can explain itself."""

    def explain(self, query: str, cards: Sequence[ToolCard]) -> RankerReasons:
        """How it read the query, and why it ranks these tools as it does."""


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A tool in the order of the answer: its score, its share of the best score, and whether it is returned.

    `named` is whether the query names it, or its category: then it comes first, whatever the ranker says.
    """

    tool: str
    score: float
    share: float
    returned: bool
    reasons: Reasons
    named: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """A search with its reasons: the hits that are returned, then the next ones that are not.

    Attributes:
        query: the query.
        words: how its words were matched; empty if the ranker does not report it.
        ranked: best first.
        confidence: the first score.
        needed: the confidence below which nothing is returned.
        cut: the share of the best score that a hit needs.
        limit: the maximum number of tools returned.
        end: what ended the list.
        message: the message for the model.
        diagnostics: problems with the ranker, for the host.
        categories: what the model is told of categories, if nothing is returned.
    """

    query: str
    words: tuple[QueryWord, ...]
    ranked: tuple[RankedTool, ...]
    confidence: float
    needed: float
    cut: float
    limit: int
    end: End
    message: str
    diagnostics: tuple[Diagnostic, ...] = ()
    categories: Mapping[str, tuple[str, ...]] | tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The explanation as plain data, including the answer of the search tool: `tools`, `message`, `categories`."""
        plain = {key: _rounded(value) for key, value in asdict(self).items()}
        return {"tools": [each.tool for each in self.ranked if each.returned], "message": plain.pop("message"), **plain}


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value
