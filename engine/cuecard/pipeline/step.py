"""A step out of its parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cuecard.model import Cut, Discovery, Step
from cuecard.pipeline.budget import Fitted
from cuecard.pipeline.fingerprints import salted
from cuecard.pipeline.manifest import StepParts, make_manifest
from cuecard.pipeline.messages import with_system
from cuecard.pipeline.request import StepRequest


def make_step(
    request: StepRequest, discovered: tuple[Discovery, ...], dropped: tuple[Cut, ...], fitted: Fitted
) -> Step:
    """The step.

    Args:
        request: what the step is prepared from.
        discovered: every discovered tool.
        dropped: what of the discoveries was left out.
        fitted: what fits into the budgets.
    """
    call, placed = request.call, fitted.placed.salted(request.salt)
    parts = StepParts(discovered, replace(fitted, placed=placed), (*dropped, *fitted.cuts))
    system = placed.system
    return Step(
        system=system,
        segments=placed.segments,
        appended=placed.appended,
        active_tools=(*call.tools.initial, *(discovery.tool for discovery in discovered)),
        initial_tools=call.tools.initial,
        discovered=discovered,
        messages=with_system(call, placed.segments, system),
        reminder=request.agent.spec.words.notices.reminder,
        found=request.found.tools,
        base_tools=call.tools.base,
        turns=call.prompt.turns,
        origin=salted(call.prompt.origin or call.configuration.sha256, request.salt),
        record=partial(make_manifest, request, parts),
    )
