"""Both hooks as tables of contents: from what the host knows to a call, and from a call to the steps of its run.

Arguments have been validated before: `Engine` and `Conversation` are the entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from cuecard.agent import Agent
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.remote import search_remotely
from cuecard.config.model_profile import ModelProfile
from cuecard.model import (
    Call,
    Clock,
    DeliveryWish,
    Json,
    RenderedResult,
    ResultRecord,
    SearchResult,
    Step,
    Tokenizer,
    ToolResult,
    Turn,
)
from cuecard.outside.contention import CONTENTION
from cuecard.pipeline.ahead import discover_ahead
from cuecard.pipeline.budget import fit
from cuecard.pipeline.call import select_history
from cuecard.pipeline.delivery import check_lifetimes, delivery_of, told_of_model
from cuecard.pipeline.discovery import Found
from cuecard.pipeline.ending import check_running, ended_call
from cuecard.pipeline.inputs import clean_inputs
from cuecard.pipeline.late_cues import tell_late_cues
from cuecard.pipeline.origin import check_call, check_previous
from cuecard.pipeline.placement import Placed
from cuecard.pipeline.request import CallRequest, Ended, StepRequest
from cuecard.pipeline.results import render_result
from cuecard.pipeline.room_later import Given, make_with_room
from cuecard.pipeline.step import make_step
from cuecard.pipeline.step_inputs import with_inputs
from cuecard.pipeline.tools import discover_more
from cuecard.pipeline.window import with_window
from cuecard.pipeline.withholding import tell_withheld
from cuecard.records import dataclass

if TYPE_CHECKING:
    from cuecard.catalogue.search import SearchIndex


Changed: TypeAlias = tuple[Mapping[str, Json], Sequence[ToolResult | ResultRecord]]
"""Inputs that come with a request, and every result so far."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Makes the prompts of one agent, and answers its searches.

    `index` gives what is searched; the other attributes are those of `Engine`.
    """

    agent: Agent
    delivery: DeliveryWish
    count: Tokenizer
    clock: Clock
    index: Callable[[], SearchIndex] = field(repr=False, compare=False)
    salt: str = field(default="", repr=False)
    ahead: Callable[[Turn], Turn] = field(default=lambda turn: turn, repr=False, compare=False)

    def found(self, results: Iterable[ResultRecord], before: Call | None = None) -> Found:
        """The discoveries in these results, on top of those with which the call began."""
        return self.more(Found.before(before) if before else Found(), results)

    def more(self, found: Found, results: Iterable[ResultRecord]) -> Found:
        """The discoveries so far, with those of later results."""
        return found.more(results, self.agent.catalogue, cues=bool(self.agent.pending))

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
            InputError: when `previous` belongs to another agent, or did not end as stated.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        with CONTENTION:
            check_previous(previous, self.agent)
            turn, model = self.ahead(turn), self._profile(turn)
            if told := told_of_model(turn, previous, model):
                turn = replace(turn, diagnostics=(*turn.diagnostics, *told))
            now = turn.now or self.clock()
            request = CallRequest(self.agent, turn, found, previous, kept, now, self.count, ended, since)
            chosen = select_history(request)
            request = with_window(request, chosen)
            values = clean_inputs(request, chosen.summary)
            request = request.with_files(values.files)
            delivery = delivery_of(request, self.delivery, model)
            request = replace(request, apart=delivery.places_blocks)
            check_lifetimes(request, model)
            call, planned = make_with_room(request, Given(chosen, values, delivery))
            call = tell_withheld(request, call, planned)
            return discover_ahead(request, tell_late_cues(request, call))

    def step(
        self, call: Call, found: Found, last: Placed | None = None, changed: Changed | None = None
    ) -> tuple[Step, Placed]:
        """A step of a call, and its prompt as it was placed: the call's next step goes on from there.

        Args:
            call: the call.
            found: the discoveries so far.
            last: the prompt of the call's last step.
            changed: inputs that come with the request, and the results so far.

        Raises:
            InputError: when the call was made by another agent, or from other files or tools; when its turn has ended.
            TemplateRenderError: when the template cannot be rendered with these inputs.
        """
        with CONTENTION:
            check_call(call, self.agent)
            check_running(call)
            request = StepRequest(self.agent, call, found, self.count, self.salt)
            if changed and (now := with_inputs(request, *changed)) is not call:
                request, last = replace(request, call=now), last if call.delivery.places_blocks else None
            discovered, dropped = discover_more(request)
            fitted = fit(request, discovered, last)
            return make_step(request, dropped, fitted), fitted.placed

    def search(self, query: str, limit: int | None, call: Call | None, found: Found | None) -> SearchResult:
        """The tools that fit a query; with a call, those that its next step will have active.

        Args:
            query: what the tools should do.
            limit: at most so many tools; None for the agent file's limit.
            call: the call that searches.
            found: what its searches have found so far.

        Raises:
            InputError: when `limit` is out of range, or the call is of another agent, or of other files or tools.
        """
        return self._search(self.index(), query, limit, call, found)

    async def asearch(
        self, query: str, limit: int | None, call: Call | None, found: Found | None, ranker: AsyncRanker
    ) -> SearchResult:
        """The same, with a ranker that is awaited.

        Raises:
            InputError: as `search`.
        """
        search = partial(self._search, query=query, limit=limit, call=call, found=found)
        return await search_remotely(self.index(), ranker, search)

    def _search(
        self, index: SearchIndex, query: str, limit: int | None, call: Call | None, found: Found | None
    ) -> SearchResult:
        search, words, place = self.agent.spec.tools.search, self.agent.spec.words, self.agent.protocol_place
        if call is not None:
            check_call(call, self.agent)
            index = replace(index, hidden=index.names.difference(call.tools.available))
        result = index.search(query, limit, spec=search, place=place, words=words)
        if call is None or not result.hits:
            return result
        from cuecard.pipeline.preview import announced, preview  # noqa: PLC0415 - prompts are made without a search

        seen = preview(StepRequest(self.agent, call, found or Found.before(call), self.count), result.tools)
        return announced(result, seen, index.nothing(query, words), place, words)

    def ended(self, call: Call) -> Call:
        """The call after the end of its turn, without what belongs to that turn alone."""
        return ended_call(self.agent, call)

    def result(self, result: ToolResult) -> RenderedResult:
        """The text to send as the result of a tool."""
        return render_result(self.agent, result, self.count)

    def _profile(self, turn: Turn) -> ModelProfile:
        """The profile of the turn's model; profiles are only read when a turn names its model."""
        if not turn.model:
            return ModelProfile("")
        from cuecard.outside.models import profiles_with  # noqa: PLC0415 - reads a file that no other turn needs

        return profiles_with(self.agent.models).find(turn.model, endpoint=turn.endpoint)
