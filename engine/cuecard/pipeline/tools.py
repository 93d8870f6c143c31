"""Which tools a call may show, and in which order: core tools, then discovered ones in order of first discovery."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from cuecard.agent import Agent
from cuecard.config.model_profile import ModelProfile
from cuecard.errors import InputError
from cuecard.model import Call, CallRun, CallTools, Cut, Diagnostic, Discovery, Turn, WithheldTool
from cuecard.model.turn import Gates
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.fit import NOT_SHOWN, without_room
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.run import NO_LIMITS, limits_of, not_forced
from cuecard.records import dataclass, replace
from cuecard.sources.gates import excluded_tools, gates_of, visible


@dataclass(frozen=True)
class ToolPlan:
    """The tools at the start of a call, and what was left out.

    `matching` are the core tools that a pattern names: they are active if they have room, the others in any case.
    `there` are those that exist, to look names up in.
    """

    tools: CallTools
    cuts: tuple[Cut, ...]
    matching: tuple[str, ...] = ()
    there: Collection[str] = ()


_LEFT = "no longer discovered, until a search finds it again"


def within_limits(request: CallRequest, model: ModelProfile) -> CallRequest:
    """The request with the limits of its run.

    Raises:
        InputError: when it must force a tool that its model cannot be forced to call.
    """
    turn, previous = request.turn, request.previous
    limits = limits_of(request.agent.spec.run, turn.run)
    if limits.force_first and not model.forces_tools:
        raise InputError(not_forced(model.name, limits.first_tool or "", "turn.model"))
    open_ = [name for name in dict.fromkeys(turn.not_enforced) if getattr(limits, name) is not None]
    if open_ and (previous is None or previous.run.limits != limits):
        told = "; ".join(f"run.{name}: {getattr(limits, name)}" for name in open_)
        said = Diagnostic("not-enforced", f"the host cannot enforce {told}")
        turn = replace(turn, diagnostics=(*turn.diagnostics, said))
    return replace(request, turn=turn, limits=limits)


def with_kept_tools(request: CallRequest, earlier: tuple[str, ...]) -> tuple[CallRequest, tuple[str, ...]]:
    """The request for a new system prompt, and the earlier tools, without those for which a limit leaves no room.

    Args:
        request: what the call is prepared from.
        earlier: discovered tools whose protocols belong in the system prompt, in order of first discovery.
    """
    turn, limit = request.turn, request.limits.kept_tools
    found = (*earlier, *turn.discovered, *(each.tool for each in request.found.tools))
    lost = () if limit is None else without_room(request, found, limit)
    if not lost:
        return request, earlier
    turn = replace(turn, discovered=tuple(name for name in turn.discovered if name not in lost))
    request = replace(request, turn=turn, found=request.found.without(lost), leaves=lost)
    return request, tuple(name for name in earlier if name not in lost)


def run_of(request: CallRequest) -> CallRun:
    """The limits of the call's run, and where it begins; empty where nothing depends on that."""
    found, before = request.found, request.previous
    there = {each.tool for each in found.tools}
    left = [name for name in (before.run.left if before else ()) if name not in there]
    left += [name for name in request.leaves if name not in left]
    if request.limits == NO_LIMITS and not left:
        return CallRun()
    tally = found.tally
    return CallRun(request.limits, request.since, tally.results, tally.failures, tuple(left))


def existing_tools(request: CallRequest) -> ToolPlan:
    """The tools that exist for a call, of which only the core tools are active that the agent file names."""
    agent, turn = request.agent, request.turn
    limits, named = request.limits, agent.named
    tools, denied, closed = _within_gates(agent, turn)
    there = agent.catalogue.keys() if tools is agent.catalogue.names else frozenset(tools)
    cuts = [*_strange(agent, turn), *closed]
    own = agent.search_tool if agent.owns_search else ""
    missing = [name for name in named if name not in there and name != own]
    cuts += [Cut(name, "core tool that does not exist for this call") for name in missing]
    initial, matching = (tuple([name for name in each if name in there]) for each in (dict.fromkeys(named), agent.core))
    found = request.found
    _, dropped = _to_show(found, there, initial)
    cuts += [Cut(name, f"{_LEFT}: run.kept_tools: {limits.kept_tools}") for name in request.leaves]
    if limits.first_tool and limits.first_tool not in there:
        cuts.append(Cut("run.first_tool", f"no call has to wait for `{limits.first_tool}`, which does not exist here"))
    planned = CallTools(
        tools,
        initial,
        base=initial,
        discovered=found.tools,
        called=found.called,
        named=found.named,
        looks_ahead=agent.spec.tools.ahead is not None,
        denied=denied,
        tells_definitions=agent.spec.budget.definitions is not None,
    )
    return ToolPlan(planned, (*cuts, *dropped), tuple(name for name in matching if name not in initial), there)


def with_search(
    request: CallRequest, plan: ToolPlan, known: Iterable[str], *, before: bool | None, anew: bool, every: bool
) -> ToolPlan:
    """The plan with the search tool or without: decided with a baseline, since definitions stand in front of it.

    Args:
        request: what the call is prepared from.
        plan: the tools that exist.
        known: the tools known before the call.
        before: whether the conversation has had the search tool since its last baseline; None at a new one.
        anew: whether the system prompt is made anew, so that a search tool may come.
        every: whether every tool is active from the start.
    """
    agent, tools = request.agent, plan.tools
    search, there = agent.search_tool, tools.available
    out = {search, *tools.initial, *plan.matching, *known, *(found.tool for found in request.found.tools)}
    own = agent.owns_search and not _shut_out(request, search)
    has_search = search in plan.there or own  # a turn may be without that of the files
    left = (name for name in there if name not in out and not every and has_search)
    first = next(left, None)
    offers = before or (first is not None and (anew or before is None))
    if offers:
        if search in tools.initial or not has_search:
            return plan
        initial = (search, *tools.initial)
        return replace(plan, tools=replace(tools, initial=initial, base=initial))
    unsearched = [*([] if first is None else [first]), *left]
    there, initial = (tuple(name for name in each if name != search) for each in (there, tools.initial))
    tools = replace(tools, available=there, initial=initial, base=initial, offers_search=False)
    is_expected = search in plan.tools.available or (agent.owns_search and search in agent.named)
    plan = replace(plan, tools=tools, there=plan.there if search not in plan.there else frozenset(there))
    return replace(plan, cuts=(*plan.cuts, *_unsearched(search, unsearched, is_expected=is_expected)))


