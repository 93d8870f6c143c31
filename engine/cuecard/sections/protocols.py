"""Protocols as text: the BEFORE / AFTER / NEXT / GOTCHA block of each tool, as the CMS seed (003) shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cuecard.model import ToolCard


def protocol(card: ToolCard) -> str:
    """One tool's block, ending in a newline; empty when the tool has no instructions."""
    if card.instructions is None:
        return ""
    i = card.instructions
    fields = (("BEFORE", i.before), ("AFTER", i.after), ("NEXT", i.next), ("GOTCHA", i.gotcha))
    body = "\n".join(f"{label}: {text}" for label, text in fields)
    return f"<{card.name}>\n{body}\n</{card.name}>\n"


def protocols_text(names: Iterable[str], protocols: Mapping[str, str]) -> str:
    """The blocks of these tools in this order, without the last newline (the template's line ends there)."""
    return "".join(protocols.get(name, "") for name in names).removesuffix("\n")
