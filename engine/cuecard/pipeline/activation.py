"""Which discovered tools are active: those whose complete instructions are in the prompt, each decided once.

A fold over the discovered tools: a tool whose instructions fit completely into the remaining budgets is active, even if
an earlier one did not fit. Tools discovered before the call come first, the most recently used ones first, followed by
those discovered during the run, in order of discovery. Decisions by earlier steps or calls since the last baseline
stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuecard.agent import PROTOCOLS
from cuecard.model import Discovery, Withheld
from cuecard.pipeline.cues import waiting
from cuecard.pipeline.placement import CUES, Placed, cues_text, edition, place, slots
from cuecard.pipeline.recency import recent_first
from cuecard.pipeline.request import StepRequest
from cuecard.pipeline.whole import not_whole
from cuecard.records import dataclass


def activate(request: StepRequest, discovered: tuple[Discovery, ...], last: Placed | None = None) -> Placed:
    """The prompt of a step with the instructions of the active tools, and the tools that are not active.

    Args:
        request: the request for the step.
        discovered: every existing tool that was discovered, in order of first discovery.
        last: the prompt of the call's last step, to continue from.
    """
    fold = _begun(request, discovered, last)
    new = _undecided(fold)
    if not new:
        return fold.placed(last)
    trial = fold.copy()
    for discovery in new:
        trial.decide(discovery)
    placed = trial.placed(last)
    if not _unfit(request, placed, trial.active):
        return placed
    # All of them together are too much, so each is tried with only those decided before it.
    for discovery in new:
        fold.decide(discovery, _obstacle(fold, discovery, last))
        if fold.withheld and fold.withheld[-1].tool == discovery.tool and is_too_long(request, fold.placed(last)):
            fold.withheld[-1] = replace(fold.withheld[-1], told=False)
    return fold.placed(last)


@dataclass(slots=True)
class _Fold:
    """The state of the decisions: active tools, withheld tools, and the tokens of their instructions."""

    request: StepRequest
    discovered: Sequence[Discovery]
    active: list[str]
    withheld: list[Withheld]
    used: int = 0

    def copy(self) -> _Fold:
        return _Fold(self.request, self.discovered, [*self.active], [*self.withheld], self.used)

    def placed(self, last: Placed | None) -> Placed:
        shown = tuple(self.discovered)
        if len(shown) > len(self.active):
            active = frozenset(self.active)
            shown = tuple(d for d in shown if d.tool in active)
        return place(self.request, shown, tuple(self.withheld), last)

    def cost(self, tool: str) -> int:
        protocol = self.request.agent.protocols.get(tool)
        return self.request.count(protocol.text) if protocol else 0

    def decide(self, discovery: Discovery, obstacle: str = "") -> None:
        """Activate a tool, unless the protocol budget has no room for it, or there is another obstacle."""
        tool, cost = discovery.tool, self.cost(discovery.tool)
        limit = self.request.agent.spec.budget.protocols
        if limit is not None and self.used + cost > limit:
            obstacle = f"budget.protocols: {limit} tokens"
        if obstacle and cost:
            self.withheld.append(Withheld(tool, discovery.after_call_id, obstacle, cost))
        else:
            self.active.append(tool)
            self.used += cost


def _begun(request: StepRequest, discovered: tuple[Discovery, ...], last: Placed | None) -> _Fold:
    tools, core = request.call.tools, request.agent.spec.tools.core
    active = [d.tool for d in last.shown] if last else [d.tool for d in discovered if d.tool in tools.sent]
    fold = _Fold(request, discovered, active, list(last.withheld if last else tools.withheld))
    if request.agent.spec.budget.protocols is not None:
        told = dict.fromkeys((*tools.earlier, *tools.sent, *active))
        fold.used = sum(fold.cost(tool) for tool in told if tool not in core)
    return fold


def _undecided(fold: _Fold) -> list[Discovery]:
    """The undecided tools, in the order of decision."""
    known = {*fold.active, *(each.tool for each in fold.withheld)}
    new = [discovery for discovery in fold.discovered if discovery.tool not in known]
    if not new:
        return new
    tools = fold.request.call.tools
    if not tools.discovered:
        return new
    before = {discovery.tool for discovery in tools.discovered}
    early = {discovery.tool: discovery for discovery in new if discovery.tool in before}
    first = recent_first(early, tools.called, tools.named)
    return [*(early[name] for name in first), *(d for d in new if d.tool not in early)]


def _obstacle(fold: _Fold, discovery: Discovery, last: Placed | None) -> str:
    trial = fold.copy()
    trial.decide(discovery, "")
    return _unfit(fold.request, trial.placed(last), trial.active)


def _unfit(request: StepRequest, placed: Placed, active: Sequence[str]) -> str:
    """The reason why a prompt cannot be sent: it is too long, or instructions in it are incomplete."""
    agent, call = request.agent, request.call
    if is_too_long(request, placed):
        return f"budget.total: {agent.spec.budget.total} tokens"
    sent = call.tools.sent
    new = [tool for tool in active if tool not in sent] if sent else active
    if call.delivery.rebuilds:
        reason = not_whole(agent, slots(agent, call), placed.system, new)
    else:
        reason = not_whole(agent, (), "".join([block.text for block in placed.appended]), new)
    # If no section shows instructions by the author's choice, nothing can be missing.
    return reason if reason and any(PROTOCOLS in section.reads for section in edition(request)) else ""


def is_too_long(request: StepRequest, placed: Placed) -> bool:
    """Whether the whole prompt exceeds its budget, including room for all pending cues of active tools."""
    total = request.agent.spec.budget.total
    if total is None:
        return False
    if not request.agent.pending or request.call.delivery.name != "append":
        return placed.tokens > total
    new = placed.appended[len(request.call.prompt.sent) :]
    said = sum(block.tokens for block in new if block.id.startswith(CUES))
    there = slots(request.agent, request.call)
    texts = (cues_text(request.agent, request.call, there, (name,)) for name in waiting(request, placed.shown))
    return placed.tokens - said + sum(map(request.count, texts)) > total
