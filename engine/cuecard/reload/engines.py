"""Hot reload: an engine that follows its files, and which state serves a conversation that began before a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from cuecard.agent import Agent, build_agent
from cuecard.agent.memo import Memo
from cuecard.config.documents.texts import AgentSources
from cuecard.engine import Engine
from cuecard.model import Call, Clock, DeliveryWish, ReloadPolicy, Turn
from cuecard.outside.clock import utc_now
from cuecard.outside.rankers.code import AnyRanker
from cuecard.outside.rankers.opening import SearchWish
from cuecard.outside.rankers.search import Search
from cuecard.outside.tokens import TokenCounter, bundled_counter
from cuecard.reload.files import AgentFiles
from cuecard.reload.last_good import LastGood, user_folder
from cuecard.reload.settle import Pace
from cuecard.reload.watcher import Watcher

Policy: TypeAlias = ReloadPolicy
"""The cached start of a request lasts as long as the system prompt does, so the default is `next-conversation`."""


def watch(
    path: str | Path,
    *,
    delivery: DeliveryWish | None = None,
    clock: Clock = utc_now,
    salt: str = "",
    ready: Callable[[Engine], Engine] | None = None,
    state: str | Path | None = None,
    pace: Pace | None = None,
    ranker: AnyRanker | None = None,
    allow_code: bool = False,
    cache: str | Path | bool = True,
) -> Watcher[Engine]:
    """The engine of the agent at `path`, kept up to date while its files change.

    Args:
        path: the agent file, or a folder with `agent.yaml`.
        delivery: overrides the agent file's `delivery`.
        clock: asked for the time when a turn does not say.
        salt: as for `Engine.open`; what `Status` tells is never salted.
        ready: what to do with each new engine before it serves, such as `lambda engine: engine.with_tools(cards)`.
        state: the folder that keeps the last good state for a restart; without it, the user's state folder.
        pace: how patient to be with files that are being written.
        ranker: as for `Engine.open`.
        allow_code: likewise; a module that has been imported stays as it is when its file changes.
        cache: likewise.

    Raises:
        SpecError: with every problem, when the files are broken and no last good state is known.
    """
    files = AgentFiles(path)
    last_good = LastGood(user_folder() if state is None else Path(state), files.agent)
    wish, folder = SearchWish(ranker, allow_code, cache), files.agent.parent

    def search(agent: Agent) -> Search:
        return wish.open(agent.ranker, folder)

    return Watcher(files, _Maker(delivery, clock, salt, ready, search), last_good, pace)


class _Maker:
    """Makes engines of texts; what has not changed since the last one is neither compiled nor counted again."""

    def __init__(
        self,
        delivery: DeliveryWish | None,
        clock: Clock,
        salt: str,
        ready: Callable[[Engine], Engine] | None,
        search: Callable[[Agent], Search],
    ) -> None:
        self._delivery, self._clock, self._salt, self._ready, self._search = delivery, clock, salt, ready, search
        self._memo = Memo()
        self._counter: TokenCounter | None = None

    def __call__(self, sources: AgentSources) -> Engine:
        agent = build_agent(sources, self._memo)
        delivery = self._delivery or agent.spec.delivery
        count = self._count(agent.spec.tokens.encoding)
        engine = Engine(agent, delivery, count, self._clock, self._salt, self._search(agent))
        engine = self._ready(engine) if self._ready else engine
        self._memo.forget_unused()
        return engine

    def _count(self, encoding: str) -> TokenCounter:
        if self._counter is None or self._counter.source.encoding != encoding:
            self._counter = bundled_counter(encoding)
        return self._counter


@dataclass(frozen=True, slots=True)
class Served:
    """The engine for a call or a step; the policy in force, and why it is this engine, for the manifest."""

    engine: Engine
    policy: Policy
    reason: str

    def turn(self, turn: Turn) -> Turn:
        """The turn with the policy in force, which the manifest then names."""
        return replace(turn, reload=self.policy)


class Pins:
    """Gives each conversation the state that the policy says, while the files change.

    It keeps the newest states that have served; a conversation whose state is gone (after a restart, or after many
    changes) is served from the newest, and the reason says so.
    """

    def __init__(self, watcher: Watcher[Engine], policy: Policy | None = None, keep: int = 16) -> None:
        """Follow a watcher; without a policy, by the one of the agent file (`reload`)."""
        self._watcher, self._policy, self._keep = watcher, policy, keep
        self._states: dict[str, Engine] = {}

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> Served:
        """The engine for the next call of a conversation, or for the next step of `call`.

        When it is not the one that prepared `call` (compare `call.configuration.sha256`), prepare the call anew.

        Args:
            previous: the conversation's call before this one; None for a new conversation.
            call: the running call; None at its start.
        """
        current = self._watcher.current
        self._states.setdefault(current.agent.sha256, current)
        for oldest in list(self._states)[: -self._keep]:
            self._states.pop(oldest, None)
        before = self._states.get(previous.configuration.sha256) if previous else current
        running = self._states.get(call.configuration.sha256) if call else None
        return choose(self._policy or current.agent.spec.reload, current, before=before, running=running)


def choose(policy: Policy, current: Engine, *, before: Engine | None, running: Engine | None) -> Served:
    """Which state serves: a pure function.

    Under `rewrite` delivery there is no long-lived start of a request to keep, so `next-conversation` is `next-call`.

    Args:
        policy: the wish.
        current: the newest good state.
        before: the state that the conversation has been served from; None when it is no longer kept.
        running: the state that prepared the running call; None at the start of a call, or when no longer kept.
    """
    delivery = (running or before or current).delivery
    in_force = "next-call" if policy == "next-conversation" and delivery == "rewrite" else policy
    if in_force == "now":
        return Served(current, in_force, "the newest state")
    if running:
        return Served(running, in_force, "the state that prepared this call")
    if in_force == "next-call":
        return Served(current, in_force, "the newest state when this call began")
    if before:
        return Served(before, in_force, "the state that this conversation began with")
    return Served(current, in_force, "the newest state: the one that this conversation began with is no longer kept")
