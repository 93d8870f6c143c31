"""Both hooks as tables of contents: from what the host knows to a call, and from a call to the steps of its run.

Arguments have been validated before: `Engine` and `Conversation` are the entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial

from cuecard.agent import Agent
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.search import InstructedTools, SearchIndex, found_message, search_remotely
from cuecard.config.model_profile import ModelProfile
from cuecard.config.values import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import (
    Call,
    Clock,
    DeliveryChoice,
    DeliveryWish,
    Diagnostic,
    Json,
    RenderedResult,
    ResultRecord,
    SearchResult,
    Step,
    Tokenizer,
    ToolResult,
    Turn,
    WithheldTool,
)
from cuecard.pipeline.ahead import discover_ahead
from cuecard.pipeline.call import CallParts, make_call, select_history
from cuecard.pipeline.continuation import (
    LastStep,
    baseline_reason,
    begin_conversation,
    continue_conversation,
    decided_before,
    earlier_tools,
    last_step,
    message_room,
    tell_withheld,
    with_front,
    with_placed,
    with_tools,
)
from cuecard.pipeline.delivery import check_lifetimes, delivery_of, told_of_model
from cuecard.pipeline.discovery import NO_RESULTS, Discoveries
from cuecard.pipeline.fit import NOTHING_DECIDED, Decisions, Offer, Room, as_told, call_offers, call_room, first_fit
from cuecard.pipeline.history.selection import HistoryCut
from cuecard.pipeline.inputs import Values, clean_inputs, time_of
from cuecard.pipeline.passing import check_running, ended_call
from cuecard.pipeline.placement import Placement, active_tools, place, room_for, tell_late_cues
from cuecard.pipeline.request import CallRequest, StepRequest, check_call, check_previous
from cuecard.pipeline.results import render_result
from cuecard.pipeline.sections import SectionsDraft, draft_sections, unlisted_tools
from cuecard.pipeline.step import make_step, recorded_again
from cuecard.pipeline.step_inputs import with_inputs
from cuecard.pipeline.tools import (
    ToolPlan,
    discover_more,
    existing_tools,
    known_tools,
    plan_tools,
    seen_tools,
    with_kept_tools,
    with_search,
    within_limits,
)
from cuecard.pipeline.window import with_window
from cuecard.records import dataclass, replace

_NEXT = "the next result"
"""The id of a result that does not exist yet."""


@dataclass(frozen=True, slots=True)
class RequestChanges:
    """What comes with a request.

    Attributes:
        results: the last results, at least from the last one with a call id on.
        inputs: values of inputs that differ from now on.
        tools: the names of every tool that the host has; None where it does not tell.
        read: the results that are new, where the model reads them as the agent file's `results` tell them.
    """

    results: Sequence[ToolResult | ResultRecord]
    inputs: Mapping[str, Json]
    tools: tuple[str, ...] | None
    read: Sequence[ToolResult] = ()


@dataclass(frozen=True, slots=True)
class Hooks:
    """Makes the prompts of one agent, and answers its searches.

    `index` gives what is searched, and `profile` what is known of the model of a turn; the others are attributes of
    `Engine`.
    """

    agent: Agent
    delivery: DeliveryWish
    count: Tokenizer
    clock: Clock
    index: Callable[[], SearchIndex] = field(repr=False, compare=False)
    profile: Callable[[Turn], ModelProfile] = field(repr=False, compare=False)
    salt: str = field(repr=False)
    ahead: Callable[[Turn], Turn] = field(repr=False, compare=False)

    def found(self, results: Iterable[ResultRecord], before: Call | None = None) -> Discoveries:
        """The discoveries in these results, on top of those with which the call began."""
        return self.more(Discoveries.before(before) if before else Discoveries(), results)

    def more(
        self, found: Discoveries, results: Iterable[ResultRecord], before: Mapping[str, str] = NO_RESULTS
    ) -> Discoveries:
        """The discoveries so far, with those of later results; `before` has the tools of earlier ones by call id."""
        return found.more(
            [*results], self.agent.catalogue.keys(), cues=bool(self.agent.spec.tools.cues.on_result), before=before
        )

    def heard(self, call: Call | None, known: int, results: Sequence[ToolResult]) -> None:
        """Told of results before each prompt that follows them; who records overrides it.

        Args:
            call: the running call; None before the first.
            known: how many results there were before these.
            results: the results, with what they hold.
        """

    def call(
        self,
        turn: Turn,
        found: Discoveries,
        previous: Call | None = None,
        kept: int | None = None,
        since: str | None = None,
    ) -> Call:
        """The call of one user message; arguments are those of `CallRequest`.

        Raises:
            InputError: when `previous` belongs to another agent.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        check_previous(previous, self.agent)
        turn, model = self.ahead(turn), self.profile(turn)
        if told := told_of_model(turn, previous, model):
            turn = replace(turn, diagnostics=(*turn.diagnostics, *told))
        now = time_of(turn, self.clock)
        request = CallRequest(self.agent, turn, found, previous, kept, now, self.count, since)
        request = within_limits(request, model)
        chosen = select_history(request)
        request = with_window(request, chosen)
        values = clean_inputs(request, chosen.summary)
        request = request.with_files(values.files)
        delivery = delivery_of(request, self.delivery, model)
        request = replace(request, apart=delivery.places_blocks)
        check_lifetimes(request, model)
        call, withheld = _begun(request, _Basis(chosen, values, delivery)).made()
        call = tell_withheld(request, call, withheld)
        return discover_ahead(request, tell_late_cues(request, call))

    def room(self, call: Call, *, at_most: bool = False) -> Room:
        """The room for the tools that are decided within a call; with `at_most` as if every byte were a token."""
        return room_for(StepRequest(self.agent, call, Discoveries(), self.count), at_most=at_most)

    def step(
        self,
        call: Call,
        found: Discoveries,
        last: Placement | None = None,
        changed: RequestChanges | None = None,
        room: Callable[..., Room] | None = None,
    ) -> tuple[Step, Placement]:
        """A step of a call, and its prompt as it was placed: the call's next step goes on from there.

        Args:
            call: the call.
            found: the discoveries so far.
            last: the prompt of the call's last step.
            changed: what comes with the request.
            room: gives the room in the call, if it is known.

        Raises:
            InputError: when the call was made by another agent, or from other files or tools; when its turn has ended.
            TemplateRenderError: when the template cannot be rendered with these inputs.
        """
        check_call(call, self.agent)
        check_running(call)
        request = StepRequest(self.agent, call, found, self.count, self.salt)
        if changed and changed.tools is not None:
            now = with_tools(request, changed.tools, changed.results, last)
            if now.prompt is not call.prompt or now.tools is not call.tools:
                last, room = None, None
            request = replace(request, call=now)
        if (
            changed
            and changed.inputs
            and (now := with_inputs(request, changed.inputs, changed.results)) is not request.call
        ):
            if now.delivery.places_blocks:  # the new texts take room, and what was sent stays
                kept = with_placed(request, last)
                now = replace(now, tools=kept.tools, prompt=replace(now.prompt, sent=kept.prompt.sent))
            request, last, room = replace(request, call=now), None, None
        discovered, dropped = discover_more(request)
        active = active_tools(request, discovered, last.active if last else None, room)
        placed = place(request, active, last)
        return make_step(request, dropped, placed, changed.read if changed else ()), placed

    def in_front(
        self, step: Step, call: Call, names: tuple[str, ...], shown: Collection[str], announced: Iterable[str]
    ) -> Step:
        """A step of this call with what its manifest says of the definitions that stand in front of its request.

        Args:
            step: the step.
            call: its call.
            names: the names of the definitions in front, in their order.
            shown: these, and those that the provider holds back.
            announced: those that the framework itself has announced in the messages.
        """
        found = dict.fromkeys((*(each.tool for each in step.found), *step.brought, *announced))
        now = with_front(call, names, tuple(name for name in found if name not in shown))
        return step if now is call else recorded_again(step, now, self.salt)

    def search(self, query: str, limit: int | None, call: Call | None, found: Discoveries | None) -> SearchResult:
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
        self, query: str, limit: int | None, call: Call | None, found: Discoveries | None, ranker: AsyncRanker
    ) -> SearchResult:
        """The same, with a ranker that is awaited.

        Raises:
            InputError: as `search`.
        """
        search = partial(self._search, query=query, limit=limit, call=call, found=found)
        return await search_remotely(self.index(), ranker, search)

    def _search(
        self, index: SearchIndex, query: str, limit: int | None, call: Call | None, found: Discoveries | None
    ) -> SearchResult:
        search, words = self.agent.spec.tools.search, self.agent.spec.words
        instructed = InstructedTools(self.agent.protocol_place, self.agent.protocols)
        if call is None or found is None:
            return index.search(query, limit, spec=search, instructed=instructed, words=words)
        check_call(call, self.agent)
        request = StepRequest(self.agent, call, found, self.count)
        seen = seen_tools(self.agent, call, request.found)
        index = replace(index, hidden=index.names.difference(call.tools.available), known=seen)
        result = index.search(query, limit, spec=search, instructed=instructed, words=words)
        if result.hits:
            result = _announced(result, _unfit(request, result.tools), instructed, words)
        if not seen.issuperset(call.tools.available):
            return result
        said = f"{result.message} {words.search.nothing_left}" if result.hits else words.search.nothing_left
        return replace(result, message=said)

    def ended(self, call: Call) -> Call:
        """The call after the end of its turn, without what belongs to that turn alone."""
        return ended_call(self.agent, call)

    def result(self, result: ToolResult) -> RenderedResult:
        """The text to send as the result of a tool."""
        return render_result(self.agent, result, self.count)


