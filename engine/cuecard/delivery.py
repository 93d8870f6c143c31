"""Where the protocols of discovered tools go: into the system prompt, or after the search result that found them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from cuecard.agent import PROTOCOLS, Agent
from cuecard.model import Appended, Call, CountTokens, Discovery, Segment
from cuecard.render import count_pieces, render_sections, sha256


@dataclass(frozen=True, slots=True)
class Delivered:
    """The two places of a prompt: segments of the system prompt, and blocks in the conversation."""

    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]

    @property
    def tokens(self) -> int:
        """Tokens of both places."""
        return sum(s.tokens for s in self.segments) + sum(a.tokens for a in self.appended)


def deliver(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> Delivered:
    """The prompt with these discovered tools, under the call's delivery."""
    if call.delivery != "rewrite":
        return Delivered(call.segments, _append(agent, call, shown, count))
    return Delivered(_rewrite(agent, call, shown, count), ())


def _rewrite(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> tuple[Segment, ...]:
    """The seed's way (003): every step-tier section anew; all others stay as the call rendered them."""
    stepwise = {section.id: section for section in agent.sections if section.tier == "step"}
    if not shown or not stepwise:
        return call.segments
    tools = (*call.initial, *(d.tool for d in shown))
    rendered = dict(zip(stepwise, render_sections(agent, stepwise.values(), call.values, tools), strict=True))
    texts = [rendered.get(segment.id, segment.text) for segment in call.segments]
    return tuple(
        Segment(segment.id, text, segment.tier, tokens, segment.sha256 if text is segment.text else sha256(text))
        for segment, text, tokens in zip(call.segments, texts, count_pieces(texts, count), strict=True)
    )


def _append(agent: Agent, call: Call, shown: tuple[Discovery, ...], count: CountTokens) -> tuple[Appended, ...]:
    """One block per search result: the section that holds protocols, filled with the new ones only."""
    new = [discovery for discovery in shown if discovery.tool not in call.sent_tools]
    slots = [section for section in agent.sections if PROTOCOLS in section.reads]
    blocks = list(call.sent)
    for after, group in groupby(new, key=lambda d: d.after_call_id):
        tools = [d.tool for d in group if d.tool in agent.protocols]
        if tools:
            text = "".join(render_sections(agent, slots, call.values, tools))
            digest = sha256(text)
            blocks.append(Appended(after, text, f"{slots[0].id}-{digest[:12]}", count(text), digest))
    return tuple(blocks)
