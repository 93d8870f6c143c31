"""Protocols as text: the BEFORE / AFTER / NEXT / GOTCHA block of each tool, as the CMS seed (003) shows it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cuecard.model import ToolCard


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tool's block, ending in a newline, and its fingerprint in hex."""

    text: str
    sha256: str


def make_protocol(card: ToolCard) -> Protocol | None:
    """One tool's block; None when the tool has no instructions."""
    if card.instructions is None:
        return None
    i = card.instructions
    fields = (("BEFORE", i.before), ("AFTER", i.after), ("NEXT", i.next), ("GOTCHA", i.gotcha))
    body = "\n".join(f"{label}: {text}" for label, text in fields)
    text = f"<{card.name}>\n{body}\n</{card.name}>\n"
    return Protocol(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def protocols_text(names: Iterable[str], protocols: Mapping[str, Protocol]) -> str:
    """The blocks of these tools in this order, without the last newline (the template's line ends there)."""
    return "".join(protocols[name].text for name in names if name in protocols).removesuffix("\n")