@dataclass(frozen=True, slots=True)
class _Basis:
    """The parts of a call that do not depend on its tools: history, values, delivery."""

    history: HistoryCut
    values: Values
    delivery: DeliveryChoice


@dataclass(frozen=True, slots=True)
class _CallDraft:
    """A call before its tools are decided: its sections, and the tools that exist.

    It goes on from the last step of the previous call; without one, it begins with a system prompt of its own.
    """

    request: CallRequest
    given: _Basis
    draft: SectionsDraft
    existing: ToolPlan
    known: tuple[str, ...]
    last: LastStep | None
    reason: str

    def made(self) -> tuple[Call, tuple[WithheldTool, ...]]:
        """The call as the next one of its conversation, and the tools that are not active from now on.

        Raises:
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        return self._continued(self.last) if self.last else self._anew()

    def _anew(self) -> tuple[Call, tuple[WithheldTool, ...]]:
        """The call with a new system prompt, in which tools found before it are decided again."""
        request, core = self.request, self.existing.tools.initial
        edition = request.agent.edition(request.turn.profile, request.turn.variant)
        offers, withheld = self._offers(NOTHING_DECIDED), tuple[WithheldTool, ...]()
        if any(offer.costs for offer in offers):
            asked = self.draft.ask(core)
            room = Room(asked.has_place(edition), self.draft.takes(asked, core), times=asked.times or 1)
            decided = None if self._every else NOTHING_DECIDED
            room = call_room(request, room, asked.tokens, asked.sections, decided)
            withheld = as_told(first_fit(offers, room, anew=True).withheld, room, anew=True)
        return begin_conversation(request, self._without(withheld), self.reason), withheld

    def _continued(self, last: LastStep) -> tuple[Call, tuple[WithheldTool, ...]]:
        """The call that continues from the previous one."""
        request = self.request
        decided = decided_before(last)
        offers = self._offers(decided)
        open_ = [offer for offer in offers if offer.costs]
        call = self._without(decided.withheld, open_)
        if not open_:
            return continue_conversation(request, call, last), ()
        room = message_room(request, call, last, {offer.tool for offer in open_ if offer.there}, decided)
        new = as_told(first_fit(offers, room).withheld, room, anew=False)
        call = continue_conversation(request, self._without((*decided.withheld, *new)), last)
        return call, tuple(each for each in new if each.tool not in last.hidden)  # of those the model knows already

    @property
    def _every(self) -> bool:
        """Whether every tool is active from the start."""
        return self.given.delivery.shows_all

    def _offers(self, decided: Decisions) -> list[Offer]:
        """The tools that are decided with the call."""
        asked = self.existing.tools.available if self._every else (*self.existing.matching, *self.known)
        return call_offers(self.request, asked, self.existing.there, decided)

    def _without(self, withheld: Sequence[WithheldTool], undecided: Iterable[Offer] = ()) -> Call:
        """The call without these tools, as it would be without an earlier conversation."""
        without = {each.tool for each in undecided}
        tools = plan_tools(self.existing, self.known, withheld, without, every=self._every)
        unlisted = unlisted_tools(self.request.agent, withheld, every=self._every)
        sections = self.draft.completed(tools.tools.initial, unlisted)
        parts = CallParts(self.given.history, self.given.values, self.given.delivery, tools, sections)
        return make_call(self.request, parts)


def _begun(request: CallRequest, given: _Basis) -> _CallDraft:
    """The beginning of a call, which goes on from the previous one unless something stands against it."""
    previous, delivery = request.previous, given.delivery
    reason = baseline_reason(request, delivery)
    anew = previous is None or bool(reason) or not delivery.places_blocks
    earlier = earlier_tools(request)
    if anew and previous:  # these follow no result that could announce them again
        placed = {found.tool for found in request.found.tools if found.after_call_id is not None}
        withheld = (each.tool for each in previous.tools.withheld if each.tool not in placed)
        earlier = (*earlier, *previous.tools.brought, *withheld)
    if anew and not delivery.shows_all:
        request, earlier = with_kept_tools(request, earlier)
    existing = existing_tools(request)
    last = last_step(request, previous) if previous and not anew else None
    known = known_tools(request, earlier, existing.there, last.hidden if last else (), anew=anew)
    before = previous.tools.offers_search if previous and not reason else None
    existing = with_search(request, existing, known, before=before, anew=anew, every=delivery.shows_all)
    draft = draft_sections(request, given.values.values, existing.tools.available, existing.there)
    return _CallDraft(request, given, draft, existing, known, last, reason)


def _unfit(request: StepRequest, names: Sequence[str]) -> tuple[WithheldTool, ...]:
    """The existing tools that the next step will not have active if the next search result names them."""
    agent = request.agent
    result = ResultRecord(agent.search_tool, _NEXT, tuple(names))
    later = replace(
        request, found=request.found.more([result], agent.catalogue, cues=bool(agent.spec.tools.cues.on_result))
    )
    unfit = {each.tool: each for each in active_tools(later, discover_more(later)[0]).withheld}
    return tuple(unfit[name] for name in names if name in unfit)


def _announced(
    result: SearchResult, unfit: Sequence[WithheldTool], instructed: InstructedTools, words: WordsSpec
) -> SearchResult:
    """The result of a search without the tools that will not be active in the next step, which its message names.

    Args:
        result: the result of the search, which has found something.
        unfit: its tools that will not be active.
        instructed: the tools that have instructions.
        words: the words of the message.
    """
    withheld = tuple(each.tool for each in unfit)
    hits = tuple(hit for hit in result.hits if hit.tool not in withheld)
    said = [found_message([hit.tool for hit in hits], instructed, words)] if hits else []
    for text, lacks in ((words.search.withheld, False), (words.search.withheld_definitions, True)):
        if lost := [each.tool for each in unfit if each.lacks_definition is lacks]:
            said.append(fill(text, {"tools": words.listed(lost)}))
    told = (Diagnostic("withheld_tool", f"`{w.tool}` matches the query but is not active: {w.reason}") for w in unfit)
    return SearchResult(hits, " ".join(said), result.confidence, (*result.diagnostics, *told), withheld)
