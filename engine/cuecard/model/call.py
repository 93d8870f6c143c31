"""The call, and the state of a conversation between two messages of the user, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from cuecard.model.boundary import Count
from cuecard.model.messages import Message
from cuecard.model.prompt import (
    Appended,
    Configuration,
    Cut,
    DeliveryChoice,
    Diagnostic,
    Discovery,
    EndedText,
    Segment,
    SourceRow,
    TokenSource,
    made_when_read,
)
from cuecard.model.storage import LATER, from_json, to_json
from cuecard.model.tools import WithheldTool
from cuecard.model.turn import Gates, RunLimits
from cuecard.model.values import FileText, Json, Memory
from cuecard.records import dataclass


@dataclass(frozen=True)
class CallTools:
    """The tools of a call, by name.

    Attributes:
        available: those that exist for the call, in catalogue order.
        initial: tools active from the start: the core tools, then tools discovered earlier whose protocols are in the
            system prompt (before a compaction, or by `Turn.discovered`).
        earlier: the initial tools that are not core tools, whether they exist in this call or not.
        base: every tool whose protocol is in the system prompt, whether it exists in this call or not.
        discovered: the tools discovered in the history before this call, in order of first discovery, including tools
            that do not exist for this call.
        sent: the discovered tools whose protocols earlier calls have appended.
        told: the SHA-256, in hex, of each tool's protocol as the model last received it before this call's first step;
            an empty text if it was withdrawn since. Empty under `rewrite`, which sends all protocols again.
        withheld: tools found before this call, since the last baseline, that are not active.
        called: the tools called so far, ordered by their last result, oldest first.
        waiting: sent tools whose cues for a first result are still due.
        early: results of waiting tools that arrived before the tools were discovered; they bring no cues.
        ahead: the tools found by the user's own words.
        brought: tools that arrived with user messages since the last baseline, each with the number of its message; no
            search result names them.
        named: the tools that searches have returned so far, the most recently named last, of one search the best.
        looks_ahead: whether the agent searched with the user's own words as the system prompt was made.
        offers_search: whether the conversation has a search tool, decided as the system prompt was made: only where an
            available tool was not active.
        denied: the tools of the turn that its gates, its access, its profile or its variant take away.
        tells_definitions: whether notices say which tools lack room for their definitions; those of calls of earlier
            versions speak of instructions only.
    """

    available: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    discovered: tuple[Discovery, ...] = ()
    sent: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[WithheldTool, ...] = ()
    called: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    early: tuple[Discovery, ...] = ()
    ahead: tuple[str, ...] = ()
    brought: Mapping[str, int] = field(default_factory=dict)
    looks_ahead: bool = False
    offers_search: bool = field(default=True, metadata=LATER)
    denied: tuple[str, ...] = field(default=(), metadata=LATER)
    tells_definitions: bool = field(default=False, metadata=LATER)

    @cached_property
    def available_names(self) -> frozenset[str]:
        """Those that exist, to look names up in."""
        return frozenset(self.available)

    @cached_property
    def initial_names(self) -> frozenset[str]:
        """Those that are active from the start, likewise."""
        return frozenset(self.initial)

    @cached_property
    def sent_names(self) -> frozenset[str]:
        """Those that earlier calls have announced, likewise."""
        return frozenset(self.sent)


@dataclass(frozen=True)
class CallPrompt:
    """What the model sees before the first step of a call.

    Attributes:
        segments: the system prompt with nothing discovered in this run; under `append` delivery it is sent at every
            step.
        shown: the text of each section as the model saw it last.
        sent: blocks appended by earlier calls of the conversation, and what this call announces first.
        messages: the conversation as the model receives it, including system prompt and current message; empty if the
            host manages the conversation itself.
        withdrawn: only in calls that were stored under the removed `reload: append`: elements that the files no longer
            had.
        turns: for each user message so far, the call id of the last result before it; None if unknown, and empty after
            a compaction for the first one, which no user message precedes.
        origin: the SHA-256, in hex, of the configuration that made the system prompt of the conversation's first call.
        passing: blocks of this turn alone, which follow the other blocks of the user message.
        ended: texts of one turn or one request that earlier requests of the conversation held, by their fingerprints.
    """

    segments: tuple[Segment, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[Appended, ...] = ()
    messages: tuple[Message, ...] = ()
    withdrawn: tuple[str, ...] = ()
    turns: tuple[str | None, ...] = ()
    origin: str = ""
    passing: tuple[Appended, ...] = field(default=(), metadata=LATER)
    ended: tuple[EndedText, ...] = field(default=(), metadata=LATER)

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        return "".join([segment.text for segment in self.segments])

    @property
    def blocks(self) -> tuple[Appended, ...]:
        """The blocks of the conversation before the first step, those of this turn alone last."""
        return (*self.sent, *self.passing)


@dataclass(frozen=True, slots=True)
class CallInputs:
    """What sources read of a turn, kept where a step may have to fill them again.

    Attributes:
        now: the time, as ISO 8601 text with its zone.
        knows_tools: whether it is known which tools exist.
        files: the files that the host supplied, by path.
        gates: the switches for tools.
        environment: the names of the environment variables that are set; None if unknown.
        said: the user's words.
    """

    now: str
    knows_tools: bool
    files: Mapping[str, FileText] = field(default_factory=dict)
    gates: Gates = field(default_factory=Gates)
    environment: tuple[str, ...] | None = None
    said: str = ""


@made_when_read("inputs")
@dataclass(frozen=True, slots=True)
class CallRecord:
    """What manifests say about how a call was prepared.

    Attributes:
        tokens: which table counted.
        cuts: what was left out so far, with reasons.
        diagnostics: problems with sources of sections that did not stop the prompt.
        sources: the files and other sources that sections looked at.
        trust: how often each kind of hostile or invisible text was neutralised.
        inputs: a fingerprint for each value of the call; never salted, as the values are stored beside them.
    """

    tokens: TokenSource
    cuts: tuple[Cut, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[SourceRow, ...] = ()
    trust: Mapping[str, int] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallRun:
    """The limits of a call's run, and where in the conversation it begins.

    Attributes:
        limits: the limits.
        since: the call id of the last result before it that has one; None if none has.
        results: how many results came before it.
        failures: how many of those had failed.
        left: discovered tools that have left the conversation, until a search finds them again.
    """

    limits: RunLimits = field(default_factory=RunLimits)
    since: str | None = None
    results: int = 0
    failures: int = 0
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallHost:
    """The tools that the host itself has, as the requests of a conversation have told since its last baseline.

    Attributes:
        there: those of the last request that told of them, whether the catalogue knows them or not.
        gone: those of earlier requests that are not there any more.
        turn: the number of the call whose requests told last; None before the first.
        front: the names of the definitions in front of the last request, in their order, as far as an adapter told.
        lost: found or announced tools whose definitions the adapter no longer had then.
    """

    there: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    turn: int | None = None
    front: tuple[str, ...] = field(default=(), metadata=LATER)
    lost: tuple[str, ...] = field(default=(), metadata=LATER)


_UNLIMITED = CallRun()


@dataclass(frozen=True)
class Call:
    """One run of the agent for one user message, prepared.

    Attributes:
        configuration: what it was made from.
        delivery: where step-tier text goes during this call, and why.
        tools: which tools exist, are active, were discovered and sent.
        prompt: what the model sees before the first step.
        values: cleaned values that the step-tier sections read again.
        record: what manifests say about how it was prepared.
        turn: the number of this call in its conversation, from 0.
        given: what sources read of the turn, where inputs that come with a request may fill them again; otherwise None.
        over: whether the turn has ended: the texts of one turn are gone from it, and it has no further steps.
        conversation: the id of the conversation in records; empty if it has none.
        run: the limits of its run.
        host: the tools that the host itself has.
    """

    configuration: Configuration
    delivery: DeliveryChoice
    tools: CallTools
    prompt: CallPrompt
    values: Mapping[str, Json]
    record: CallRecord
    turn: int = 0
    given: CallInputs | None = field(default=None, metadata=LATER)
    over: bool = field(default=False, metadata=LATER)
    conversation: str = field(default="", metadata=LATER)
    run: CallRun = field(default_factory=CallRun, metadata=LATER)
    host: CallHost = field(default_factory=CallHost, metadata=LATER)

    @cached_property
    def counts(self) -> bool:
        """Whether results of every tool count, because its run has limits."""
        return self.run != _UNLIMITED

    def to_json(self) -> dict[str, Json]:
        """The call as plain JSON; `Call.from_json` gives an equal call back."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Json, name: str = "Call.from_json") -> Call:
        """The call that `to_json` wrote; errors call it `name`.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data, name, code="bad-call")


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """What is kept of a tool result: everything that later prompts depend on, but not its body.

    Attributes:
        tool: the tool's name.
        call_id: the id of the tool call that it answers; None if the host has none.
        found: the names in it, if the tool is the search tool, including names that no catalogue knows.
        is_error: whether the tool failed.
        pending: whether the tool is waiting for confirmation and has done nothing yet.
        batch: an id shared by the results of calls that the model made in one message; None if unknown.
        unread: the shape of a search result that could not be read; empty if everything was read.
        beside: whether it came together with the result before it, where no `batch` says so.
    """

    tool: str
    call_id: str | None = None
    found: tuple[str, ...] = ()
    is_error: bool = False
    unread: str = ""
    pending: bool = False
    batch: str | None = field(default=None, compare=False)
    beside: bool = field(default=False, compare=False, metadata=LATER)


@dataclass(frozen=True)
class ConversationState:
    """A conversation so far.

    Attributes:
        call: the most recently prepared call; None before the first.
        results: every result, oldest first.
        calls: the tools of calls that have no result yet, by call id.
        memory: the working memory.
        kept: after a compaction that no call has followed yet, the number of user messages that the host has kept;
            otherwise None.
        there: the tools that exist now, if the host has told the model that some came or went within the run.
    """

    call: Call | None = None
    results: tuple[ResultRecord, ...] = ()
    calls: Mapping[str, str] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    kept: Count | None = None
    there: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Json]:
        """The state as plain JSON; `ConversationState.from_json` gives an equal one back."""
        return to_json(self)

    @classmethod
    def from_json(cls, data: Json, name: str = "ConversationState.from_json") -> ConversationState:
        """The state that `to_json` wrote; errors call it `name`.

        Raises:
            InputError: for a newer format, or naming every field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data, name, code="bad-conversation")
