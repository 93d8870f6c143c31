"""Which tools a call may show, and in which order: core, then discovered, as first discovered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cuecard.agent import Agent
from cuecard.model import Cut, Discovery, History, ToolCard, Turn
from cuecard.model.gates import Gates
from cuecard.pipeline.history.discovery import discover
from cuecard.sources.tools.visibility import visible


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """The tools of a call: those that exist, those shown from the start, those discovered, and what was left out.

    `earlier` are those of `initial` that were discovered before, also where one does not exist for this call.
    """

    tools: tuple[str, ...]
    initial: tuple[str, ...]
    discovered: tuple[Discovery, ...]
    cuts: tuple[Cut, ...]
    earlier: tuple[str, ...] = ()


def plan_tools(
    agent: Agent,
    turn: Turn,
    history: History,
    before: Iterable[Discovery] = (),
    *,
    earlier: Iterable[str] = (),
    frozen: bool = False,
) -> ToolPlan:
    """The tools at the start of a call.

    Args:
        agent: the compiled agent.
        turn: what the host knows of the call.
        history: tool results of the conversation so far.
        before: what earlier calls of the conversation had discovered.
        earlier: those discovered tools whose protocols belong to the system prompt, in order of first discovery.
        frozen: show every tool from the start.
    """
    catalogue, core = agent.catalogue, agent.spec.tools.core
    wanted = [card for name, card in catalogue.items() if turn.tools is None or name in turn.tools]
    cards, closed = _behind_gates(agent, turn, wanted)
    tools = tuple(card.name for card in cards)
    cuts = [Cut(name, "unknown tool: the turn names it, the catalogue does not") for name in _strange(agent, turn)]
    cuts += closed
    cuts += [Cut(name, "core tool that does not exist for this call") for name in core if name not in tools]
    known = dict.fromkeys(name for name in (*earlier, *turn.discovered) if name in catalogue and name not in core)
    initial = tuple(name for name in dict.fromkeys((*core, *(tools if frozen else known))) if name in tools)
    discovered, dropped = discover_more(agent, tools, initial, history, before)
    return ToolPlan(tools, initial, discovered, (*cuts, *dropped), tuple(known))


def _behind_gates(agent: Agent, turn: Turn, wanted: Sequence[ToolCard]) -> tuple[Sequence[ToolCard], tuple[Cut, ...]]:
    spec = agent.spec.tools.visibility
    if not spec.model_fields_set and turn.gates == Gates():
        return wanted, ()
    return visible(wanted, turn.gates, spec.model_copy(update={"meta": ()}))  # meta tools are never listed, but there


def discover_more(
    agent: Agent, tools: tuple[str, ...], initial: tuple[str, ...], history: History, before: Iterable[Discovery] = ()
) -> tuple[tuple[Discovery, ...], tuple[Cut, ...]]:
    """What the history adds to what was known before; a tool that is shown from the start is never discovered again."""
    search = agent.spec.tools.search.tool
    found, dropped = discover(history, search_tool=search, known=agent.catalogue, before=before)
    gone = tuple(Cut(d.tool, "discovered, but it does not exist for this call") for d in found if d.tool not in tools)
    return tuple(d for d in found if d.tool in tools and d.tool not in initial), (*dropped, *gone)


def _strange(agent: Agent, turn: Turn) -> list[str]:
    return [name for name in (*(turn.tools or ()), *turn.discovered) if name not in agent.catalogue]
