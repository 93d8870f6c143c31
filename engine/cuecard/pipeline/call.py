"""Assembles a call: sections, tools, delivery, messages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from cuecard.agent import PROTOCOLS
from cuecard.model import Call, CallPrompt, CallRecord, Configuration, DeliveryChoice
from cuecard.model.messages import Summary
from cuecard.model.prompt import made_later
from cuecard.pipeline.fingerprints import fingerprints
from cuecard.pipeline.history.selection import HistoryCut, select
from cuecard.pipeline.inputs import Values
from cuecard.pipeline.messages import TurnMessages, plain_messages, section_messages, stack
from cuecard.pipeline.request import CallRequest
from cuecard.pipeline.sections import CallSections, given_of
from cuecard.pipeline.tools import ToolPlan, run_of
from cuecard.records import dataclass, replace
from cuecard.sources.gates import access_of
from cuecard.template import clean


@dataclass(frozen=True, slots=True)
class CallParts:
    """The results of the pipeline's stages for a call."""

    history: HistoryCut
    values: Values
    delivery: DeliveryChoice
    plan: ToolPlan
    sections: CallSections


def select_history(request: CallRequest) -> HistoryCut:
    """The part of the conversation that goes into the request by the agent's policy; all of it without one."""
    turn, policy = request.turn, request.agent.spec.history
    if policy is not None:
        return select(turn.messages, _quoted(request, turn.summary), policy, request.count)
    return HistoryCut(turn.messages, turn.summary if isinstance(turn.summary, str) else turn.summary.text)


def _quoted(request: CallRequest, summary: str | Summary) -> str | Summary:
    """A summary quoted so that it cannot open or close elements of the prompt, if it is a message; in a section,
    the gate does this.
    """
    policy = request.agent.spec.history
    if policy is None or policy.policy == "last" or policy.summary.show != "message":
        return summary
    text = request.agent.gate.quoted(str(clean(summary if isinstance(summary, str) else summary.text)[0]))
    return text if isinstance(summary, str) else replace(summary, text=text)


def _configuration(request: CallRequest) -> Configuration:
    agent, turn = request.agent, request.turn
    return Configuration(
        agent.spec.agent,
        agent.sha256,
        agent.catalogue.sha256,
        profile=turn.profile,
        variant=turn.variant,
        reload=turn.reload,
        access=access_of(agent.spec, turn),
        library=agent.library,
    )


def make_call(request: CallRequest, parts: CallParts) -> Call:
    """The call, as if it were the first of its conversation."""
    agent, turn, made = request.agent, request.turn, parts.sections
    system = "".join(segment.text for segment in made.segments)
    added = TurnMessages(turn.message, parts.values.metadata, "" if request.apart else turn.ephemeral)
    stacked = stack(system, parts.history, added, agent.spec.messages, agent.gate.quoted, section_messages(made.spoken))
    return Call(
        configuration=_configuration(request),
        delivery=parts.delivery,
        tools=replace(parts.plan.tools, told=_told(request, parts)),
        prompt=CallPrompt(made.segments, made.bodies, messages=plain_messages(stacked.messages), passing=made.passing),
        values=made.values,
        record=CallRecord(
            tokens=request.count.source,
            cuts=(
                *agent.tool_cuts,
                *parts.values.cuts,
                *parts.plan.cuts,
                *made.cuts,
                *parts.history.cuts,
                *stacked.cuts,
            ),
            diagnostics=(*turn.diagnostics, *made.diagnostics, *request.found.diagnostics),
            sources=made.sources,
            trust={"invisible_removed": parts.values.removed, **made.trust},
            inputs=made_later(partial(fingerprints, made.values)),
        ),
        given=given_of(request),
        conversation=turn.conversation or (request.previous.conversation if request.previous else ""),
        run=run_of(request),
    )


def _told(request: CallRequest, parts: CallParts) -> Mapping[str, str]:
    """The fingerprints of the protocols in the system prompt, if a later call may have to announce changes."""
    agent, turn = request.agent, request.turn
    edition = agent.edition(turn.profile, turn.variant)
    if parts.delivery.rebuilds or not any(PROTOCOLS in s.reads and parts.sections.bodies.get(s.id) for s in edition):
        return {}
    initial, protocols = parts.plan.tools.initial, agent.protocols
    return {name: protocols[name].sha256 for name in initial if name in protocols}
