"""A conversation, and the results it knows."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from cuecard.catalogue.ranker import AsyncRanker
from cuecard.errors import InputError, Problem
from cuecard.model import (
    Call,
    ConversationState,
    Entity,
    History,
    Json,
    Memory,
    RenderedResult,
    ResultRecord,
    SearchResult,
    Step,
    ToolResult,
    Turn,
)
from cuecard.model.boundary import Count, FilledText, Given, JsonObject, admit, checked
from cuecard.pipeline.discovery import Discoveries, record_of
from cuecard.pipeline.hooks import Hooks, RequestChanges
from cuecard.pipeline.inputs import cleaned_history, memory_problems, problems_of, with_exact_bodies, with_exact_body
from cuecard.pipeline.placement import Placement
from cuecard.pipeline.run import last_call_id
from cuecard.records import dataclass, replace
from cuecard.sources.memory import newest, remember

_IDENTITY = attrgetter(*(each.name for each in fields(ResultRecord) if each.compare))
"""What of a result is compared: of thousands, this is hashed in half of the time."""

_NAMED = attrgetter("call_id", "tool")

_NAME_IT = "name it in the result, or pass `calls={id: tool}`"


class KnownResults:
    """The results so far, by their call ids; `tools` has the tool of each."""

    __slots__ = ("_records", "tools")

    def __init__(self, records: Iterable[ResultRecord] = ()) -> None:
        self._records = set[Any]()
        self.tools: dict[str, str] = {}
        self.note(records)

    def __copy__(self) -> KnownResults:
        """The same results, to be added to separately."""
        made = KnownResults()
        made._records, made.tools = set(self._records), dict(self.tools)
        return made

    def note(self, records: Iterable[ResultRecord]) -> None:
        """Add results."""
        kept = [record for record in records if record.call_id is not None]
        self._records.update(map(_IDENTITY, kept))
        self.tools.update(map(_NAMED, kept))

    def named(self, results: History, waiting: Mapping[str, str]) -> History:
        """The results, each with the name of its tool.

        Args:
            results: results in their order.
            waiting: the tools of calls without a result yet, by call id; they count before those of known results.

        Raises:
            InputError: naming each result that has no name, and whose call is not known.
        """
        if all(result.tool for result in results):
            return results
        tools = ChainMap[Any, str](dict(waiting), self.tools)
        named = [each if each.tool else replace(each, tool=tools.get(each.call_id, "")) for each in results]
        problems = [
            Problem("unknown-call", f"unknown call id {each.call_id!r}", _NAME_IT, f"results[{place}]")
            for place, each in enumerate(named)
            if not each.tool
        ]
        if problems:
            raise InputError(problems)
        return named

    def news(self, results: History, search: str, pending: str) -> Iterator[tuple[ResultRecord, ToolResult]]:
        """The results that are not known yet, each with what is kept of it; one without a call id is always new.

        Args:
            results: results with the names of their tools.
            search: the search tool.
            pending: the key by which a result asks for confirmation.
        """
        batch = KnownResults()
        for result in results:
            record = record_of(result, search, pending)
            if not (self.has(record) or batch.has(record)):
                batch.note((record,))
                yield record, result

    def has(self, record: ResultRecord) -> bool:
        """Whether a result is known; one without a call id is not."""
        return record.call_id is not None and _IDENTITY(record) in self._records


NO_CALLS: Mapping[str, str] = MappingProxyType({})
NO_INPUTS: Mapping[str, Json] = MappingProxyType({})


def _rules(given: Given) -> list[Problem]:
    return problems_of(given["self"]._hooks.agent, given)  # noqa: SLF001 - a rule of the methods below


def _entity_rules(given: Given) -> Iterator[Problem]:
    return memory_problems(Memory(given.get("entities", ())), "entities")


@dataclass(frozen=True, slots=True)
class _Progress:
    """Progress of the running call: derived from the state, so that a step need not start from the beginning."""

    found: Discoveries
    placed: Placement | None = None


class Conversation:
    """One conversation: a handle over frozen, plain data, made by `Engine.conversation`.

    Every `Call` and `Step` equals, byte for byte, the result of `Engine.prepare_call` and `Engine.prepare_step` for the
    whole history, but only what is new is processed. Results are identified by their call ids, so passing one again
    does no harm; a result without an id counts every time it is passed. Of a result, only its tool, id and outcome are
    kept, the names that it found, and the entities that the agent file's `memory.extract` finds in it; never its body.

    An error leaves the conversation unchanged. Use a handle for one conversation and from one thread at a time. Its
    `state` is immutable: share it, store it, and continue from it any number of times.
    """

    def __init__(self, hooks: Hooks, state: ConversationState) -> None:
        """Use `Engine.conversation`."""
        self._hooks = hooks
        self._take(state)

    def __copy__(self) -> Conversation:
        """A separate handle that continues from here, for example from a message that the user has edited."""
        made = Conversation.__new__(Conversation)
        vars(made).update(vars(self), _known=copy(self._known), _results=[*self._results])
        return made

    def _take(self, state: ConversationState) -> None:
        self._state, self._results = state, [*state.results]
        self._known = KnownResults(state.results)
        self._progress: _Progress | None = None

    @property
    def state(self) -> ConversationState:
        """The conversation so far: immutable, plain data."""
        # The results of earlier steps are not copied at each step, but when somebody looks at them.
        if len(self._state.results) < len(self._results):
            self._state = replace(self._state, results=tuple(self._results))
        return self._state

    @property
    def call(self) -> Call | None:
        """The most recently prepared call; None before the first."""
        return self._state.call

    @property
    def memory(self) -> Memory:
        """The working memory, newest entity first."""
        return self._state.memory

    def pass_to(self, hooks: Hooks, state: ConversationState | None = None) -> None:
        """Internal: use `Engine.take_over`.

        Raises:
            InputError: when the conversation is another agent's.
        """
        own, asked = self._hooks.agent.spec.agent, hooks.agent.spec.agent
        if own != asked:
            told = f"the conversation belongs to the agent `{own}`, not to `{asked}`"
            hint = "pass a conversation of this adapter's engine"
            raise InputError(Problem("foreign-call", told, hint, "conversation"))
        if state is not None and state is not self._state:
            self._take(state)
        if hooks.agent is not self._hooks.agent:
            self._progress = None
        self._hooks = hooks

    def to_json(self, *, ended: bool = False) -> dict[str, Json]:
        """The state as plain JSON, for `Engine.conversation(ConversationState.from_json(data))`.

        Args:
            ended: whether the turn has ended: then what belongs to that turn alone is left out, and the next thing to
                ask of what is read back is a call.
        """
        call = self._state.call
        state = replace(self.state, call=self._hooks.ended(call)) if ended and call else self.state
        return state.to_json()

    @checked(also=_rules)
    def user(self, turn: Turn | None = None, results: History = (), calls: Mapping[str, FilledText] = NO_CALLS) -> Call:
        """The call for a user message.

        Args:
            turn: what the host knows about the message. Entities in its memory replace those that the conversation
                remembers; a turn without any gets the remembered ones.
            results: results since the last step, such as that of a tool that ends the turn.
            calls: the tools of calls, by call id, for results without a name.

        Raises:
            InputError: with every missing, unknown or wrong input.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        turn = cleaned_history(turn)
        news = self._taken(results, calls)
        state = news.state
        if state.memory.entities and not turn.memory.entities:
            turn = replace(turn, memory=state.memory)
        if state.there is not None and turn.tools_before is None:
            turn = replace(turn, tools_before=state.there)
        found = self._hooks.more(self._found(), news.new, self._known.tools)
        since = last_call_id(self._last_results(news))
        call = self._hooks.call(turn, found, state.call, state.kept, since)
        self._keep(replace(news, state=replace(state, call=call, memory=turn.memory, kept=None, there=None)), None)
        return call

    @checked(also=_rules)
    def step(
        self,
        results: History = (),
        calls: Mapping[str, FilledText] = NO_CALLS,
        *,
        inputs: JsonObject = NO_INPUTS,
        tools: tuple[str, ...] | None = None,
        templates: bool = False,
    ) -> Step:
        """The whole desired state of the next model request.

        Args:
            results: results since the last step.
            calls: the tools of calls, by call id, for results without a name; calls without a result may be included.
            inputs: values of inputs that the agent file declares with `tier: step`, from this request on.
            tools: every tool that the host itself has for this request; None if it does not tell. One that it had
                before and has no longer is not active and is refused, and a notice behind the last result says so; one
                that is back is announced likewise.
            templates: whether the model reads these results as `render_result` tells them, so that the manifest names
                what that leaves out.

        Raises:
            InputError: when there is no call yet, or its turn has ended; when the tool of a result is unknown, an input
                is wrong or may not change between requests, or another engine prepared the call.
            TemplateRenderError: when the template cannot be rendered with these inputs.
        """
        call, news = self._running(), self._taken(results, calls)
        progress = self._progress or _Progress(self._found())
        found = self._hooks.more(progress.found, news.new, self._known.tools)
        read = news.results if templates and self._hooks.agent.results else ()
        known = tools is not None or bool(inputs or read)
        changed = RequestChanges(self._last_results(news), inputs, tools, read) if known else None
        step, placed = self._hooks.step(call, found, progress.placed, changed)
        if step.call is not call:
            news = replace(news, state=replace(news.state, call=step.call))
        self._keep(news, _Progress(found, placed))
        return step

    @checked
    def in_front(
        self, step: Step, names: Iterable[str], deferred: Iterable[str] = (), announced: Iterable[str] = ()
    ) -> Step:
        """Report which definitions of tools stand in front of the request of the last step.

        Args:
            step: the last step.
            names: the names of the definitions, in their order, without those that the provider holds back.
            deferred: the names of those.
            announced: the names of those that the framework itself has announced in the messages.

        Returns:
            The step; its manifest names a baseline where they are not those of the request before.

        Raises:
            InputError: when there is no call yet, or an argument is of the wrong type.
        """
        call = self._running()
        front = tuple(names)
        told = self._hooks.in_front(step, call, front, {*front, *deferred}, tuple(announced))
        if told.call is not None and told.call is not call:
            self._state = replace(self._state, call=told.call)
        return told

    @checked
    def search_tools(self, query: str, limit: int | None = None) -> SearchResult:
        """The tools that fit a capability, best first: the answer of the agent's search tool in this conversation.

        The result announces only tools that will be active in the next step: those that the turn has and whose
        instructions fit; the message names the others. Before the first user message, nothing is left out.

        Args:
            query: what the tools should do, in a few words.
            limit: the maximum number of tools; by default the agent file's.

        Raises:
            InputError: when `limit` is out of range, or an argument is of the wrong type.
        """
        return self._hooks.search(query, limit, self.call, self._found() if self.call else None)

    @checked
    async def asearch_tools(self, query: str, limit: int | None = None, *, ranker: AsyncRanker) -> SearchResult:
        """The same with an asynchronous ranker, such as a search service.

        Args:
            query: what the tools should do, in a few words.
            limit: the maximum number of tools; by default the agent file's.
            ranker: replaces the agent's own ranker; if it fails, BM25 answers.

        Raises:
            InputError: as `search_tools`.
        """
        return await self._hooks.asearch(query, limit, self.call, self._found() if self.call else None, ranker)

    @checked
    def render_result(self, result: ToolResult) -> RenderedResult:
        """The text to send as this result, like `Engine.render_result`; a result with an id needs no name.

        The conversation does not record it: pass the result itself to `step`, which reads its structure.

        Raises:
            InputError: with everything that is wrong in it, or when no tool is known for its call id.
        """
        (named,) = self._known.named([with_exact_body(result)], self._state.calls)
        return self._hooks.result(named)

    @checked
    def compacted(self, kept: Count = 1) -> None:
        """Report that the host has shortened the messages and removed the blocks it had placed.

        The next call gets one new baseline, whose system prompt includes everything discovered so far.

        Args:
            kept: how many user messages come before the next one; a summary with the role `user` counts, tool results
                do not.

        Raises:
            InputError: when `kept` is not a valid number of messages.
        """
        if self._state.call:
            self._state = replace(self._state, kept=kept)

    @checked
    def tools_changed(self, there: Iterable[str]) -> None:
        """Report that tools came or went within the run and that the model already knows, so the next call does not
        repeat it.

        Args:
            there: the tools of the catalogue that exist now.

        Raises:
            InputError: with each name that is not a string.
        """
        self._state = replace(self._state, there=tuple(there))

    @checked(also=_entity_rules)
    def remember(self, entities: Iterable[Entity]) -> None:
        """Add entities that the conversation touched by other means to the working memory, newest first.

        Raises:
            InputError: with everything that is wrong in one.
        """
        known = [*entities, *self._state.memory.entities]
        total = self._hooks.agent.spec.memory.total
        self._state = replace(self._state, memory=Memory(newest(known, total)))

    def forget(self, *ids: str, type: str = "") -> None:  # noqa: A002 - as in `Entity`
        """Remove the entities with these ids or keys from the working memory; without any, remove all.

        Args:
            *ids: the ids or keys.
            type: the type of the entities; empty for any, since ids of several types may be the same.

        Raises:
            InputError: with each id that is not a string.
        """
        gone, kind = set(admit(tuple[str, ...], ids, "ids")), admit(str, type, "type")
        kept = tuple(
            entity
            for entity in self._state.memory.entities
            if kind not in ("", entity.type) or (ids and not {entity.id, entity.key or entity.id} & gone)
        )
        self._state = replace(self._state, memory=Memory(kept))

    def _found(self) -> Discoveries:
        """The running call's discoveries, including those of searches since it began."""
        return self._progress.found if self._progress else self._hooks.found(self._results, self._state.call)

    def _running(self) -> Call:
        if self._state.call is None:
            told = "the conversation has no user message yet, so there is no model request to prepare"
            raise InputError(Problem("no-call", told, "start with `user(turn)`", "conversation"))
        return self._state.call

    def _taken(self, results: History, calls: Mapping[str, str]) -> _NewResults:
        """The state with these results, and which of them are new."""
        state, agent = self._state, self._hooks.agent
        if not results and not calls:
            self._hooks.heard(state.call, len(self._results), ())
            return _NewResults(state)
        results = with_exact_bodies(results, "results", lambda result: not result.is_error)
        waiting = {**state.calls, **calls}
        news = tuple(self._known.news(self._known.named(results, waiting), agent.search_tool, agent.pending))
        new = tuple(record for record, _ in news)
        if state.call and state.call.run.limits.steps is not None:
            new = tuple(replace(each, beside=at > 0 and each.batch is None) for at, each in enumerate(new))
        self._hooks.heard(state.call, len(self._results), [result for _, result in news])
        known, answered = self._known.tools, {record.call_id for record in new}
        state = replace(
            state,
            calls={call: tool for call, tool in waiting.items() if call not in known and call not in answered},
            memory=remember(
                state.memory,
                [result for _, result in news],
                agent.spec.memory,
                agent.spec.words.memory,
                agent.spec.tools.cues.pending,
            ),
        )
        return _NewResults(state, new, tuple(result for _, result in news))

    def _last_results(self, news: _NewResults) -> Sequence[ResultRecord]:
        """The results from the last one with a call id on: all of them would be copied in each step."""
        known = self._results
        first = next((at for at in reversed(range(len(known))) if known[at].call_id is not None), 0)
        return (*known[first:], *news.new)

    def _keep(self, news: _NewResults, progress: _Progress | None) -> None:
        self._state, self._progress = news.state, progress
        self._results += news.new
        self._known.note(news.new)


@dataclass(frozen=True, slots=True)
class _NewResults:
    """The state after these results, but without them, and what is new: records of results, and the results."""

    state: ConversationState
    new: tuple[ResultRecord, ...] = ()
    results: tuple[ToolResult, ...] = ()
