"""Assembles a step."""

from __future__ import annotations

from functools import partial

from cuecard.model import Cut, Refusals, Step
from cuecard.pipeline.fingerprints import salted
from cuecard.pipeline.manifest import StepParts, make_manifest
from cuecard.pipeline.messages import with_system
from cuecard.pipeline.passing import ended_texts
from cuecard.pipeline.placement import Placed
from cuecard.pipeline.request import StepRequest


def make_step(request: StepRequest, dropped: tuple[Cut, ...], placed: Placed) -> Step:
    """The step.

    Args:
        request: the request for the step.
        dropped: the discoveries that were left out.
        placed: the prompt with the instructions of active tools.
    """
    call, placed = request.call, placed.salted(request.salt)
    discovered = placed.shown
    parts = StepParts(placed, dropped)
    system = placed.system
    return Step(
        system=system,
        segments=placed.segments,
        appended=placed.blocks,
        active_tools=(*call.tools.initial, *(discovery.tool for discovery in discovered)),
        initial_tools=call.tools.initial,
        discovered=discovered,
        messages=with_system(call, placed.segments, system),
        reminder=request.agent.spec.words.notices.reminder,
        refusals=_refusals(request, placed),
        found=request.found.tools,
        base_tools=call.tools.base,
        turns=call.prompt.turns,
        brought=call.tools.brought,
        origin=salted(call.prompt.origin or call.configuration.sha256, request.salt),
        looks_ahead=call.tools.looks_ahead,
        offers_search=call.tools.offers_search,
        ended=(*call.prompt.ended, *ended_texts((b for b in placed.passing if b.lifetime == "step"), call.turn)),
        call=call,
        record=partial(make_manifest, request, parts),
    )


def _refusals(request: StepRequest, placed: Placed) -> Refusals:
    agent, there = request.agent, request.call.tools.available
    words = agent.spec.words.tools
    said = {w.tool: words.withheld.replace("{tool}", w.tool) for w in placed.withheld if w.tool in there}
    if not request.call.tools.offers_search:
        said[agent.search_tool] = agent.spec.words.search.nothing_left
    return Refusals(agent.catalogue.names, words.inactive, agent.search_tool, said)
