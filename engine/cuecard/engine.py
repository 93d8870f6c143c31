"""The door: open an agent, prepare a call and its steps, search for tools. Both hooks are tables of contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from cuecard.agent import Agent, build_agent, usable_skills_of
from cuecard.catalogue import Explanation, SearchIndex
from cuecard.config.models_file import ModelProfile
from cuecard.config.values.placeholders import fill
from cuecard.errors import Problem
from cuecard.model import Call, Clock, DeliveryWish, History, Memory, SearchResult, Step, ToolCard, Turn
from cuecard.model.skills import SkillText
from cuecard.outside.clock import utc_now
from cuecard.outside.folder import folder_of, read_agent
from cuecard.outside.models import profiles_with
from cuecard.outside.rankers.code import AnyRanker
from cuecard.outside.rankers.opening import SearchWish
from cuecard.outside.rankers.search import Search
from cuecard.outside.skills import read_skill
from cuecard.outside.summarizer import summarize
from cuecard.outside.tokens import TokenCounter, bundled_counter
from cuecard.pipeline.budget import fit
from cuecard.pipeline.call import CallParts, make_call, select_history
from cuecard.pipeline.continuation import continue_conversation, earlier_tools
from cuecard.pipeline.delivery import delivery_of
from cuecard.pipeline.history.selection import apply_summary, summary_due
from cuecard.pipeline.history.summary import Summarizer
from cuecard.pipeline.inputs import check_inputs
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.sections import compose
from cuecard.pipeline.step import make_step
from cuecard.pipeline.tools import discover_more, plan_tools
from cuecard.sources.entities import remember


@dataclass(frozen=True)
class Engine:
    """An immutable snapshot of one agent: safe to share between threads and tasks. It keeps nothing between calls.

    With a `salt`, every fingerprint in a step is salted (`cuecard.pipeline.fingerprints`); a call carries plain
    ones, beside the texts that they are made of.
    """

    agent: Agent
    delivery: DeliveryWish
    count: TokenCounter
    clock: Clock
    salt: str = field(default="", repr=False)
    search: Search = field(default=Search(), repr=False)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        delivery: DeliveryWish | None = None,
        clock: Clock = utc_now,
        salt: str = "",
        ranker: AnyRanker | None = None,
        allow_code: bool = False,
        cache: str | Path | bool = True,
    ) -> Engine:
        """Read and check the agent at `path`: its YAML file, or a folder with `agent.yaml`.

        Args:
            path: the agent file.
            delivery: overrides the agent file's `delivery`; a turn may override both.
            clock: asked for the time when a turn does not say.
            salt: a secret that makes fingerprints in manifests useless for guessing texts; the same salt gives the
                same fingerprints.
            ranker: orders the tools that a search finds, whatever the agent file names: a function of query and limit
                to names with scores from 0 to 1, best first, or an object that makes one of the tools (`for_tools`).
            allow_code: whether a function that the agent file names as its ranker may be imported and called.
            cache: the folder that keeps search indexes for the next process; True for the user's cache folder, False
                for none. Nothing is read or written there before the first search.

        Raises:
            SpecError: with every problem of every file of the agent; when the ranker that it names is not installed, or
                is code and not allowed.
            InputError: when `ranker` cannot be called.
        """
        agent = build_agent(read_agent(path))
        search = SearchWish(ranker, allow_code, cache).open(agent.ranker, folder_of(path))
        count = bundled_counter(agent.spec.tokens.encoding)
        return cls(agent, delivery or agent.spec.delivery, count, clock, salt, search)

    @property
    def tools(self) -> Mapping[str, ToolCard]:
        """The catalogue: every tool the agent could use, by name."""
        return self.agent.catalogue

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the check of the files found and let pass."""
        return self.agent.warnings

    def with_tools(self, cards: Iterable[ToolCard]) -> Engine:
        """The same engine, knowing what a tool server says about its tools (descriptions, input schemas)."""
        return replace(self, agent=self.agent.with_catalogue(self.agent.catalogue.merged(cards)))

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
            InputError: with every missing, unknown or wrong input.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        turn = turn or Turn()
        now, after = turn.now or self.clock(), kept if compacted and previous else None
        request = CallRequest(self.agent, turn, history, previous, after, now, self.count)
        chosen = select_history(request)
        values = check_inputs(request, chosen.summary)
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
        """
        request = StepRequest(self.agent, call, history, self.count, self.salt)
        discovered, dropped = discover_more(request)
        return make_step(request, discovered, dropped, fit(request, discovered))

    def search_tools(self, query: str, limit: int | None = None) -> SearchResult:
        """The tools that fit a capability, best first; none when nothing fits well enough.

        Raises:
            InputError: when `limit` is out of range.
        """
        search, words = self.agent.spec.tools.search, self.agent.spec.words
        hint = fill(words.search.place, {"place": self.agent.protocol_place})
        return self._index.search(query, limit, spec=search, found_hint=hint, words=words)

    def explain_search(self, query: str, limit: int | None = None) -> Explanation:
        """The same search with its reasons: words, fields and phrases of each hit, and where the list was cut.

        Raises:
            InputError: when `limit` is out of range.
        """
        search, words = self.agent.spec.tools.search, self.agent.spec.words
        hint = fill(words.search.place, {"place": self.agent.protocol_place})
        return self._index.explain(query, self.tools, limit, spec=search, found_hint=hint, words=words)

    def remember(self, memory: Memory, results: History) -> Memory:
        """The working memory after these tool results, by the agent file's `memory.extract` rules."""
        return remember(memory, results, self.agent.spec.memory, self.agent.spec.words.memory)

    def read_skill(self, slug: str, turn: Turn | None = None, *, limit: int = 24_000) -> SkillText:
        """What a `read_skill` tool answers: the instructions of a skill that this turn may use, or why there are none.

        Args:
            slug: the slug or display name, in any case.
            turn: what the host knows of the call; without one, every skill that is switched on may be read.
            limit: bytes of the answer, at most.

        Raises:
            InputError: when the turn names a profile or a variant that does not exist, and for nothing else.
        """
        usable = usable_skills_of(self.agent, turn or Turn())
        return read_skill(usable, slug, limit=limit, words=self.agent.spec.words)

    def summarize(self, turn: Turn, summarizer: Summarizer, *, timeout: float = 30.0) -> Turn:
        """The turn with the summary of its conversation, made anew if the history policy asks for that.

        Ask before `prepare_call` where the policy says `summarize: before`, after the reply where it says `after`, and
        store `turn.summary` with the conversation. A summarizer that fails, says nothing or takes longer than `timeout`
        seconds takes nothing away: the turn keeps its summary, and a diagnostic of its manifest tells what happened.
        """
        policy = self.agent.spec.history
        request = summary_due(turn.messages, turn.summary, policy, self.count) if policy else None
        if policy is None or request is None:
            return turn
        reply = summarize(request, summarizer, timeout)
        selected = apply_summary(turn.messages, turn.summary, policy, self.count, reply.text)
        found = (reply.diagnostic,) if reply.diagnostic else ()
        return replace(turn, summary=selected.store, diagnostics=(*turn.diagnostics, *found))

    def _profile(self, turn: Turn) -> ModelProfile:
        """The profile of the turn's model; profiles are read when a turn names its model, and not before."""
        return profiles_with(self.agent.models).find(turn.model) if turn.model else ModelProfile("")

    @cached_property
    def _index(self) -> SearchIndex:
        core = self.agent.spec.tools.core
        return self.search.index([card for name, card in self.agent.catalogue.items() if name not in core])
