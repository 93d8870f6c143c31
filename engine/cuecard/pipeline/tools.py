"""Which tools a call may show, and in which order: core tools, then discovered ones in order of first discovery."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from cuecard.agent import Agent
from cuecard.model import CallTools, Cut, Discovery, ToolCard, Turn, Withheld
from cuecard.model.gates import Gates
from cuecard.pipeline.discovery import Found
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.room import NOTHING_DECIDED, Decided, withheld_tools
from cuecard.records import dataclass
from cuecard.sources.tools.visibility import excluded_tools, visible


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """The tools at the start of a call, and what was left out."""

    tools: CallTools
    cuts: tuple[Cut, ...]

    def without(self, tools: Collection[str], withheld: Iterable[Withheld]) -> ToolPlan:
        """The same plan without some of the tools that were to be active from the start."""
        now = self.tools
        initial, earlier = (tuple(n for n in each if n not in tools) for each in (now.initial, now.earlier))
        gone = (*now.withheld, *withheld)
        return replace(self, tools=replace(now, initial=initial, base=initial, earlier=earlier, withheld=gone))


def plan_tools(
    request: CallRequest,
    earlier: Iterable[str] = (),
    *,
    every: bool = False,
    decided: Decided | None = None,
    unfit: tuple[Withheld, ...] = (),
) -> ToolPlan:
    """The tools at the start of a call.

    Args:
        request: what the call is prepared from.
        earlier: discovered tools whose protocols belong in the system prompt, in order of first discovery.
        every: show every tool from the start, regardless of the protocol budget.
        decided: the conversation's earlier decisions; None for a new baseline.
        unfit: tools that are not active because the whole prompt has no room for them.
    """
    agent, turn = request.agent, request.turn
    catalogue, core = agent.catalogue, agent.spec.tools.core
    wanted = [card for name, card in catalogue.items() if turn.tools is None or name in turn.tools]
    cards, closed = _behind_gates(agent, turn, wanted)
    tools = tuple(card.name for card in cards)
    cuts = [*_strange(agent, turn), *closed]
    cuts += [Cut(name, "core tool that does not exist for this call") for name in core if name not in tools]
    restored = () if decided is None else (name for name in restored_tools(request) if name in tools)
    told = (*earlier, *turn.discovered, *restored)
    out = {*core, *(each.tool for each in unfit)}
    known = dict.fromkeys(name for name in told if name in catalogue and name not in out)
    before = decided or NOTHING_DECIDED
    withheld = before.withheld if every else withheld_tools(request, tuple(known), tools, before)
    withheld = (*withheld, *unfit)
    inactive = {each.tool for each in withheld}
    active = tuple(name for name in known if name not in inactive)
    shown = (name for name in (tools if every else active) if name not in inactive)
    initial = tuple(name for name in dict.fromkeys((*core, *shown)) if name in tools)
    _, dropped = _to_show(request.found, CallTools(tools, initial))
    planned = CallTools(tools, initial, active, base=initial, discovered=request.found.tools, withheld=withheld)
    ahead = agent.spec.tools.ahead is not None
    planned = replace(planned, called=request.found.called, named=request.found.named, looks_ahead=ahead)
    return ToolPlan(planned, (*cuts, *dropped))


def restored_tools(request: CallRequest) -> tuple[str, ...]:
    """Tools that did not exist when they were found but may exist now, in order of discovery.

    The results that found them were sent and stay as they are, so the new user message carries their instructions.
    """
    previous = request.previous
    if previous is None:
        return ()
    before = previous.tools
    known = {*before.available, *before.earlier, *before.base, *before.sent}
    return tuple(found.tool for found in request.found.tools if found.tool not in known)


def discover_more(request: StepRequest) -> tuple[tuple[Discovery, ...], tuple[Cut, ...]]:
    """The tools discovered at a step, in order of first discovery, and what was left out.

    A tool that is shown from the start is never discovered again.
    """
    return _to_show(request.found, request.call.tools)


def _to_show(found: Found, tools: CallTools) -> tuple[tuple[Discovery, ...], tuple[Cut, ...]]:
    there, initial = frozenset(tools.available), frozenset(tools.initial)
    gone = (Cut(d.tool, "discovered, but does not exist for this call") for d in found.tools if d.tool not in there)
    shown = (d for d in found.tools if d.tool in there and d.tool not in initial)
    return tuple(shown), (*found.unknown, *gone)


def _behind_gates(agent: Agent, turn: Turn, wanted: Sequence[ToolCard]) -> tuple[Sequence[ToolCard], tuple[Cut, ...]]:
    spec, excluded = agent.spec.tools.visibility, excluded_tools(agent.spec, turn.profile, turn.variant)
    if not (spec.model_fields_set or excluded) and turn.gates == Gates():
        return wanted, ()
    return visible(wanted, turn.gates, spec, excluded=excluded)


def _strange(agent: Agent, turn: Turn) -> dict[Cut, None]:
    """The names in the turn that belong to no tool, or to no tool of this call, each once."""
    catalogue, there = agent.catalogue, turn.tools
    names = (*(there or ()), *turn.discovered)
    unknown = [
        Cut(name, "unknown tool: named by the turn, but not in the catalogue")
        for name in names
        if name not in catalogue
    ]
    gates = dict.fromkeys((*turn.gates.enabled, *(turn.gates.allowed or ()), *turn.gates.blocked))
    unknown += [
        Cut(name, "unknown tool: named by the gates, but not in the catalogue")
        for name in gates
        if name not in catalogue
    ]
    unknown += [
        Cut(category, "unknown harness category: named by the gates, `tools.visibility.harness` does not")
        for category in turn.gates.harness
        if category not in agent.spec.tools.visibility.harness
    ]
    absent = [name for name in turn.discovered if there is not None and name in catalogue and name not in there]
    return dict.fromkeys([*unknown, *(Cut(name, "discovered, but does not exist for this call") for name in absent)])
