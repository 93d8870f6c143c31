"""The door: open an agent, talk with it or prepare calls and steps yourself, search for tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from weakref import finalize

from pydantic import SkipValidation

from cuecard.agent import Agent, build_agent
from cuecard.answers import Answers
from cuecard.catalogue.catalogue import admit_cards
from cuecard.conversation import NO_INPUTS, Conversation
from cuecard.errors import Problem
from cuecard.hooks import Hooks
from cuecard.model import (
    Call,
    Clock,
    ConversationState,
    DeliveryWish,
    History,
    ResultRecord,
    Step,
    ToolCard,
    Turn,
)
from cuecard.model.boundary import Count, FilledText, Given, JsonObject, check_fields, checked
from cuecard.model.sealed import check_key, seal, unseal
from cuecard.outside.clock import utc_now
from cuecard.outside.content import find_agent
from cuecard.outside.folder import read_agent
from cuecard.outside.helpers import helper_loader
from cuecard.outside.rankers.code import AnyRanker
from cuecard.outside.rankers.opening import SearchWish
from cuecard.outside.rankers.search import Search
from cuecard.outside.tokens import TokenCounter, bundled_counter
from cuecard.pipeline.discovery import last_call_id, record_of
from cuecard.pipeline.fit import Room
from cuecard.pipeline.inputs import cleaned_history, memory_problems, problems_of, with_exact_bodies
from cuecard.pipeline.origin import check_previous, check_texts
from cuecard.records import dataclass


def _call_rules(given: Given) -> list[Problem]:
    return problems_of(given["self"].agent, given)


def _state_rules(given: Given) -> Iterator[Problem]:
    if state := given.get("state"):
        yield from memory_problems(state.memory, "state.memory")


@dataclass(frozen=True)
class Engine(Answers):
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
            key: a secret that signs what `dump` writes; `load` then accepts nothing else.
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

    @checked(also=_state_rules)
    def conversation(self, state: ConversationState | None = None) -> Conversation:
        """A new conversation, or one that continues from a stored state; the state is never changed.

        Args:
            state: the conversation so far.

        Raises:
            InputError: when the state is another agent's, or was edited.
        """
        state = state or ConversationState()
        check_texts(state.call, "state.call")
        check_previous(state.call, self.agent)
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
        name = "conversation"
        return self.conversation(ConversationState.from_json(unseal(text, self.key, name), name))

    @checked(also=_call_rules)
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
        turn = cleaned_history(turn)
        check_texts(previous, "previous")
        search, pending = self.search_tool, self.agent.pending
        history = with_exact_bodies(history, "history", lambda result: bool(pending) or result.tool == search)
        records = tuple(record_of(result, search, pending) for result in history)
        found = self._hooks.found(records, previous)
        since = last_call_id(history)
        return self._hooks.call(turn, found, previous, kept if compacted and previous else None, since)

    @checked(also=_call_rules)
    def prepare_step(self, call: Call, history: History = (), *, inputs: JsonObject = NO_INPUTS) -> Step:
        """The whole desired state of the next model request: a pure function of its arguments.

        Args:
            call: the result of `prepare_call`, or the `call` of the run's previous step, which knows the inputs that
                came with it.
            history: tool results so far, oldest first: of this run, or of the whole conversation.
            inputs: values of inputs that the agent file declares with `tier: step`, from this request on.

        Raises:
            InputError: with everything that is wrong in an argument, or when the call was made by another agent, from
                other files or tools, or edited since; when its turn has ended.
            TemplateRenderError: when the template cannot be rendered with these inputs.
        """
        room = self._rooms.get(id(call)) or self._checked(call)
        found = self._hooks.found(self._records(history), call)
        return self._hooks.step(call, found, changed=(inputs, history) if inputs else None, room=room)[0]

    def _records(self, history: History) -> tuple[ResultRecord, ...]:
        search, pending = self.search_tool, self.agent.pending
        history = with_exact_bodies(history, "history", lambda result: bool(pending) or result.tool == search)
        every = bool(self.agent.spec.tools.cues.on_result)
        return tuple(record_of(result, search, pending) for result in history if every or result.tool == search)

    def _checked(self, call: Call) -> Callable[[], Room]:
        """The room in a call whose texts fit their fingerprints: it cannot change, and has many steps."""
        check_texts(call, "call")
        self._rooms[id(call)] = room = cache(partial(self._hooks.room, replace(call)))  # of a copy: the call may go
        finalize(call, self._rooms.pop, id(call), None).atexit = False
        return room

    @cached_property
    def _rooms(self) -> dict[int, Callable[[], Room]]:
        """The room in each call that has had a step, as long as the call exists."""
        return {}

    @cached_property
    def _hooks(self) -> Hooks:
        return Hooks(
            self.agent, self.delivery, self.count, self.clock, lambda: self._index, self.salt, self._look_ahead
        )
