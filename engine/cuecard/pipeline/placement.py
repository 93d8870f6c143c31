"""Where the protocols of discovered tools go: into the system prompt, or after the search result that found them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from cuecard.agent import PROTOCOLS, Agent, Section
from cuecard.model import Appended, Call, Cut, Discovery, Segment
from cuecard.pipeline.fingerprints import salted, sha256
from cuecard.pipeline.limits import within_budget
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.segments import make_segments, render_sections, said
from cuecard.template.guards.guard import escape_text


@dataclass(frozen=True, slots=True)
class Placed:
    """The two places of a prompt: segments of the system prompt, and blocks in the conversation.

    `shown` are the discovered tools whose protocols it holds; `cuts` what was left out on the way.
    """

    segments: tuple[Segment, ...]
    appended: tuple[Appended, ...]
    shown: tuple[Discovery, ...]
    cuts: tuple[Cut, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of both places."""
        return sum(s.tokens for s in self.segments) + sum(a.tokens for a in self.appended)

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(segment.text for segment in self.segments)

    def salted(self, salt: str) -> Placed:
        """The same prompt with salted fingerprints, and ids of blocks made of those."""
        if not salt:
            return self
        segments = (replace(segment, sha256=salted(segment.sha256, salt)) for segment in self.segments)
        return replace(self, segments=tuple(segments), appended=tuple(_salted(each, salt) for each in self.appended))


def place(request: StepRequest, shown: tuple[Discovery, ...], last: Placed | None = None) -> Placed:
    """The prompt with these discovered tools, under the call's delivery; what its `last` step made stays."""
    if last and last.shown == shown:
        return last
    if request.call.delivery.rebuilds:
        return _rewrite(request, shown)
    if last and _goes_on(last.shown, shown):
        blocks = _append(request, shown[len(last.shown) :], last.appended)
    else:
        blocks = _append(request, shown, request.call.prompt.sent)
    return Placed(request.call.prompt.segments, blocks, shown)


def _goes_on(before: tuple[Discovery, ...], now: tuple[Discovery, ...]) -> bool:
    """Whether what is new has blocks of its own: none before it stands after the same result."""
    goes_on = now[: len(before)] == before
    return goes_on and not (before and before[-1].after_call_id == now[len(before)].after_call_id)


def _salted(block: Appended, salt: str) -> Appended:
    digest, name = salted(block.sha256, salt), block.id.removesuffix(block.sha256[:12])
    return replace(block, sha256=digest, id=block.id if name == block.id else f"{name}{digest[:12]}")


def _rewrite(request: StepRequest, shown: tuple[Discovery, ...]) -> Placed:
    """The seed's way (003): every step-tier section anew, within its budget; all others as the call rendered them."""
    agent, call = request.agent, request.call
    before = call.prompt.shown
    sections = [s for s in _edition(request) if s.spec.role == "system"]
    stepwise = [section for section in sections if section.tier == "step" and section.id in before]
    if not shown or not stepwise:
        return Placed(call.prompt.segments, (), shown)
    tools = (*call.tools.initial, *(d.tool for d in shown))
    texts = zip(stepwise, render_sections(agent, stepwise, call.values, tools), strict=True)
    fitted = {section.id: within_budget(section, text, agent.names, request.count) for section, text in texts}
    bodies = [fitted[s.id][0] if s.id in fitted else before.get(s.id, "") for s in sections]
    segments = make_segments(agent, sections, bodies, request.count, call.prompt.segments)
    return Placed(segments, (), shown, tuple(cut for _, cuts in fitted.values() for cut in cuts))


def _append(request: StepRequest, shown: tuple[Discovery, ...], before: tuple[Appended, ...]) -> tuple[Appended, ...]:
    """The blocks before, and one per search result: the section that holds protocols, filled with the new ones only."""
    agent, call = request.agent, request.call
    new = [discovery for discovery in shown if discovery.tool not in call.tools.sent]
    there = slots(agent, call)
    blocks = list(before)
    for after, group in groupby(new, key=lambda d: d.after_call_id):
        tools = [d.tool for d in group if d.tool in agent.protocols]
        if tools and there:
            text = said(there, render_sections(agent, there, call.values, tools))
            text = escape_text(text, call.prompt.withdrawn, mode="names")
            digest = sha256(text)
            blocks.append(Appended(after, text, f"{there[0].id}-{digest[:12]}", request.count(text), digest))
    return tuple(blocks)


def slots(agent: Agent, call: Call) -> tuple[Section, ...]:
    """The sections of a call that hold protocols, in order."""
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    return tuple(section for section in edition if PROTOCOLS in section.reads and section.id in call.prompt.shown)


def _edition(request: StepRequest) -> tuple[Section, ...]:
    configuration = request.call.configuration
    return request.agent.edition(configuration.profile, configuration.variant)
