"""Turns sections into segments: rendered once, and counted so that the counts add up exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.agent.agent import KeptPiece
from cuecard.agent.sections.layout import Layout
from cuecard.model import CountTokens, Json, Segment
from cuecard.model.prompt import made_later
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.layout import Leads, before, lay_out, new_leads
from cuecard.pipeline.limits import tokens_around
from cuecard.records import dataclass, replace
from cuecard.sources.tools import Form, protocols_text
from cuecard.template import trusted, trusted_value


def render_sections(
    agent: Agent,
    sections: Iterable[Section],
    values: Mapping[str, Json],
    tools: Iterable[str],
    *,
    notice: str = "",
    form: Form = "text",
) -> list[str]:
    """The text of each section with the protocols of these tools followed by a notice, all as whole lines.

    Raises:
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    return [text for text, _ in gated_sections(agent, sections, values, tools, notice=notice, form=form).values()]


def gated_sections(
    agent: Agent,
    sections: Iterable[Section],
    values: Mapping[str, Json],
    tools: Iterable[str],
    *,
    notice: str = "",
    form: Form = "text",
) -> dict[str, tuple[str, Mapping[str, int]]]:
    """The same by section, each text with what the gate neutralised in it.

    Raises:
        TemplateRenderError: when a section cannot be rendered with these values.
    """
    protocols = protocols_text(tools, agent.protocols, form)
    if notice:
        protocols = f"{protocols}\n{notice}".strip("\n")
    everything = {**authored(agent, values), PROTOCOLS: trusted(protocols)}
    return {section.id: agent.gated(section, everything) for section in sections}


def authored(agent: Agent, values: Mapping[str, Json]) -> Mapping[str, Json]:
    """The values, with those of trusted inputs marked as such again: a call that was serialised has lost the marks."""
    authored = {name for name, spec in agent.spec.inputs.items() if spec.trust == "author"}
    if not authored:
        return values
    return {name: trusted_value(value) if name in authored else value for name, value in values.items()}


PROBE = "<a\ufdd3a>\nb\n</a\ufdd3a>"
"""Stands for instructions in sections that are asked for their place; no value contains its non-character."""


def places_in(text: str) -> int | None:
    """How often a text with the probe shows instructions; None if it changes them, such as by an indentation."""
    whole = text.count(PROBE)
    return whole if text.count("\ufdd3") == PROBE.count("\ufdd3") * whole else None


@dataclass(frozen=True, slots=True)
class InstructionPlace:
    """What sections answered that were asked for the place of instructions still to come.

    Attributes:
        shown: whether they have one.
        times: how often they show instructions; None if they change them.
        tokens: the tokens of their texts without instructions; if they change those, with the probe.
        sections: the sections of instructions, each with the tokens that it needs for others, if each has a budget of
            its own; instructions are whole if one of them has room for them.
    """

    shown: bool
    times: int | None
    tokens: int
    sections: tuple[tuple[Section, int], ...] = ()

    @classmethod
    def of(cls, text: str, tokens: int, count: CountTokens) -> InstructionPlace:
        """The answer in a text with the probe, of these tokens, including whatever belongs to the same budget."""
        times = places_in(text)
        return cls("\ufdd3" in text, times, tokens - count(PROBE) * (times or 0))

    def within(self, agent: Agent, sections: Sequence[tuple[Section, str]], count: CountTokens) -> InstructionPlace:
        """The answer with that of each section of instructions: its place, and its own budget."""
        shown = self.shown or any("\ufdd3" in text for _, text in sections)
        limited = sections if all(section.spec.budget is not None for section, _ in sections) else ()
        rest = ((section, tokens_around(text, PROBE, agent.names, count)) for section, text in limited)
        return replace(self, shown=shown, sections=tuple(rest))

    def has_place(self, edition: Iterable[Section]) -> bool:
        """Whether nothing is missing where the sections are: they have a place, or no section shows any instructions
        by the author's choice.
        """
        return self.shown or not any(PROTOCOLS in section.reads for section in edition)

    def counter(self, agent: Agent, count: CountTokens, again: Callable[[str], InstructionPlace]) -> CountTokens:
        """What a text takes in that place, in tokens.

        Args:
            agent: the compiled agent.
            count: how tokens are counted.
            again: asks the sections once more, with a text after the probe; called where they change texts.
        """
        times, tidied = self.times, agent.layout.tidied
        if times is None:
            return lambda text: again(f"\n{text}").tokens - self.tokens
        return lambda text: times * count(tidied(text))


def make_segments(
    agent: Agent,
    sections: Sequence[Section],
    bodies: Sequence[str],
    count: CountTokens,
    known: Iterable[Segment] = (),
) -> tuple[Segment, ...]:
    """Bodies as the segments of a prompt, whose tokens add up to the tokens of the whole.

    A list of sections is laid out with headings and separators, and without empty sections.

    Args:
        agent: the compiled agent.
        sections: the sections of the bodies.
        bodies: the text of each.
        count: how tokens are counted.
        known: segments of an earlier prompt, whose fingerprints need not be computed again.
    """
    digests = {segment.text: segment.sha256 for segment in known}
    made, rest = list[Segment](), ""
    for section, text in zip(sections, laid_out(agent, sections, bodies), strict=True):
        if not text:
            continue
        piece = agent.pieces.get(id(section))
        if piece is None or piece[:4] != (section, count, rest, text):
            tokens, end = made_later(partial(_added, rest, text, count)), _open_end(rest, text)
            digest = digests.get(text) or sha256(text)
            segment = Segment(section.id, text, section.tier, tokens, digest, section.stable)
            piece = agent.pieces[id(section)] = KeptPiece(section, count, rest, text, segment, end)
        made.append(piece.segment)
        rest = piece.end
    return tuple(made)


