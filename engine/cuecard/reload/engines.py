"""Hot reload: an engine that follows its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from pydantic import SkipValidation

from cuecard.agent import Agent, build_agent
from cuecard.agent.host_functions import LoadHelpers
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources
from cuecard.engine import Engine
from cuecard.files.clock import utc_now
from cuecard.files.content import find_agent
from cuecard.files.host_code import AnyRanker, helper_loader
from cuecard.files.rankers.choice import Search, SearchWish
from cuecard.files.tokens import TokenCounter, bundled_counter
from cuecard.model import Clock, DeliveryWish
from cuecard.model.boundary import FilledText, checked
from cuecard.model.signed_text import check_key
from cuecard.records import dataclass
from cuecard.reload.files import AgentFiles
from cuecard.reload.keeper import LastGood
from cuecard.reload.settle import Pace
from cuecard.reload.states import States, user_folder
from cuecard.reload.watcher import Watcher


@checked
def watch(
    path: FilledText | Path,
    *,
    delivery: DeliveryWish | None = None,
    clock: Clock = utc_now,
    salt: str = "",
    key: str = "",
    ready: Callable[[Engine], Engine] | None = None,
    states: States | FilledText | Path | None = None,
    pace: Pace | None = None,
    ranker: SkipValidation[AnyRanker | None] = None,
    allow_code: bool = False,
    cache: FilledText | Path | bool = True,
) -> Watcher[Engine]:
    """The engine of the agent at `path`, kept up to date while its files change.

    Args:
        path: as for `Engine.open`.
        delivery: overrides the agent file's `delivery`.
        clock: asked for the time when a turn does not say.
        salt: as for `Engine.open`; `Status` is never salted.
        key: as for `Engine.open`.
        ready: a function applied to each new engine before it serves, such as `lambda engine:
            engine.with_tools(cards)`; also to engines of earlier states, and then from any thread. A state for which
            it raises is refused, and tried again every `pace.sweep` seconds.
        states: the folder that keeps every state that has served, or a `States` with your own limits; by default the
            user's state folder. Processes that share it can continue each other's conversations.
        pace: how long to wait for files that are being written.
        ranker: as for `Engine.open`.
        allow_code: as for `Engine.open`; an imported module is not reloaded when its file changes.
        cache: as for `Engine.open`.

    Raises:
        InputError: with every argument that is wrong, or when the key is too short.
        SpecError: with every problem, when the files are broken and no last good state is known.
    """
    check_key(key)
    files = AgentFiles(find_agent(path))
    kept = states if isinstance(states, States) else States(user_folder() if states is None else states)
    wish = SearchWish(ranker, allow_code, cache)
    load = helper_loader(allow_code=allow_code)
    search = lambda agent: wish.open(agent.ranker)  # noqa: E731 - it is handed on at once
    maker = EngineMaker(delivery, clock, Secrets(salt, key), ready, search, load)
    return Watcher(files, maker, LastGood(kept, files.agent), pace, remake=maker.apart)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The salt and key of an engine."""

    salt: str = field(repr=False)
    key: str = field(repr=False)


class EngineMaker:
    """Builds engines from texts; whatever is unchanged since the last one is not compiled or counted again."""

    def __init__(
        self,
        delivery: DeliveryWish | None,
        clock: Clock,
        secrets: Secrets,
        ready: Callable[[Engine], Engine] | None,
        search: Callable[[Agent], Search],
        load: LoadHelpers,
    ) -> None:
        self._delivery, self._clock, self._secrets, self._ready = delivery, clock, secrets, ready
        self._search, self._load = search, load
        self._memo = Memo()
        self._counter: TokenCounter | None = None

    def __call__(self, sources: AgentSources) -> Engine:
        """The engine of the current files, from one thread."""
        engine = self._make(sources, self._memo)
        self._memo.forget_unused()
        return engine

    def apart(self, sources: AgentSources) -> Engine:
        """The engine of an earlier state: callable from any thread, and independent of the current files."""
        return self._make(sources, Memo())

    def _make(self, sources: AgentSources, memo: Memo) -> Engine:
        agent = build_agent(sources, memo, self._load, bundled_counter)
        delivery = self._delivery or agent.spec.delivery
        count, secrets = self._count(agent.spec.tokens.encoding), self._secrets
        engine = Engine(agent, delivery, count, self._clock, secrets.salt, secrets.key, self._search(agent))
        return self._ready(engine) if self._ready else engine

    def _count(self, encoding: str) -> TokenCounter:
        counter = self._counter
        if counter is None or counter.source.encoding != encoding:
            self._counter = counter = bundled_counter(encoding)
        return counter
