"""Sections to segments: rendered once, counted so that the counts add up exactly."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.model import CountTokens, Json, Segment
from cuecard.sections.protocols import protocols_text
from cuecard.template import trusted

_SPACES_AT_LINE_END = re.compile(r"[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{2,}")


def render_sections(
    agent: Agent, sections: Iterable[Section], values: Mapping[str, Json], tools: Iterable[str]
) -> list[str]:
    """The text of each section, with the protocols of these tools.

    Raises:
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    authored = {name for name, spec in agent.spec.inputs.items() if spec.trust == "author"}
    marked = {name: trusted(v) if name in authored and isinstance(v, str) else v for name, v in values.items()}
    everything = {**marked, PROTOCOLS: trusted(protocols_text(tools, agent.protocols))}
    texts = [section.render(everything) for section in sections]
    return [_compact(text) for text in texts] if agent.spec.whitespace == "compact" else texts


def _compact(text: str) -> str:
    """Without spaces at line ends and without blank lines, as the CMS seed's normaliser leaves a prompt (003)."""
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = _SPACES_AT_LINE_END.sub("", text)
    if "\n\n" in text:
        text = _BLANK_LINES.sub("\n", text)
    return text.removeprefix("\n")


def make_segments(sections: Sequence[Section], texts: Sequence[str], count: CountTokens) -> tuple[Segment, ...]:
    """Texts as segments whose tokens add up to the tokens of the whole."""
    counts = count_pieces(texts, count)
    return tuple(
        Segment(section.id, text, section.tier, tokens, sha256(text))
        for section, text, tokens in zip(sections, texts, counts, strict=True)
    )


def count_pieces(texts: Sequence[str], count: CountTokens) -> list[int]:
    """Tokens per piece, adding up exactly to the tokens of the joined text (promise 6).

    Where a piece ends in a newline and the next begins neither with `/` nor with a blank line, the bundled encodings
    never merge across the seam, so each is counted alone (and remembered alone). Other seams are counted together, and
    each piece gets what it adds.
    """
    counts: list[int] = []
    run, counted = "", 0
    for index, text in enumerate(texts):
        run += text
        total = count(run) if run else 0
        counts.append(total - counted)
        counted = total
        if index + 1 < len(texts) and seam_is_safe(run, texts[index + 1]):
            run, counted = "", 0
    return counts


def seam_is_safe(before: str, after: str) -> bool:
    """Whether no token of o200k_base or cl100k_base can span this seam."""
    if not before.endswith("\n") or not after or after.startswith("/"):
        return False
    first = after.lstrip()
    return bool(first) and not any(c in "\r\n" for c in after[: len(after) - len(first)])


def sha256(text: str) -> str:
    """The fingerprint of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