def _shut_out(request: CallRequest, tool: str) -> bool:
    turn = request.turn
    return tool in turn.gates.blocked or tool in excluded_tools(request.agent.spec, turn.profile, turn.variant)


def _unsearched(search: str, left: Sequence[str], *, is_expected: bool) -> Iterator[Cut]:
    """That there is no search tool, where somebody may look for one."""
    if left:
        names = ", ".join(f"`{name}`" for name in left)
        yield Cut(search, f"not offered before the next baseline, which will offer it for {names}")
    elif is_expected:
        yield Cut(search, "not offered: there is no tool to find")


def known_tools(
    request: CallRequest, earlier: Iterable[str], there: Collection[str], hidden: Collection[str], *, anew: bool
) -> tuple[str, ...]:
    """The tools known before a call, besides core tools, in order of discovery.

    Args:
        request: what the call is prepared from.
        earlier: discovered tools whose protocols belong in the system prompt, in order of first discovery.
        there: the tools that exist for the call.
        hidden: those for whose instructions the call before has no section; the results that found them were sent.
        anew: whether its system prompt is a new baseline.
    """
    agent = request.agent
    late = () if anew else (*restored_tools(request), *hidden)
    told = (*earlier, *request.turn.discovered, *(name for name in late if name in there))
    return tuple(name for name in dict.fromkeys(told) if name in agent.catalogue and name not in agent.core)


def plan_tools(
    plan: ToolPlan, known: Sequence[str], withheld: Sequence[WithheldTool], undecided: Collection[str], *, every: bool
) -> ToolPlan:
    """The plan with the tools that are active from the start.

    Args:
        plan: the tools that exist.
        known: the tools known before the call.
        withheld: the tools that are not active.
        undecided: others that are not active yet.
        every: whether every tool is active from the start.
    """
    tools = plan.tools
    there, inactive = plan.there, {*undecided, *(each.tool for each in withheld)}
    # What only this call does not show keeps its room for the next one.
    lost = {each.tool for each in withheld if each.reason != NOT_SHOWN}
    asked = (*plan.matching, *(tools.available if every else known))
    shown = (name for name in asked if name in there and name not in inactive)
    initial = tuple(dict.fromkeys((*tools.initial, *shown)))
    earlier = tuple(name for name in known if name not in lost)
    return replace(plan, tools=replace(tools, initial=initial, earlier=earlier, base=initial, withheld=tuple(withheld)))


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
    tools = request.call.tools
    return _to_show(request.found, request.there, tools.initial_names)


def seen_tools(agent: Agent, call: Call, found: Discoveries) -> frozenset[str]:
    """The tools that this conversation has seen: what no search has to find any more."""
    tools = call.tools
    seen = frozenset((agent.search_tool, *tools.initial, *tools.sent, *(each.tool for each in found.tools)))
    return seen.union(each.tool for each in tools.withheld)


def _to_show(
    found: Discoveries, there: Collection[str], initial: Collection[str]
) -> tuple[tuple[Discovery, ...], tuple[Cut, ...]]:
    shown = tuple([each for each in found.tools if each.tool in there and each.tool not in initial])
    if len(shown) == len(found.tools):
        return shown, found.unknown
    gone = [Cut(d.tool, "discovered, but does not exist for this call") for d in found.tools if d.tool not in there]
    return shown, (*found.unknown, *gone)


def _within_gates(agent: Agent, turn: Turn) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Cut, ...]]:
    """The tools of a turn, those that its gates take away, and why.

    Those of a turn that chooses nothing are the names of the catalogue themselves, in which nobody has to look again.
    """
    wanted, spec = agent.catalogue.names, agent.spec.tools.visibility
    if turn.tools is not None:
        chosen = frozenset(turn.tools)
        wanted = tuple([name for name in wanted if name in chosen])
    excluded, (gates, access) = excluded_tools(agent.spec, turn.profile, turn.variant), gates_of(agent.spec, turn)
    if not (spec.model_fields_set or excluded or access) and gates == _NO_GATES:
        return wanted, (), ()
    cards = [agent.catalogue[name] for name in wanted]
    shown, closed = visible(cards, gates, spec, excluded=excluded, access=access)
    if not closed:
        return wanted, (), ()
    there = dict.fromkeys([card.name for card in shown])
    return tuple(there), tuple([name for name in wanted if name not in there]), closed


_NO_GATES = Gates()


def _strange(agent: Agent, turn: Turn) -> dict[Cut, None]:
    """The names in the turn that belong to no tool, or to no tool of this call, each once."""
    there = turn.tools
    names = (*(there or ()), *turn.discovered)
    if not names:
        return {}
    catalogue = {agent.search_tool, *agent.catalogue}
    unknown = [
        Cut(name, "unknown tool: named by the turn, but not in the catalogue")
        for name in names
        if name not in catalogue
    ]
    absent = [name for name in turn.discovered if there is not None and name in catalogue and name not in there]
    return dict.fromkeys([*unknown, *(Cut(name, "discovered, but does not exist for this call") for name in absent)])
