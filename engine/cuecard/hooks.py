"""Both hooks as tables of contents: from what the host knows to a call, and from a call to the steps of its run.

Whoever calls them has checked what goes in: `Engine` and `Conversation` are the doors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cuecard.agent import Agent
from cuecard.config.models_file import ModelProfile
from cuecard.model import Call, Clock, DeliveryWish, ResultRecord, Step, Tokenizer, Turn
from cuecard.outside.models import profiles_with
from cuecard.pipeline.budget import fit
from cuecard.pipeline.call import CallParts, make_call, select_history
from cuecard.pipeline.continuation import continue_conversation, earlier_tools
from cuecard.pipeline.delivery import delivery_of
from cuecard.pipeline.discovery import Found
from cuecard.pipeline.inputs import clean_inputs
from cuecard.pipeline.origin import check_call, check_previous
from cuecard.pipeline.placement import Placed
from cuecard.pipeline.request import CallRequest, Ended, StepRequest
from cuecard.pipeline.sections import compose
from cuecard.pipeline.step import make_step
from cuecard.pipeline.tools import discover_more, plan_tools
from cuecard.pipeline.window import with_window


@dataclass(frozen=True, slots=True)
class Hooks:
    """What makes prompts of one agent; the attributes are those of `Engine`."""

    agent: Agent
    delivery: DeliveryWish
    count: Tokenizer
    clock: Clock
    salt: str = field(default="", repr=False)

    def found(self, results: Iterable[ResultRecord], before: Call | None = None) -> Found:
        """What these results found, after what a call had discovered as it began."""
        known = Found(before.tools.discovered) if before else Found()
        return known.more(results, self.agent.catalogue)

    def call(
        self,
        turn: Turn,
        found: Found,
        previous: Call | None = None,
        kept: int | None = None,
        ended: Ended | None = None,
        since: str | None = None,
    ) -> Call:
        """The call of one user message; arguments are those of `CallRequest`.

        Raises:
            InputError: when `previous` is another agent's, or has not ended as is said.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        check_previous(previous, self.agent)
        request = CallRequest(
            self.agent, turn, found, previous, kept, turn.now or self.clock(), self.count, ended, since
        )
        chosen = select_history(request)
        request = with_window(request, chosen)
        values = clean_inputs(request, chosen.summary)
        request = request.with_files(values.files)
        delivery = delivery_of(request, self.delivery, self._profile(turn))
        plan = plan_tools(request, earlier_tools(request), every=delivery.shows_all)
        sections = compose(request, values.values, plan.tools)
        call = make_call(request, CallParts(chosen, values, delivery, plan, sections))
        return continue_conversation(request, call)

    def step(self, call: Call, found: Found, last: Placed | None = None) -> tuple[Step, Placed]:
        """A step of a call, and its prompt as it was placed: the call's next step goes on from there.

        Raises:
            InputError: when the call was made by another agent, or from other files or tools.
        """
        check_call(call, self.agent)
        request = StepRequest(self.agent, call, found, self.count, self.salt)
        discovered, dropped = discover_more(request)
        fitted = fit(request, discovered, last)
        return make_step(request, discovered, dropped, fitted), fitted.placed

    def _profile(self, turn: Turn) -> ModelProfile:
        """The profile of the turn's model; profiles are read when a turn names its model, and not before."""
        return profiles_with(self.agent.models).find(turn.model) if turn.model else ModelProfile("")
