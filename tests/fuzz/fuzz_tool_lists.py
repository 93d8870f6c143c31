"""Any text is a list of tools whose graph can be drawn, or fails with an error that can be drawn."""

from __future__ import annotations

from cuecard import InputError, SpecError
from cuecard.catalogue.catalogue import admit_cards
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.config.catalogue_file import read_catalogue
from fuzz.drawn import check_drawn, check_told
from fuzz.json_pieces import PHRASES, PIECES

__all__ = ["PHRASES", "PIECES", "target"]


def target(data: bytes) -> None:
    """Read one input."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        cards = read_catalogue(text, "tools.json")
    except SpecError as error:
        check_drawn(error, text)
        return
    try:
        admitted = admit_cards(cards).cards
    except InputError as error:
        check_told(error)
        return
    names = {card.name for card in admitted}
    assert isinstance(tool_graph(admitted).mermaid(), str)
    assert all(not names & {word for _, word in unknown_names(card, KnownNames.of(names))} for card in admitted)
