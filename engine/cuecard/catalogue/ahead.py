"""A search with the user's own words, which are more than those of a query."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from cuecard.catalogue.calibration import calibrated
from cuecard.catalogue.search import MAX_QUERY, SearchIndex
from cuecard.config.search_spec import AheadSpec, SearchSpec
from cuecard.model import Diagnostic, Turn
from cuecard.model.messages import Message


class _Surer(SearchSpec):
    confidence: float = Field(AheadSpec.usual().confidence, ge=0, le=1)


def look_ahead(index: SearchIndex, turn: Turn, spec: AheadSpec, search: SearchSpec) -> Turn:
    """The turn with the tools found by its words, best first; if there are none, diagnostics say why.

    Args:
        index: the index to search.
        turn: what the host knows about the call.
        spec: the maximum number of tools, and the required confidence.
        search: the settings of the model's own searches.
    """
    query = (turn.query or (_said(turn.message) if turn.message else "")).strip()
    if not query or len(query) > MAX_QUERY:
        why = f"the user's words are longer than {MAX_QUERY:,} characters" if query else _NOTHING
        return replace(turn, ahead=(), diagnostics=(*turn.diagnostics, Diagnostic("nothing_ahead", why)))
    # What neither place sets may come from a ranker with its own scale.
    written = {key: getattr(search, key) for key in search.model_fields_set if key != "confidence"}
    sure = {"confidence": spec.confidence} if "confidence" in spec.model_fields_set else {}
    asked = _Surer.model_validate({**written, **sure, "limit": spec.limit})
    if turn.tools is not None:
        index = replace(index, hidden=index.names.difference(turn.tools))
    result, enough = index.search(query, spec.limit, spec=asked), calibrated(asked, index.ranker).confidence
    found = tuple(hit.tool for hit in result.hits if hit.score >= enough)
    return replace(turn, ahead=found, diagnostics=(*turn.diagnostics, *result.diagnostics))


_NOTHING = "the turn has neither a `query` nor a `message` with text, so nothing could be searched ahead"


def _said(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = (part.get("text") for part in message.content if part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
