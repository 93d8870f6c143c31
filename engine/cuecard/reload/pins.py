"""Which state serves a conversation that began before the files changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Protocol, cast, runtime_checkable

from annotated_types import Ge

from cuecard.config.documents.sources import AgentSources
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import Call, ConversationState, Diagnostic, History, ReloadPolicy, Turn
from cuecard.model.boundary import checked
from cuecard.pipeline.continuation import CHANGED
from cuecard.pipeline.fingerprints import salted
from cuecard.records import dataclass, replace
from cuecard.reload.earlier_engines import Earlier
from cuecard.reload.states import KeptStates, NoState


@dataclass(frozen=True, slots=True)
class ServedEngine:
    """The engine for a call or a step.

    Attributes:
        engine: the engine.
        policy: the policy in force.
        reason: why this engine was chosen.
        changed: the manifest entry if the text sent before was made from another state; otherwise empty.
    """

    engine: Engine
    policy: ReloadPolicy
    reason: str
    changed: str = ""

    @checked
    def turn(self, turn: Turn) -> Turn:
        """The turn with the policy in force and the change of state, both of which the manifest then records.

        Raises:
            InputError: when `turn` is not a `Turn`.
        """
        found = (Diagnostic(CHANGED, self.changed),) if self.changed else ()
        return replace(turn, reload=self.policy, diagnostics=(*turn.diagnostics, *found))

    def prepare_call(
        self,
        turn: Turn | None = None,
        history: History = (),
        *,
        previous: Call | None = None,
        compacted: bool = False,
        kept: int = 1,
    ) -> Call:
        """`Engine.prepare_call` with this engine, for the call that it was chosen for."""
        told = self.turn(Turn() if turn is None else turn)
        return self.engine.prepare_call(told, history, previous=previous, compacted=compacted, kept=kept)

    def conversation(self, state: ConversationState | None = None) -> Conversation:
        """`Engine.conversation` with this engine, for the next message; pass it `turn(...)`."""
        return self.engine.conversation(state)


@runtime_checkable
class EngineSource(Protocol):
    """A source of engines that follows an agent's files, such as the `Watcher` returned by `cuecard.watch`."""

    @property
    def current(self) -> Engine:
        """The engine of the newest state."""

    @property
    def states(self) -> KeptStates:
        """Every state that has served, such as a folder of them."""

    @property
    def home(self) -> Path:
        """The folder of the agent file."""

    def remake(self, sources: AgentSources, /) -> Engine:
        """Internal: the engine of an earlier state; callable from any thread."""


class _RefusingSource(Protocol):
    """A source that may have an engine for running conversations and none for new ones, such as a library's label."""

    @property
    def for_new(self) -> Engine:
        """The engine for a conversation that begins now."""


class Pins:
    """Serves each conversation from the state that the policy chooses, while the files change.

    The provider caches a prefix only while the system prompt stays the same, which is why agent files default to
    `next-conversation`.

    The most recent states are kept in memory, and all of them in the watcher's states folder, including those of
    other processes that share it. A conversation whose state is missing or no longer usable is served from the
    newest state, and the reason says so. Thread-safe.
    """

    @checked
    def __init__(
        self, watcher: EngineSource, policy: ReloadPolicy | None = None, keep: Annotated[int, Ge(1)] = 16
    ) -> None:
        """Follow a watcher.

        Args:
            watcher: the return value of `cuecard.watch`.
            policy: overrides the agent file's `reload`.
            keep: the number of engines kept in memory.

        Raises:
            InputError: with every argument that is wrong.
        """
        self._watcher, self._policy = watcher, policy
        # Its class is asked, since the property itself may raise.
        self._refusing = cast("_RefusingSource", watcher) if hasattr(type(watcher), "for_new") else None
        self._engines = Earlier(watcher.states, self._make, watcher.home, keep)

    @property
    def current(self) -> Engine:
        """The engine of the newest good state, which serves new conversations."""
        return self._watcher.current

    @checked
    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> ServedEngine:
        """The engine for the next call of a conversation, or for the next step of `call`.

        When it is not the one that prepared `call` (compare `call.configuration.sha256`), prepare the call anew.
        If the engine is not in memory, it is built first: that takes as long as opening the agent, and only callers
        that ask for this state wait.

        Args:
            previous: the conversation's previous call; None for a new conversation.
            call: the running call; None at its start.

        Raises:
            InputError: with every argument that is wrong.
        """
        is_new = previous is None and call is None
        current = self._refusing.for_new if is_new and self._refusing else self._watcher.current
        self._engines.add(current.agent.sha256, current)
        self._watcher.states.use(current.agent.sha256)
        served = self._choose(current, previous, call)
        changed = _changed(served, call or previous, within=call is not None)
        return replace(served, changed=changed) if changed else served

    @checked
    async def aserve(self, *, previous: Call | None = None, call: Call | None = None) -> ServedEngine:
        """Like `serve`, without blocking the event loop while an engine is created."""
        asked = [each.configuration.sha256 for each in (previous, call) if each]
        if all(digest in self._engines for digest in asked):
            return self.serve(previous=previous, call=call)
        return await asyncio.to_thread(self.serve, previous=previous, call=call)

    def _choose(self, current: Engine, previous: Call | None, call: Call | None) -> ServedEngine:
        policy = _in_force(self._policy or current.reload, current, call or previous)
        if policy == "now":
            return ServedEngine(current, policy, "the newest state")
        if call:
            return self._pinned(policy, current, call, "prepared this call")
        if previous is None or policy == "next-call":
            return ServedEngine(current, policy, "the newest state when this call started")
        return self._pinned(policy, current, previous, "this conversation started with")

    def _pinned(self, policy: ReloadPolicy, current: Engine, call: Call, what: str) -> ServedEngine:
        """The engine that prepared a call; the newest if that one is no longer available."""
        try:
            engine = self._engines.find(call.configuration.sha256)
        except NoState as missing:
            return ServedEngine(current, policy, f"the newest state: the one that {what} {missing.reason}")
        return ServedEngine(engine, policy, f"the state that {what}")

    def _make(self, sources: AgentSources) -> Engine:
        """An engine from the folder, if it belongs to the call: a folder may hold several agents."""
        engine = self._watcher.remake(sources)
        if engine.name != self._watcher.current.name:
            raise NoState("belongs to another agent")
        return engine


def _in_force(policy: ReloadPolicy, current: Engine, call: Call | None) -> ReloadPolicy:
    """The effective policy.

    Under `rewrite`, there is no long-lived prefix to keep, so `next-conversation` becomes `next-call`.
    """
    rewrites = call.delivery.rebuilds if call else current.delivery == "rewrite"
    return "next-call" if rewrites and policy == "next-conversation" else policy


def _changed(served: ServedEngine, before: Call | None, *, within: bool) -> str:
    """The manifest's entry for a change, with fingerprints that are salted if its others are."""
    engine = served.engine
    if before is None or before.configuration.sha256 == engine.agent.sha256:
        return ""
    old, new = (salted(each, engine.salt)[:12] for each in (before.configuration.sha256, engine.agent.sha256))
    when = "within a run" if within else "with this call"
    told = f"configuration {new} instead of {old} {when}, and earlier text is replaced"
    return f"{served.policy}: {told}: {served.reason}"
