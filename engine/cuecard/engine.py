"""The door: open an agent, prepare a call and its steps, search for tools. Both hooks are tables of contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from cuecard.agent import Agent, build_agent, usable_skills_of
from cuecard.agent.facts import AgentFacts
from cuecard.boundary import (
    admit_call,
    admit_cards,
    admit_hits,
    admit_memory,
    admit_step,
    admit_summary,
    check_opening,
    check_reading,
    check_search,
)
from cuecard.catalogue import SearchIndex
from cuecard.catalogue.remote import AsyncRanker, search_remotely
from cuecard.config.models_file import ModelProfile, ModelProfiles
from cuecard.config.values.placeholders import fill
from cuecard.model import Call, Clock, DeliveryWish, History, Memory, SearchResult, Step, ToolCard, Turn
from cuecard.model.skills import SkillText
from cuecard.outside.clock import utc_now
from cuecard.outside.folder import read_agent
from cuecard.outside.models import profiles_with
from cuecard.outside.skills import read_skill
from cuecard.outside.summarizer import Reply, asummarize, summarize
from cuecard.outside.tokens import TokenCounter, bundled_counter
from cuecard.pipeline.budget import fit
from cuecard.pipeline.call import CallParts, make_call, select_history
from cuecard.pipeline.continuation import continue_conversation, earlier_tools
from cuecard.pipeline.delivery import delivery_of
from cuecard.pipeline.history.selection import apply_summary, summary_due
from cuecard.pipeline.history.summary import AsyncSummarizer, Summarizer, SummaryRequest
from cuecard.pipeline.inputs import clean_inputs
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.sections import compose
from cuecard.pipeline.step import make_step
from cuecard.pipeline.tools import discover_more, plan_tools
from cuecard.sources.entities import remember


@dataclass(frozen=True)
class Engine(AgentFacts):
    """An immutable snapshot of one agent: safe to share between threads and tasks. It keeps nothing between calls.

    With a `salt`, every fingerprint in a step is salted (`cuecard.pipeline.fingerprints`); a call carries plain
    ones, beside the texts that they are made of.
    """

    agent: Agent
    delivery: DeliveryWish
    count: TokenCounter
    clock: Clock
    salt: str = field(default="", repr=False)

    @classmethod
    def open(
        cls, path: str | Path, *, delivery: DeliveryWish | None = None, clock: Clock = utc_now, salt: str = ""
    ) -> Engine:
        """Read and check the agent at `path`: its YAML file, or a folder with `agent.yaml`.

        Args:
            path: the agent file.
            delivery: overrides the agent file's `delivery`; a turn may override both.
            clock: asked for the time when a turn does not say.
            salt: a secret that makes fingerprints in manifests useless for guessing texts; the same salt gives the
                same fingerprints.

        Raises:
            InputError: with every argument that is wrong.
            SpecError: with every problem of every file of the agent.
        """
        check_opening(path, delivery, clock, salt)
        agent = build_agent(read_agent(path))
        return cls(agent, delivery or agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), clock, salt)

    @property
    def models(self) -> ModelProfiles:
        """What is known of models: the shipped profiles, and over them those of the agent's own file."""
        return profiles_with(self.agent.models)

    def with_tools(self, cards: Iterable[ToolCard]) -> Engine:
        """The same engine, knowing what a tool server says about its tools (descriptions, input schemas).

        Raises:
            InputError: with everything that is wrong in a card, or every name that two cards have.
        """
        return replace(self, agent=self.agent.with_catalogue(self.agent.catalogue.merged(admit_cards(cards))))

    def prepare_call(
        self,
        turn: Turn | None = None,
        history: History = (),
        *,
        previous: Call | None = None,
        compacted: bool = False,
        kept: int = 1,
    ) -> Call:
        """The prompt of one run for one user message, as plain data that travels with the host.

        Args:
            turn: what the host knows of this call.
            history: tool results of the conversation so far, oldest first, with those that a compaction has dropped
                since `previous`.
            previous: the conversation's call before this one. With it, the system prompt of the first call stays, but
                under `rewrite`, and what changed is sent as a block; without it, the call begins anew.
            compacted: the host has shortened the messages since `previous`, and taken out the blocks it had placed:
                this call gets one new baseline, whose system prompt tells what was discovered so far.
            kept: after a compaction, how many messages of the user stand before the new one; a summary in the role of
                the user is one, tool results are none.

        Raises:
            InputError: with every missing, unknown or wrong input, and everything else that is wrong in an argument.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        turn, history = admit_call(
            self.agent, turn, history, self.clock, previous=previous, compacted=compacted, kept=kept
        )
        now, after = turn.now or self.clock(), kept if compacted and previous else None
        request = CallRequest(self.agent, turn, history, previous, after, now, self.count)
        chosen = select_history(request)
        values = clean_inputs(request, chosen.summary)
        request = request.with_files(values.files)
        delivery = delivery_of(request, self.delivery, self._profile(turn))
        plan = plan_tools(request, earlier_tools(request), every=delivery.shows_all)
        sections = compose(request, values.values, plan.tools)
        call = make_call(request, CallParts(chosen, values, delivery, plan, sections))
        return continue_conversation(request, call)

    def prepare_step(self, call: Call, history: History = ()) -> Step:
        """The whole desired state of the next model request: a pure function of its arguments.

        Args:
            call: what `prepare_call` gave.
            history: tool results so far, oldest first: of this run, or of the whole conversation.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        history = admit_step(call, history)
        request = StepRequest(self.agent, call, history, self.count, self.salt)
        discovered, dropped = discover_more(request)
        return make_step(request, discovered, dropped, fit(request, discovered))

    def search_tools(self, query: str, limit: int | None = None) -> SearchResult:
        """The tools that fit a capability, best first; none when nothing fits well enough.

        Raises:
            InputError: when `limit` is out of range, or an argument is of the wrong type.
        """
        check_search(query, limit)
        return self._search(self._index, query, limit)

    async def asearch_tools(self, query: str, limit: int | None = None, *, ranker: AsyncRanker) -> SearchResult:
        """The same with a ranker that is awaited, such as a search service; names it makes up are left out.

        What the ranker raises passes through, and so does a cancellation.

        Raises:
            InputError: when `limit` is out of range, an argument is of the wrong type, or the ranker's answer is.
        """
        check_search(query, limit, ranker)

        async def ranked(asked: str, most: int) -> Sequence[tuple[str, float]]:
            return admit_hits(await ranker(asked, most))

        return await search_remotely(self._index, ranked, lambda index: self._search(index, query, limit))

    def remember(self, memory: Memory, results: History) -> Memory:
        """The working memory after these tool results, by the agent file's `memory.extract` rules.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        memory, results = admit_memory(memory, results)
        return remember(memory, results, self.agent.spec.memory, self.agent.spec.words.memory)

    def read_skill(self, slug: str, turn: Turn | None = None, *, limit: int = 24_000) -> SkillText:
        """What a `read_skill` tool answers: the instructions of a skill that this turn may use, or why there are none.

        Args:
            slug: the slug or display name, in any case.
            turn: what the host knows of the call; without one, every skill that is switched on may be read.
            limit: bytes of the answer, at most.

        Raises:
            InputError: when the turn names a profile or a variant that does not exist, or an argument is of the wrong
                type; never for a slug that no skill has.
        """
        usable = usable_skills_of(self.agent, check_reading(self.agent, slug, turn, limit))
        return read_skill(usable, slug, limit=limit, words=self.agent.spec.words)

    def summarize(self, turn: Turn, summarizer: Summarizer, *, timeout: float = 30.0) -> Turn:
        """The turn with the summary of its conversation, made anew if the history policy asks for that.

        Ask before `prepare_call` where the policy says `summarize: before`, after the reply where it says `after`, and
        store `turn.summary` with the conversation. A summarizer that fails, says nothing or takes longer than `timeout`
        seconds takes nothing away: the turn keeps its summary, and a diagnostic of its manifest tells what happened.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        turn = admit_summary(self.agent, turn, summarizer, timeout, waits=True)
        request = self._summary_due(turn)
        return self._summarized(turn, summarize(request, summarizer, timeout)) if request else turn

    async def asummarize(self, turn: Turn, summarizer: AsyncSummarizer, *, timeout: float = 30.0) -> Turn:  # noqa: ASYNC109 - as `summarize`: too late is a diagnostic, not an error
        """The same with a summarizer that is awaited, in a task of its own; a cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        turn = admit_summary(self.agent, turn, summarizer, timeout, waits=False)
        request = self._summary_due(turn)
        return self._summarized(turn, await asummarize(request, summarizer, timeout)) if request else turn

    def _summary_due(self, turn: Turn) -> SummaryRequest | None:
        policy = self.agent.spec.history
        return summary_due(turn.messages, turn.summary, policy, self.count) if policy else None

    def _summarized(self, turn: Turn, reply: Reply) -> Turn:
        policy = self.agent.spec.history
        if policy is None:
            return turn
        selected = apply_summary(turn.messages, turn.summary, policy, self.count, reply.text)
        found = (reply.diagnostic,) if reply.diagnostic else ()
        return replace(turn, summary=selected.store, diagnostics=(*turn.diagnostics, *found))

    def _search(self, index: SearchIndex, query: str, limit: int | None) -> SearchResult:
        search, words = self.agent.spec.tools.search, self.agent.spec.words
        hint = fill(words.search.place, {"place": self.agent.protocol_place})
        wanted = search.limit if limit is None else limit
        return index.search(query, wanted, threshold=search.confidence, found_hint=hint, words=words)

    def _profile(self, turn: Turn) -> ModelProfile:
        """The profile of the turn's model; profiles are read when a turn names its model, and not before."""
        return profiles_with(self.agent.models).find(turn.model) if turn.model else ModelProfile("")

    @cached_property
    def _index(self) -> SearchIndex:
        core = self.agent.spec.tools.core
        return SearchIndex.build([card for name, card in self.agent.catalogue.items() if name not in core])
