"""The ranker that an agent file names: read here, and loaded outside the core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.yaml_text import Document
from cuecard.config.documents.yaml_text import Path as Place
from cuecard.config.ranker_name import BM25, KNOWN, REMOVED_RANKER, RankerName, parse_ranker, was_ranker
from cuecard.errors import REMOVED, DidYouMean, Problem
from cuecard.records import dataclass

PLACE: Place = ("tools", "search", "ranker")

_FORMS = "or a function of yours: `my_package:rank`"


@dataclass(frozen=True, slots=True)
class NamedRanker:
    """A named ranker, with its place as an empty problem to be filled in."""

    name: RankerName = BM25
    place: Problem = Problem("", "")

    def problem(self, code: str, message: str, hint: str) -> Problem:
        """A problem at the place that names it."""
        return replace(self.place, code=code, message=message, advice=hint)


def named_ranker(document: Document, spec: AgentFile) -> NamedRanker:
    """The ranker of a validated agent file."""
    return NamedRanker(parse_ranker(spec.tools.search.ranker) or BM25, document.problem(PLACE, "", ""))


def check_ranker(document: Document, spec: AgentFile) -> Iterator[Problem]:
    """The problem of an invalid ranker name. Whether a ranker is available is checked by those who use it."""
    written = spec.tools.search.ranker
    if was_ranker(written):
        yield document.problem(PLACE, REMOVED, f"the ranker `{written}` was removed", REMOVED_RANKER)
    elif parse_ranker(written) is None:
        message = f"there is no ranker `{written}`"
        yield document.problem(PLACE, "unknown-ranker", message, DidYouMean(written, frozenset(KNOWN), _FORMS))
