"""What a search may announce to a running call: exactly the tools that will be active in its next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuecard.catalogue.search import found_message
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import Diagnostic, ResultRecord, SearchResult, Withheld
from cuecard.pipeline.activation import activate
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.tools import discover_more
from cuecard.records import dataclass

_NEXT = "the next result"
"""The id of a result that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What will happen to the tools that a search is about to name.

    Attributes:
        active: those that will be active.
        withheld: those without room for their instructions.
    """

    active: tuple[str, ...]
    withheld: tuple[Withheld, ...]


def preview(request: StepRequest, names: Sequence[str]) -> Preview:
    """The decisions of the next step if the next search result names these tools, all of which exist."""
    agent = request.agent
    last = activate(request, discover_more(request)[0])
    result = ResultRecord(agent.spec.tools.search.tool, _NEXT, tuple(names))
    later = replace(request, found=request.found.more([result], agent.catalogue, cues=bool(agent.pending)))
    decided = {each.tool: each for each in activate(later, discover_more(later)[0], last).withheld}
    return Preview(
        tuple(name for name in names if name not in decided),
        tuple(decided[name] for name in names if name in decided),
    )


def announced(result: SearchResult, seen: Preview, nothing: str, place: str, words: WordsSpec) -> SearchResult:
    """The result of a search without the tools that will not be active in the next step, which its message names.

    Args:
        result: the result of the search.
        seen: what will happen to its tools.
        nothing: the message if nothing was found.
        place: where the instructions of tools are.
        words: the words of the message.
    """
    hits = tuple(hit for hit in result.hits if hit.tool in seen.active)
    said = [found_message(len(hits), place, words)] if hits else [] if seen.withheld else [nothing]
    if seen.withheld:
        said.append(fill(words.search.withheld, {"tools": words.listed(each.tool for each in seen.withheld)}))
    told = (
        Diagnostic("withheld_tool", f"`{w.tool}` matches the query but is not active: {w.reason}")
        for w in seen.withheld
    )
    withheld = tuple(each.tool for each in seen.withheld)
    return SearchResult(hits, " ".join(said), result.confidence, (*result.diagnostics, *told), withheld)
