"""The door: open an agent, talk with it or prepare calls and steps yourself, search for tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property, reduce
from pathlib import Path

from pydantic import SkipValidation

from cuecard.agent import Agent, AgentFacts, build_agent, usable_skills_of
from cuecard.catalogue.catalogue import admit_cards
from cuecard.catalogue.explanation import Explanation
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.search import InstructedTools, SearchIndex, search_remotely
from cuecard.config.model_profile import ModelProfile
from cuecard.config.models_file import ModelProfiles
from cuecard.conversation import NO_INPUTS, Conversation
from cuecard.files.clock import utc_now
from cuecard.files.content import find_agent, profiles_with
from cuecard.files.folder import read_agent
from cuecard.files.host_code import AnyRanker, helper_loader
from cuecard.files.rankers.choice import Search, SearchWish
from cuecard.files.skill_answers import read_skill
from cuecard.files.tokens import TokenCounter, bundled_counter
from cuecard.model import (
    Call,
    Clock,
    ConversationState,
    DeliveryWish,
    History,
    Memory,
    RenderedResult,
    SearchResult,
    Step,
    ToolCard,
    ToolResult,
    Turn,
)
from cuecard.model.boundary import Count, FilledText, JsonObject, Seconds, check_fields, checked
from cuecard.model.signed_text import check_key, seal
from cuecard.model.tools import SkillText
from cuecard.pipeline import inputs as rules
from cuecard.pipeline.ahead import look_ahead
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.history.selection import AsyncSummarizer, Summarizer, SummaryRequest, summary_due
from cuecard.pipeline.hooks import Hooks, RequestChanges
from cuecard.pipeline.placement import CallRooms
from cuecard.pipeline.request import check_texts
from cuecard.pipeline.results import render_result
from cuecard.pipeline.run import last_call_id
from cuecard.records import dataclass, replace


@dataclass(frozen=True)
class Engine(AgentFacts):
    """An immutable snapshot of one agent: safe to share between threads and tasks. It keeps nothing between calls.

    With a `salt`, every fingerprint in a step is salted (`cuecard.pipeline.fingerprints`); a call contains plain
    fingerprints, next to the texts they cover. With a `key`, stored conversations are signed (`dump`).
    """

    agent: Agent
    delivery: DeliveryWish
    count: TokenCounter
    clock: Clock
    salt: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    _search: Search = field(default=Search(), repr=False)
    _described: tuple[ToolCard, ...] = field(default=(), repr=False)
    _around: Mapping[str, Callable[[Hooks], Hooks]] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_fields(self, "delivery")

    @classmethod
    @checked
    def open(
        cls,
        path: FilledText | Path,
        *,
        delivery: DeliveryWish | None = None,
        clock: Clock = utc_now,
        salt: str = "",
        key: str = "",
        ranker: SkipValidation[AnyRanker | None] = None,
        allow_code: bool = False,
        cache: FilledText | Path | bool = True,
    ) -> Engine:
        """Read and check the agent at `path`: its YAML file, or a folder with `agent.yaml`.

        Args:
            path: the agent file or its folder; where nothing is, the name or path of an agent that cuecard brings, such
                as `cms` or `prompts/cms`, with a warning.
            delivery: overrides the agent file's `delivery`; a turn may override both.
            clock: gives the time if a turn does not.
            salt: a secret mixed into fingerprints in manifests, so that they reveal nothing about texts without it; the
                same salt gives the same fingerprints.
            key: a secret that signs what `dump` writes and `load` reads; of several, between commas, the first signs.
            ranker: ranks the tools for a search, overriding the agent file: a function that takes a query and a limit
                and returns names with scores from 0 to 1, best first, or an object that creates one for given tools
                (`for_tools`).
            allow_code: whether functions named by the agent file, as its ranker or as template helpers, may be imported
                and called.
            cache: the folder that keeps search indexes for later processes; True for the user's cache folder, False for
                none. Nothing is read or written there before the first search.

        Raises:
            InputError: with every argument that is wrong, or when the key is too short.
            SpecError: with every problem of every file of the agent; when the ranker that it names is not installed, or
                is code and not allowed.
        """
        check_key(key)
        place = find_agent(path)
        agent = build_agent(read_agent(place), load=helper_loader(allow_code=allow_code), counter=bundled_counter)
        search = SearchWish(ranker, allow_code, cache).open(agent.ranker)
        count = bundled_counter(agent.spec.tokens.encoding)
        return cls(agent, delivery or agent.spec.delivery, count, clock, salt, key, search)

    def with_tools(self, cards: Iterable[ToolCard]) -> Engine:
        """The same engine, knowing what a tool server says about its tools (descriptions, input schemas).

        A server is not the host: a tool with an invalid name (not 1 to 64 letters, digits, `_`, `-`, `.`) or an
        unusable input schema is skipped; invisible characters, and text beyond 8,192 characters, are removed.
        `tool_cuts` and every manifest record it.

        Raises:
            InputError: with everything that is of the wrong type in a card, or every name that two cards have.
        """
        admitted, agent = admit_cards(cards), self.agent
        return replace(self, agent=agent.with_catalogue(agent.catalogue.merged(admitted.cards), admitted.cuts))

    def take_over(self, conversation: Conversation, state: ConversationState | None = None) -> None:
        """Internal: make a conversation of another state of the files this engine's, from its state or this one on."""
        conversation.pass_to(self._hooks, state)

    @checked(also=rules.state_rules)
    def conversation(self, state: ConversationState | None = None) -> Conversation:
        """A new conversation, or one that continues from a stored state; the state is never changed.

        Args:
            state: the conversation so far.

        Raises:
            InputError: when the state is another agent's, or was edited.
        """
        state = state or ConversationState()
        rules.check_state(self.agent, state)
        return Conversation(self._hooks, state)

    @checked
    def dump(self, conversation: Conversation, *, ended: bool = False) -> str:
        """A conversation as JSON text, to store or to pass through untrusted hands.

        It is signed if the engine has a `key`, but not encrypted: anyone who has the text can read it.

        Args:
            conversation: what `conversation` or `load` made.
            ended: whether the turn has ended, as after the answer: then texts and inputs of that turn alone are left
                out. What is loaded from it continues with the next user message; a step is refused.

        Raises:
            InputError: when it would be longer than `load` reads.
        """
        return seal(conversation.to_json(ended=ended), self.key)

    @checked
    def load(self, text: str) -> Conversation:
        """The conversation that `dump` wrote.

        Raises:
            InputError: when the text was cut off or changed, is too long, too deep or of a later format, was signed
                with another key, or not at all where the engine has one; or when it is another agent's.
        """
        state = rules.read_state(text, self.key)
        rules.check_state(self.agent, state)  # its types were checked as it was read
        return Conversation(self._hooks, state)

    @checked(also=rules.call_rules)
    def prepare_call(
        self,
        turn: Turn | None = None,
        history: History = (),
        *,
        previous: Call | None = None,
        compacted: bool = False,
        kept: Count = 1,
    ) -> Call:
        """The prompt of one run for one user message, as plain data that travels with the host.

        Args:
            turn: what the host knows about this call.
            history: tool results of the conversation so far, oldest first, including those that a compaction has
                dropped since `previous`.
            previous: the conversation's previous call. With it, the system prompt of the first call stays (except under
                `rewrite`), and changes are sent as a block; without it, the call starts from scratch.
            compacted: the host has shortened the messages since `previous` and removed the blocks it had placed: this
                call gets one new baseline, whose system prompt includes everything discovered so far.
            kept: after a compaction, how many user messages come before the new one; a summary with the role `user`
                counts, tool results do not.

        Raises:
            InputError: with every missing, unknown or wrong input, and everything else that is wrong in an argument.
            TemplateRenderError: when the template cannot be rendered with these values.
        """
        turn = rules.cleaned_history(turn)
        check_texts(previous, "previous")
        found = self._hooks.found(rules.read_results(history, {self.search_tool}, self.agent.pending), previous)
        self._hooks.heard(previous, 0, history)
        since = last_call_id(history)
        return self._hooks.call(turn, found, previous, kept if compacted and previous else None, since)

    @checked(also=rules.call_rules)
    def prepare_step(
        self,
        call: Call,
        history: History = (),
        *,
        inputs: JsonObject = NO_INPUTS,
        tools: tuple[str, ...] | None = None,
    ) -> Step:
        """The whole desired state of the next model request: a pure function of its arguments.

        Args:
            call: the result of `prepare_call`, or the `call` of the run's previous step, which knows the inputs and the
                tools that came with it.
            history: tool results so far, oldest first: of this run, or of the whole conversation.
            inputs: values of inputs that the agent file declares with `tier: step`, from this request on.
            tools: every tool that the host itself has for this request, as in `Conversation.step`; None if it does not
                tell.

        Raises:
            InputError: with everything that is wrong in an argument, or when the call was made by another agent, from
                other files or tools, or edited since; when its turn has ended.
            TemplateRenderError: when the template cannot be rendered with these inputs.
        """
        room = self._rooms.of(call)
        every = bool(self.agent.spec.tools.cues.on_result) or call.counts
        records = rules.read_results(history, {self.search_tool}, self.agent.pending, every=every)
        self._hooks.heard(call, 0, history)
        found = self._hooks.found(records, call)
        changed = RequestChanges(history, inputs, tools) if inputs or tools is not None else None
        return self._hooks.step(call, found, changed=changed, room=room)[0]

    @checked(also=rules.search_rules)
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
        search, instructed = (
            self.agent.spec.tools.search,
            InstructedTools(self.agent.protocol_place, self.agent.protocols),
        )
        return self._index.explain(query, self._searchable, limit, spec=search, instructed=instructed, words=self.words)

    @checked(also=rules.search_rules)
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

    @checked(also=rules.answer_rules)
    def look_ahead(self, turn: Turn) -> Turn:
        """The turn with the tools that the user's own words find, if the agent file has `tools.ahead`.

        `prepare_call` and `Conversation.user` do this themselves for a turn whose `ahead` is None.

        Raises:
            InputError: with everything that is wrong in the turn.
        """
        return self._look_ahead(rules.cleaned_history(turn))

    @checked(also=rules.answer_rules)
    async def alook_ahead(self, turn: Turn, *, ranker: AsyncRanker) -> Turn:
        """The same with an asynchronous ranker; the hooks themselves never wait, so call this before `prepare_call`.

        If the ranker fails, BM25 answers; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        turn = rules.cleaned_history(turn)
        return await search_remotely(self._index, ranker, lambda index: self._look_ahead(turn, index))

    @checked(also=rules.answer_rules)
    def remember(self, memory: Memory, results: History) -> Memory:
        """The working memory after these tool results, by the rules in `memory` of the agent file.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        return rules.remembered(self.agent, memory, results)

    @checked
    def render_result(self, result: ToolResult) -> RenderedResult:
        """The text to send to the model as the result of a tool call, by `results` in the agent file.

        Without a template, a text is sent as it is and any other result as JSON. The same result always gives the same
        bytes, because nothing but the result and the agent's files matters.

        Raises:
            InputError: with everything that is wrong in the result; never because a template does not fit it, which the
                `diagnostics` of the returned value report.
        """
        return render_result(self.agent, rules.with_exact_body(result), self.count)

    @checked(also=rules.answer_rules)
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
        return read_skill(usable_skills_of(self.agent, turn or Turn()), slug, limit=limit, words=self.words)

    @checked(also=rules.summary_rules)
    def summarize(self, turn: Turn, summarizer: Summarizer, *, timeout: Seconds = 30.0) -> Turn:
        """The turn with a summary of its conversation, updated if the history policy asks for it.

        Call this before `prepare_call` if the policy says `summarize: before`, or after the reply if it says `after`,
        and store `turn.summary` with the conversation. If the summarizer fails, returns nothing or takes longer than
        `timeout` seconds, the turn keeps its summary and a diagnostic in its manifest says what happened.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        from cuecard.files.summarizer import summarized  # noqa: PLC0415 - loads asyncio, which only summaries need

        return summarized(rules.cleaned_history(turn), self.agent.spec.history, self.count, summarizer, timeout)

    @checked(also=rules.answer_rules)
    def summary_due(self, turn: Turn) -> SummaryRequest | None:
        """What is to be summarised now by the agent's history policy, such as after the reply; None if nothing is due.

        Raises:
            InputError: with everything that is wrong in the turn.
        """
        turn, policy = rules.cleaned_history(turn), self.agent.spec.history
        return summary_due(turn.messages, turn.summary, policy, self.count) if policy else None

    @checked(also=rules.answer_rules)
    async def asummarize(self, turn: Turn, summarizer: AsyncSummarizer, *, timeout: Seconds = 30.0) -> Turn:  # noqa: ASYNC109 - as `summarize`: too late is a diagnostic, not an error
        """The same with an asynchronous summarizer, which runs as a task of its own; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        from cuecard.files.summarizer import asummarized  # noqa: PLC0415 - likewise

        return await asummarized(rules.cleaned_history(turn), self.agent.spec.history, self.count, summarizer, timeout)

    @property
    def models(self) -> ModelProfiles:
        """The known models: the shipped profiles, overridden by those of the agent's own file."""
        return profiles_with(self.agent.models)

    def _found(self, call: Call | None, history: History) -> Discoveries | None:
        return None if call is None else self._hooks.found(rules.read_results(history, {self.search_tool}), call)

    def _look_ahead(self, turn: Turn, index: SearchIndex | None = None) -> Turn:
        spec, search = self.agent.spec.tools.ahead, self.agent.spec.tools.search
        if spec is None or turn.ahead is not None:
            return turn
        return look_ahead(index or self._index, turn, spec, search)

    @cached_property
    def _rooms(self) -> CallRooms:
        return CallRooms(self._hooks.room)

    @cached_property
    def _hooks(self) -> Hooks:
        index, ahead = (lambda: self._index), self._look_ahead
        plain = Hooks(self.agent, self.delivery, self.count, self.clock, index, self._profile, self.salt, ahead)
        return reduce(lambda hooks, around: around(hooks), self._around.values(), plain)

    def _profile(self, turn: Turn) -> ModelProfile:
        """The profile of the turn's model; profiles are only read when a turn names its model."""
        return self.models.find(turn.model, endpoint=turn.endpoint) if turn.model else ModelProfile("")

    @cached_property
    def _index(self) -> SearchIndex:
        return self._search.index([self._searchable[name] for name in self.agent.searched], self.count)

    @cached_property
    def _searchable(self) -> Mapping[str, ToolCard]:
        return self.agent.catalogue.merged(self._described)
