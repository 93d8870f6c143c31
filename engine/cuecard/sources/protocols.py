"""Protocols as text: the BEFORE / AFTER / NEXT / GOTCHA block of each tool."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias

from cuecard.config.cues import CUES, Cue
from cuecard.config.cues_spec import CuesSpec
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import Words
from cuecard.model import ToolCard
from cuecard.records import dataclass

Form: TypeAlias = Literal["text", "first", "later"]
"""A tool's whole block, the part for its discovery, or the part for its first result."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tool's block, ending in a newline, and its fingerprint in hex.

    `first` is the part sent at its discovery, `later` the part sent at its first result, which may be empty.
    """

    text: str
    sha256: str
    first: str = ""
    later: str = ""


def make_protocol(card: ToolCard, words: Words, cues: CuesSpec) -> Protocol | None:
    """One tool's block; None if the tool has no instructions.

    A tool with none of the cues for its discovery gets all of its cues then, since it is active only together with
    instructions.
    """
    told = {cue: text for cue in CUES if (text := getattr(card.instructions, cue, ""))}

    def block(wanted: Collection[Cue]) -> str:
        lines = [fill(getattr(words, cue), {"text": text}) for cue, text in told.items() if cue in wanted]
        return "\n".join([f"<{card.name}>", *lines, f"</{card.name}>\n"]) if lines else ""

    text = block(CUES)
    if not text:
        return None
    first, later = block(cues.on_discovery), block(cues.on_result)
    first, later = (first, later) if first else (text, "")
    return Protocol(text, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), first, later)


def protocols_text(names: Iterable[str], protocols: Mapping[str, Protocol], form: Form = "text") -> str:
    """The blocks of these tools in this order, without the last newline (the template's line ends there)."""
    return "".join([getattr(protocols[name], form) for name in names if name in protocols]).removesuffix("\n")
