"""Protocols as text: the BEFORE / AFTER / NEXT / GOTCHA block of each tool, as the CMS seed (003) shows it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cuecard.config.values.placeholders import fill
from cuecard.config.words.prompt_words import ProtocolWords
from cuecard.config.words_spec import ENGLISH
from cuecard.model import ToolCard


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tool's block, ending in a newline, and its fingerprint in hex."""

    text: str
    sha256: str


def make_protocol(card: ToolCard, words: ProtocolWords = ENGLISH.protocols) -> Protocol | None:
    """One tool's block; None when the tool has no instructions."""
    if card.instructions is None:
        return None
    i = card.instructions
    lines = ((words.before, i.before), (words.after, i.after), (words.next, i.next), (words.gotcha, i.gotcha))
    body = "\n".join(fill(line, {"text": text}) for line, text in lines)
    text = f"<{card.name}>\n{body}\n</{card.name}>\n"
    return Protocol(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def protocols_text(names: Iterable[str], protocols: Mapping[str, Protocol]) -> str:
    """The blocks of these tools in this order, without the last newline (the template's line ends there)."""
    return "".join(protocols[name].text for name in names if name in protocols).removesuffix("\n")
