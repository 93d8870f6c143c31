"""What an engine returns other than prompts: searches, memory, skills, summaries."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from cuecard.agent import usable_skills_of
from cuecard.agent.facts import AgentFacts
from cuecard.catalogue.ahead import look_ahead
from cuecard.catalogue.explanation import Explanation
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.remote import search_remotely
from cuecard.catalogue.search import SearchIndex
from cuecard.config.models_file import ModelProfiles
from cuecard.errors import Problem
from cuecard.hooks import Hooks
from cuecard.model import Call, History, Memory, RenderedResult, SearchResult, ToolResult, Turn
from cuecard.model.boundary import Count, Given, Seconds, checked
from cuecard.model.skills import SkillText
from cuecard.outside.models import profiles_with
from cuecard.outside.rankers.search import Search
from cuecard.outside.skill_answers import read_skill
from cuecard.outside.tokens import TokenCounter
from cuecard.pipeline.discovery import Found, record_of
from cuecard.pipeline.history.selection import apply_summary, summary_due
from cuecard.pipeline.history.summary import AsyncSummarizer, Summarizer, SummaryRequest
from cuecard.pipeline.inputs import cleaned_history, problems_of, with_exact_bodies, with_exact_body
from cuecard.pipeline.results import render_result
from cuecard.sources.entities import remember

if TYPE_CHECKING:
    from cuecard.outside.summarizer import Reply


def _rules(given: Given) -> list[Problem]:
    return problems_of(given["self"].agent, given, with_inputs=False)


def _search_rules(given: Given) -> Iterator[Problem]:
    yield from _rules(given)
    if given.get("call", given) is None and given.get("history"):
        told = "`history` has no meaning without its call"
        yield Problem("wrong-argument", told, "pass `call` as well", "history")


def _summary_rules(given: Given) -> Iterator[Problem]:
    yield from _rules(given)
    if inspect.iscoroutinefunction(given.get("summarizer")):
        told = "`summarizer` should be a plain function, not an asynchronous one"
        yield Problem("wrong-argument", told, "await `Engine.asummarize` instead", "summarizer")


class Answers(AgentFacts):
    """The methods of `Engine` that return something other than prompts, and the facts about its agent."""

    count: TokenCounter
    _search: Search

    @property
    def _hooks(self) -> Hooks:
        raise NotImplementedError

    @property
    def models(self) -> ModelProfiles:
        """The known models: the shipped profiles, overridden by those of the agent's own file."""
        return profiles_with(self.agent.models)

    @checked(also=_search_rules)
    def search_tools(
        self, query: str, limit: int | None = None, *, call: Call | None = None, history: History = ()
    ) -> SearchResult:
        """The tools that match a capability, best first; none when nothing matches well enough.

        Args:
            query: what the tools should do, in a few words.
            limit: the maximum number of tools; by default the agent file's.
            call: the call that searches. With it, the result announces only tools that will be active in its next step:
                those that the turn has and whose instructions fit; the message names the others.
            history: tool results so far, as for `prepare_step`.

        Raises:
            InputError: when `limit` is out of range, an argument has the wrong type, or the call is from another agent,
                other files or other tools.
        """
        return self._hooks.search(query, limit, call, self._found(call, history))

    @checked
    def explain_search(self, query: str, limit: int | None = None) -> Explanation:
        """The same search with its reasons: words, fields and phrases of each hit, and where the list was cut.

        Raises:
            InputError: when `limit` is out of range, or an argument is of the wrong type.
        """
        search, words = self.agent.spec.tools.search, self.agent.spec.words
        return self._index.explain(query, self.tools, limit, spec=search, place=self.agent.protocol_place, words=words)

    @checked(also=_search_rules)
    async def asearch_tools(
        self,
        query: str,
        limit: int | None = None,
        *,
        ranker: AsyncRanker,
        call: Call | None = None,
        history: History = (),
    ) -> SearchResult:
        """The same with an asynchronous ranker, such as a search service; names that no tool has are dropped.

        If the ranker fails, BM25 answers, as with a synchronous ranker; cancellation passes through.

        Raises:
            InputError: as `search_tools`.
        """
        return await self._hooks.asearch(query, limit, call, self._found(call, history), ranker)

    @checked(also=_rules)
    def look_ahead(self, turn: Turn) -> Turn:
        """The turn with the tools that the user's own words find, if the agent file has `tools.ahead`.

        `prepare_call` and `Conversation.user` do this themselves for a turn whose `ahead` is None.

        Raises:
            InputError: with everything that is wrong in the turn.
        """
        return self._look_ahead(cleaned_history(turn))

    @checked(also=_rules)
    async def alook_ahead(self, turn: Turn, *, ranker: AsyncRanker) -> Turn:
        """The same with an asynchronous ranker; the hooks themselves never wait, so call this before `prepare_call`.

        If the ranker fails, BM25 answers; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        turn = cleaned_history(turn)
        spec, search = self.agent.spec.tools.ahead, self.agent.spec.tools.search
        if spec is None or turn.ahead is not None:
            return turn
        return await search_remotely(self._index, ranker, partial(look_ahead, turn=turn, spec=spec, search=search))

    def _look_ahead(self, turn: Turn) -> Turn:
        spec, search = self.agent.spec.tools.ahead, self.agent.spec.tools.search
        if spec is None or turn.ahead is not None:
            return turn
        return look_ahead(self._index, turn, spec, search)

    @checked(also=_rules)
    def remember(self, memory: Memory, results: History) -> Memory:
        """The working memory after these tool results, by the rules in `memory` of the agent file.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        spec = self.agent.spec
        results = with_exact_bodies(results, "results", lambda result: not result.is_error)
        return remember(memory, results, spec.memory, spec.words.memory, spec.tools.cues.pending)

    @checked
    def render_result(self, result: ToolResult) -> RenderedResult:
        """The text to send to the model as the result of a tool call, by `results` in the agent file.

        Without a template, a text is sent as it is and any other result as JSON. The same result always gives the same
        bytes, because nothing but the result and the agent's files matters.

        Raises:
            InputError: with everything that is wrong in the result; never because a template does not fit it, which the
                `diagnostics` of the returned value report.
        """
        return render_result(self.agent, with_exact_body(result), self.count)

    @checked(also=_rules)
    def read_skill(self, slug: str, turn: Turn | None = None, *, limit: Count = 24_000) -> SkillText:
        """The answer of a `read_skill` tool: the instructions of a skill that this turn may use, or why there are none.

        Args:
            slug: the slug or display name, in any case.
            turn: what the host knows about the call; without it, every enabled skill may be read.
            limit: the maximum size of the answer in bytes.

        Raises:
            InputError: when the turn names a profile or a variant that does not exist, or an argument is of the wrong
                type; never for an unknown slug.
        """
        usable = usable_skills_of(self.agent, turn or Turn())
        return read_skill(usable, slug, limit=limit, words=self.agent.spec.words)

    @checked(also=_summary_rules)
    def summarize(self, turn: Turn, summarizer: Summarizer, *, timeout: Seconds = 30.0) -> Turn:
        """The turn with a summary of its conversation, updated if the history policy asks for it.

        Call this before `prepare_call` if the policy says `summarize: before`, or after the reply if it says `after`,
        and store `turn.summary` with the conversation. If the summarizer fails, returns nothing or takes longer than
        `timeout` seconds, the turn keeps its summary and a diagnostic in its manifest says what happened.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        from cuecard.outside.summarizer import summarize  # noqa: PLC0415 - loads asyncio, which only summaries need

        turn = cleaned_history(turn)
        request = self._summary_due(turn)
        return self._summarized(turn, summarize(request, summarizer, timeout)) if request else turn

    @checked(also=_rules)
    async def asummarize(self, turn: Turn, summarizer: AsyncSummarizer, *, timeout: Seconds = 30.0) -> Turn:  # noqa: ASYNC109 - as `summarize`: too late is a diagnostic, not an error
        """The same with an asynchronous summarizer, which runs as a task of its own; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        from cuecard.outside.summarizer import asummarize  # noqa: PLC0415 - likewise

        turn = cleaned_history(turn)
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

    def _found(self, call: Call | None, history: History) -> Found | None:
        if call is None:
            return None
        search = self.search_tool
        history = with_exact_bodies(history, "history", lambda result: result.tool == search)
        return self._hooks.found((record_of(each, search) for each in history), call)

    @cached_property
    def _index(self) -> SearchIndex:
        return self._search.index([self.agent.catalogue[name] for name in self.agent.searched])
