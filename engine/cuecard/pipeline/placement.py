"""Where the protocols of discovered tools go: into the system prompt, or after the search result that found them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from cuecard.agent import PROTOCOLS, Agent
from cuecard.model import Appended, Call, CountTokens, Cut, Discovery, Segment
from cuecard.pipeline.fingerprints import seal
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.segments import make_segments, render_sections, said, sha256


@dataclass(frozen=True, slots=True)
class Delivered:
    """The two places of a prompt: segments of the system prompt, and blocks in the conversation; and what was cut."""

    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    cuts: tuple[Cut, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of both places."""
        return sum(s.tokens for s in self.segments) + sum(a.tokens for a in self.appended)


def deliver(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> Delivered:
    """The prompt with these discovered tools, under the call's delivery."""
    if call.delivery != "rewrite":
        return Delivered(call.segments, _append(agent, call, shown, count))
    return _rewrite(agent, call, shown, count)


def sealed(delivered: Delivered, salt: str) -> Delivered:
    """The same prompt with salted fingerprints, and ids of blocks made of those."""
    if not salt:
        return delivered
    segments = (replace(segment, sha256=seal(segment.sha256, salt)) for segment in delivered.segments)
    appended = tuple(_sealed_block(block, salt) for block in delivered.appended)
    return replace(delivered, segments=tuple(segments), appended=appended)


def _sealed_block(block: Appended, salt: str) -> Appended:
    digest, name = seal(block.sha256, salt), block.id.removesuffix(block.sha256[:12])
    return replace(block, sha256=digest, id=block.id if name == block.id else f"{name}{digest[:12]}")


def _rewrite(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> Delivered:
    """The seed's way (003): every step-tier section anew, within its budget; all others as the call rendered them."""
    sections = [s for s in agent.edition(call.profile, call.variant) if s.spec.role == "system"]
    stepwise = {section.id: section for section in sections if section.tier == "step" and section.id in call.shown}
    if not shown or not stepwise:
        return Delivered(call.segments, ())
    tools = (*call.initial, *(d.tool for d in shown))
    texts = render_sections(agent, stepwise.values(), call.values, tools)
    fitted = [
        within_budget(section, text, agent.names, count) for section, text in zip(stepwise.values(), texts, strict=True)
    ]
    rendered = {name: text for name, (text, _) in zip(stepwise, fitted, strict=True)}
    bodies = [rendered.get(section.id, call.shown.get(section.id, "")) for section in sections]
    segments = make_segments(agent, sections, bodies, count, call.segments)
    return Delivered(segments, (), tuple(cut for _, cuts in fitted for cut in cuts))


def _append(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> tuple[Appended, ...]:
    """One block per search result: the section that holds protocols, filled with the new ones only."""
    new = [discovery for discovery in shown if discovery.tool not in call.sent_tools]
    edition = agent.edition(call.profile, call.variant)
    slots = [section for section in edition if PROTOCOLS in section.reads and section.id in call.shown]
    blocks = list(call.sent)
    for after, group in groupby(new, key=lambda d: d.after_call_id):
        tools = [d.tool for d in group if d.tool in agent.protocols]
        if tools and slots:
            text = said(slots, render_sections(agent, slots, call.values, tools))
            digest = sha256(text)
            blocks.append(Appended(after, text, f"{slots[0].id}-{digest[:12]}", count(text), digest))
    return tuple(blocks)