def stable_part(segments: Sequence[Segment]) -> int:
    """How many leading segments a provider's cache can keep: those before the boundary of the layout.

    If there is no boundary, or nothing after it, those that never change with the same configuration.
    """
    if any(not segment.stable for segment in segments):
        return sum(segment.stable for segment in segments)
    return next((place for place, segment in enumerate(segments) if segment.tier != "static"), len(segments))


def said(sections: Iterable[Section], bodies: Iterable[str]) -> str:
    """Sections as they are sent mid-conversation: each with its heading, ending in a newline."""
    texts: list[str] = []
    under: Leads = ()
    for section, body in zip(sections, bodies, strict=True):
        if body:
            text = new_leads(under, section.leads) + section.heading + body
            texts.append(text if text.endswith("\n") else f"{text}\n")
            under = section.leads
    return "".join(texts)


def laid_out(agent: Agent, sections: Sequence[Section], bodies: Sequence[str]) -> Sequence[str]:
    """The text of each section in the prompt; empty for an empty one."""
    return lay_out(agent.layout, sections, bodies)


def count_pieces(texts: Sequence[str], count: CountTokens) -> list[int]:
    """Tokens per piece, which are what it adds to those before it: they add up exactly to the tokens of all.

    The bundled encodings never merge across a safe seam. So what is behind the first one in a piece, or all of it, is
    counted (and cached) by itself; before that, only the end of the previous pieces from their last seam is counted
    together with it, however many pieces there are.
    """
    counts, rest = list[int](), ""
    for text in texts:
        counts.append(_added(rest, text, count))
        rest = _open_end(rest, text)
    return counts


def _added(rest: str, text: str, count: CountTokens) -> int:
    """The tokens that a piece adds to a prompt, of which `rest` is what is behind the last safe seam."""
    joined = rest + text
    seam = _first_seam(joined, len(rest))
    if seam is None:
        return (count(joined) if joined else 0) - (count(rest) if rest else 0)
    added = count(joined[seam:])
    return added + count(joined[:seam]) - count(rest) if seam > len(rest) else added


def _open_end(rest: str, text: str) -> str:
    """What is behind the last safe seam with that piece."""
    joined = rest + text
    seam = _first_seam(joined, len(rest))
    return joined if seam is None else joined[_last_seam(joined, seam) :]


_SEAM = re.compile(r"(?<=\n)(?=[^\S\r\n]*+\S)(?!/)|(?<=\S)(?= )")
"""Where no token of o200k_base or cl100k_base spans, whatever comes before and behind: after a line break that neither
`/` nor a blank line follows, and between a text and a space.
"""

_LAST_SEAM = re.compile(f"(?s:.*)(?:{_SEAM.pattern})")


def _first_seam(text: str, start: int) -> int | None:
    """The first safe seam from a place on; the beginning of a text is one."""
    if not start:
        return 0 if text else None
    found = _SEAM.search(text, start)
    return found.start() if found else None


def _last_seam(text: str, known: int) -> int:
    """The last safe seam, if one is known."""
    found = _LAST_SEAM.match(text, known)
    return found.end() if found else known


class ShrinkingPrompt:
    """The tokens of a prompt that loses sections one by one: of the others, only what stands beside it is counted."""

    def __init__(
        self, layout: Layout, sections: Sequence[Section], bodies: Sequence[str], tokens: int, count: CountTokens
    ) -> None:
        """Begin with the sections of these bodies, which have these tokens together."""
        self.tokens: int = tokens
        self._layout, self._sections, self._bodies, self._count = layout, sections, bodies, count
        self._texts = lay_out(layout, sections, bodies)
        there = [place for place, body in enumerate(bodies) if body]
        self._above = dict(zip(there, [None, *there], strict=False))
        self._below = dict(zip(there, [*there[1:], None], strict=False))

    def drop(self, place: int) -> None:
        """Leave out a section that is not empty."""
        above, below = self._above.pop(place), self._below.pop(place)
        end, start, text = self._end(above), self._start(below), self._texts[place]
        had = now = ""
        if above is not None:
            self._below[above] = below
        if below is not None:
            self._above[below] = above
            had, body = self._texts[below].removesuffix(self._bodies[below]), self._bodies[below]
            now = before(self._layout, None if above is None else self._sections[above], self._sections[below])
            self._texts[below] = now + body
        # From one safe seam to another: what is around it does not change.
        self.tokens += self._count(end + now + start) - self._count(end + text + had + start)

    def _end(self, place: int | None) -> str:
        """The text until the end of a section, from a safe seam on."""
        pieces: list[str] = []
        while place is not None:
            text = self._texts[place]
            seam = _last_seam(text, 0)
            pieces.append(text[seam:])
            place = None if seam else self._above[place]
        return "".join(reversed(pieces))

    def _start(self, place: int | None) -> str:
        """The text from a section's body on, until a safe seam."""
        pieces: list[str] = []
        text = "" if place is None else self._bodies[place]
        while place is not None:
            seam = _first_seam(text, 1)
            if seam is not None:
                pieces.append(text[:seam])
                break
            pieces.append(text)
            place = self._below[place]
            text = "" if place is None else self._texts[place]
        return "".join(pieces)
