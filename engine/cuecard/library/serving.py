"""Engines of a library from a cache: whoever asks does not wait for a database that is slow or away.

A label is asked again in the background after half of its lifetime, and waited for only when the lifetime is over. When
the database does not answer, the last good engine serves, and its manifests say since when.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from heapq import nsmallest
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from cuecard.config.documents.sources import AgentSources
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, LibraryError, Problem
from cuecard.files.clock import utc_now
from cuecard.library.folders import exported_file, read_folder
from cuecard.library.store import Store
from cuecard.library.versions import Reference
from cuecard.model.prompt import LibraryOrigin
from cuecard.records import dataclass

Removed: TypeAlias = Literal["refuse", "serve"]
"""What new conversations get when a label was removed: an error, or the last version that it pointed to."""

_PATIENCE = 0.5
"""Seconds that a caller waits for a label whose lifetime is over, before it gets the last good engine."""

_BACKOFF = (0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts while the database is away; the last one is repeated."""

_SHUT = 2.0
"""Seconds for which nobody waits for a database that has just failed to answer."""

_log = logging.getLogger(__name__)
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class ServingOptions:
    """How engines are cached.

    Attributes:
        lifetime: seconds after which a label is asked again.
        most: how many engines are kept.
        removed: what new conversations get when a label was removed.
        fallback: an exported folder, which serves where the database was never reached.
        timeout: seconds to wait for the first engine.
    """

    lifetime: float = 60.0
    most: int = 200
    removed: Removed = "refuse"
    fallback: Path | None = None
    timeout: float = 5.0


@dataclass(frozen=True, slots=True)
class LabelState:
    """What a label pointed to when it was last asked.

    Attributes:
        engine: the engine, with what its manifests say of the library.
        asked: when, by the monotonic clock.
        change: how many changes of the agent by this process were known then, and how much news of others.
        failures: how many attempts have failed since.
        retry: when to try again, by the monotonic clock.
        number: how often it has changed since: another version, stale, removed, or well again.
        since: when this version began to serve.
    """

    engine: Engine
    asked: float
    change: tuple[int, int]
    failures: int = 0
    retry: float = 0.0
    number: int = 0
    since: datetime = field(default_factory=utc_now)

    @property
    def origin(self) -> LibraryOrigin:
        """What its manifests say of the library."""
        return self.engine.agent.library or LibraryOrigin(0)


class Engines:
    """The engines of a library, by version and label; thread-safe, without locks that a fork could leave held."""

    def __init__(self, store: Store, make: Callable[[AgentSources], Engine], options: ServingOptions) -> None:
        """Nothing is loaded yet.

        Args:
            store: where versions are.
            make: builds an engine, from any thread.
            options: how they are cached.
        """
        self._store, self._make, self._options = store, make, options
        self._versions: dict[tuple[str, int], Engine] = {}
        self._ages: dict[tuple[str, int], int] = {}
        self._labels: dict[tuple[str, str], LabelState] = {}
        self._changes: dict[str, int] = {}
        self._news: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._tasks: dict[tuple[int, Reference], Future[Engine | LabelState]] = {}
        self._catching_up: dict[int, threading.Thread] = {}
        self._listeners: list[tuple[Reference, Callable[[LabelState], object]]] = []
        self._seen: dict[tuple[str, str], int] = {}
        self._away: tuple[float, LibraryError] | None = None
        self._now = itertools.count()

    @property
    def polls(self) -> bool:
        """Whether changes of others are looked for, and not reported."""
        return self._store.database.is_sqlite

    def get(self, reference: Reference) -> Engine:
        """The engine for a new conversation.

        Raises:
            InputError: when there is no such version or label, or the label was removed.
            LibraryError: when the database does not answer, and there is no engine yet.
        """
        if reference.number:
            return self._version(reference)
        held = self.held(reference)
        if held.origin.removed and self._options.removed == "refuse":
            told = f"`{reference.agent}` no longer has the label `{reference.label}`"
            hint = "label a version again; conversations that have begun keep theirs"
            raise InputError(Problem("unknown-label", told, hint, "library"))
        return held.engine

    def held(self, reference: Reference) -> LabelState:
        """The last good engine of a label, asked for anew when its lifetime is over.

        Raises:
            InputError: when there is no such label.
            LibraryError: when the database does not answer, and there is no engine yet.
        """
        key = (reference.agent, reference.label)
        held = self._labels.get(key)
        if held is None:
            return self._first(reference)
        self._seen[key] = next(self._now)
        due, patience = self._due(reference, held)
        if not due:
            return held
        begun, task = time.monotonic(), self._begin(reference)
        if not patience:
            return held
        for _ in range(2):  # what another caller has begun to load may be older than the last change, or a lifetime
            with suppress(TimeoutError):
                task.result(patience)
            if not task.done():
                self._failed(reference, "it does not answer")
                break
            held = self._labels.get(key, held)
            oldest = begun - self._options.lifetime
            if held.failures or (held.change[0] == self._known(reference.agent)[0] and held.asked >= oldest):
                break
            task = self._begin(reference)
        return self._labels.get(key, held)

    def peek(self, reference: Reference) -> LabelState | None:
        """What a label pointed to when it was last asked, without waiting; one that is due is asked again."""
        held = self._labels.get((reference.agent, reference.label))
        if held is not None and self._due(reference, held)[0]:
            self._begin(reference)
        return held

    def listen(self, reference: Reference, listener: Callable[[LabelState], object]) -> Callable[[], None]:
        """Call the listener whenever what a label serves changes; the function that is returned ends that."""
        entry = (reference, listener)
        self._listeners.append(entry)

        def forget() -> None:
            with suppress(ValueError):
                self._listeners.remove(entry)

        return forget

    def of_configuration(self, agent: str, digest: str) -> AgentSources | None:
        """The texts of the newest version with this fingerprint.

        Raises:
            LibraryError: when the database does not answer.
        """
        self._refuse_away()
        found = self._store.of_configuration(agent, digest)
        if found is None:
            return None
        self._numbers[digest] = found[0].number
        for oldest in list(self._numbers)[: -self._options.most]:
            self._numbers.pop(oldest, None)
        return found[1].sources

    def make(self, agent: str, sources: AgentSources) -> Engine:
        """The engine of texts: one that is there, or a new one."""
        number = self._numbers.get(sources.sha256())
        engine = self._versions.get((agent, number)) if number else None
        made = engine or self._make(sources)
        return made if engine or not number else _with(made, LibraryOrigin(number))

    def expire(self, agent: str) -> None:
        """This process has changed an agent: its labels are asked again before they serve."""
        self._changes[agent] = self._changes.get(agent, 0) + 1
        self._away = None
        for key, held in list(self._labels.items()):
            if key[0] == agent and held.failures:
                self._labels[key] = replace(held, failures=0, retry=0.0)

    def hear(self, agent: str) -> None:
        """Another process has changed an agent, or any if none is named: labels are asked again in the background."""
        for name in {name for name, _ in list(self._labels)}:
            if agent in {"", name}:
                self._news[name] = self._news.get(name, 0) + 1
        self._catch_up()

    def doubt(self) -> None:
        """The database may be away: labels that are served as if it were there are asked again in the background."""
        for name in {name for (name, _), held in list(self._labels.items()) if not held.failures}:
            self._news[name] = self._news.get(name, 0) + 1
        self._catch_up()

    def _catch_up(self) -> None:
        """One thread asks for all labels of which there is news, however much there is."""
        if self._behind():
            thread = threading.Thread(target=self._follow, name="cuecard-library-follow", daemon=True)
            if self._catching_up.setdefault(os.getpid(), thread) is thread:
                thread.start()

    def _follow(self) -> None:
        try:
            while behind := self._behind():
                self._ask_all(behind)
        except Exception:  # noqa: BLE001 - logged; what serves goes on, and is asked again when its lifetime is over
            _log.exception("news of the library could not be followed")
            return
        finally:
            self._catching_up.pop(os.getpid(), None)
        self._catch_up()  # of news that came at the very end

    def _behind(self) -> list[Reference]:
        held = list(self._labels.items())
        return [Reference(*key) for key, each in held if each.change[1] != self._known(key[0])[1]]

    def _ask_all(self, behind: list[Reference]) -> None:
        """Ask where labels point, in one statement, and load what has moved."""
        asked, known = time.monotonic(), {each: self._known(each.agent) for each in behind}
        try:
            points = self._store.points({each.agent for each in behind})
        except CuecardError as error:
            for each in behind:
                self._failed(each, error.problems[0].message)
            return
        self._away = None
        for each in behind:
            held = self._labels.get((each.agent, each.label))
            if held is None:
                continue
            number, fingerprint = points.get((each.agent, each.label), (0, ""))
            if held.origin == LibraryOrigin(number, each.label) and held.engine.agent.sha256 == fingerprint:
                change = (held.change[0], known[each][1])
                self._put(each, replace(held, asked=asked, change=change, failures=0, retry=0.0))
            else:
                with suppress(Exception):  # whoever asks for it is told
                    self._begin(each).result()

    def drain(self, seconds: float) -> None:
        """Wait for what is being loaded, so that its connections can be closed."""
        end = time.monotonic() + seconds
        if thread := self._catching_up.get(os.getpid()):
            thread.join(seconds)
        for task in list(self._tasks.values()):
            with suppress(Exception):  # whoever asked is told
                task.result(max(0.0, end - time.monotonic()))

    def _known(self, agent: str) -> tuple[int, int]:
        """How many changes are known: by this process, and by others."""
        return self._changes.get(agent, 0), self._news.get(agent, 0)

    def _due(self, reference: Reference, held: LabelState) -> tuple[bool, float]:
        """Whether a label is to be asked again, and for how many seconds its callers wait for that."""
        now, (change, heard) = time.monotonic(), self._known(reference.agent)
        changed, age = held.change[0] != change, now - held.asked
        if now < held.retry:
            return False, 0.0
        due = changed or bool(held.failures) or held.change[1] != heard or age >= self._options.lifetime / 2
        if held.failures or not (changed or age >= self._options.lifetime):
            return due, 0.0
        return due, self._options.timeout if changed else _PATIENCE

    def _put(self, reference: Reference, held: LabelState) -> LabelState:
        """Serve this from now on, and tell those who follow the label, if it is another."""
        key = (reference.agent, reference.label)
        before = self._labels.get(key)
        made, changed = held, before is not None and before.engine is not held.engine
        if before is not None:
            same = before.engine.agent.sha256 == held.engine.agent.sha256
            since = before.since if same else utc_now()
            made = replace(held, number=before.number + changed, since=since)
        self._labels[key] = made
        self._seen.setdefault(key, next(self._now))
        for oldest in self._beyond(self._labels, self._seen):
            self._labels.pop(oldest, None)
            self._seen.pop(oldest, None)
        for followed, listener in tuple(self._listeners) if changed else ():
            if followed == reference:
                try:
                    listener(made)
                except BaseException:  # noqa: BLE001 - logged; other people's code ends nothing here, nor does `sys.exit`
                    _log.exception("a callback failed")
        return made

    def _refuse_away(self) -> None:
        """Let nobody wait for a database that has just failed: the few threads of a service are for what is cached."""
        if (away := self._away) and time.monotonic() < away[0]:
            raise LibraryError(away[1].problems)

    def _version(self, reference: Reference) -> Engine:
        key = (reference.agent, reference.number)
        engine = self._versions.get(key)
        if engine is None:
            made = self._asked(reference)
            engine = made.engine if isinstance(made, LabelState) else made
        self._ages[key] = next(self._now)
        return engine

    def _first(self, reference: Reference) -> LabelState:
        try:
            made = self._asked(reference)
        except LibraryError as error:
            if self._options.fallback is None:
                raise
            _log.warning("an exported folder serves %s: %s", reference, error.problems[0].message)
            return self._fall_back(reference, self._options.fallback)
        return made if isinstance(made, LabelState) else self._labels[reference.agent, reference.label]

    def _asked(self, reference: Reference) -> Engine | LabelState:
        self._refuse_away()
        try:
            return self._begin(reference).result(self._options.timeout)
        except TimeoutError:
            told = f"the database did not answer within {self._options.timeout:g} s"
            hint = "check that it runs; `fallback` names an exported folder that serves meanwhile"
            error = LibraryError(Problem("library-away", told, hint, str(self._store.database)))
            self._away = (time.monotonic() + _SHUT, error)
            raise error from None

    def check_fallback(self) -> None:
        """Make what serves where the database was never reached: not only then it is told to be missing.

        Raises:
            InputError: when its folder was edited since it was exported.
            SpecError: with everything that is wrong in it.
        """
        if self._options.fallback is not None:
            self._exported(self._options.fallback)

    def _exported(self, folder: Path) -> Engine:
        return self._make(read_folder(exported_file(folder)).sources)

    def _fall_back(self, reference: Reference, folder: Path) -> LabelState:
        engine = self._exported(folder)
        if engine.name != reference.agent:
            told = f"the folder to fall back on has the agent `{engine.name}`, not `{reference.agent}`"
            raise InputError(Problem("unknown-agent", told, "export that agent", "fallback"))
        origin = LibraryOrigin(0, reference.label, _time())
        held = LabelState(_with(engine, origin), float("-inf"), (-1, -1), 1, time.monotonic() + _BACKOFF[0])
        return self._labels.get((reference.agent, reference.label)) or self._put(reference, held)

    def _begin(self, reference: Reference) -> Future[Engine | LabelState]:
        """The load of a version or a label: one at a time, however many ask."""
        mine: Future[Engine | LabelState] = Future()
        task = self._tasks.setdefault((os.getpid(), reference), mine)
        if task is mine:
            name = f"cuecard-library-{reference}"
            threading.Thread(target=self._run, args=(reference, mine), name=name, daemon=True).start()
        return task

    def _run(self, reference: Reference, task: Future[Engine | LabelState]) -> None:
        made: Engine | LabelState | None = None
        failed: CuecardError | None = None
        known = self._known(reference.agent)
        try:
            made = self._load(reference)
        except BaseException as error:  # noqa: BLE001 - handed to those who wait; the last good engine serves others
            failed = self._refused(reference, error, known)
        self._tasks.pop((os.getpid(), reference), None)
        if made is not None:
            task.set_result(made)
            self._catch_up()  # of news that came while it was asked
        elif failed is None:
            task.set_result(self._labels[reference.agent, reference.label])
        else:
            task.set_exception(failed)

    def _load(self, reference: Reference) -> Engine | LabelState:
        if reference.number:
            return self._built(reference)
        asked, change = time.monotonic(), self._known(reference.agent)
        version = self._store.find(reference)
        origin = LibraryOrigin(version.number, reference.label)
        key = (reference.agent, reference.label)
        number, before = (reference.agent, version.number), self._labels.get(key)
        kept = self._versions.get(number)
        if kept is not None and kept.agent.sha256 != version.configuration:
            self._versions.pop(number, None)  # a database that was restored from a copy gives numbers again
        if before is not None and before.origin == origin and before.engine.agent.sha256 == version.configuration:
            engine = before.engine
        else:
            engine = _with(self._built(Reference(reference.agent, "", version.number)), origin)
        self._away = None
        return self._put(reference, LabelState(engine, asked, change))

    def _built(self, reference: Reference) -> Engine:
        """The engine of a version, from the cache or made of its content."""
        key = (reference.agent, reference.number)
        engine = self._versions.get(key)
        if engine is None:
            _, content = self._store.load(reference)
            engine = _with(self._make(content.sources), LibraryOrigin(reference.number))
            self._versions[key] = engine
        self._ages[key] = next(self._now)
        for oldest in self._beyond(self._versions, self._ages):
            self._versions.pop(oldest, None)
            self._ages.pop(oldest, None)
        return engine

    def _beyond(self, kept: Mapping[_Key, object], used: Mapping[_Key, int]) -> list[_Key]:
        """The keys that were not used for longest, of those that are too many."""
        keys = list(kept)  # others write meanwhile
        return nsmallest(len(keys) - self._options.most, keys, key=lambda each: used.get(each, 0))

    def _refused(self, reference: Reference, error: BaseException, known: tuple[int, int]) -> CuecardError | None:
        """What those who wait are told; None where the last good engine serves them."""
        if not isinstance(error, CuecardError):
            _log.error("a version could not be loaded", exc_info=error)
            message = f"{type(error).__name__}: {error}"
            error = LibraryError(Problem("library-away", message, "see the log of this process", "library"))
        if isinstance(error, LibraryError):
            self._away = (time.monotonic() + _SHUT, error)
        held = self._labels.get((reference.agent, reference.label))
        if held is None or reference.number:
            return error
        if isinstance(error, InputError):
            self._removed(reference, held, known)
        else:
            self._failed(reference, error.problems[0].message)
        return None

    def _removed(self, reference: Reference, held: LabelState, known: tuple[int, int]) -> None:
        """The label is gone, as far as changes are `known`: another thing than a database that is away."""
        origin = replace(held.origin, removed=True, stale_since=held.origin.stale_since or _time())
        if not held.origin.removed:
            _log.warning("%s was removed; version %d was the last", reference, origin.version)
        engine = held.engine if origin == held.origin else _with(held.engine, origin)
        self._put(reference, LabelState(engine, time.monotonic(), known))

    def _failed(self, reference: Reference, why: str) -> None:
        """The database is away: what was good serves on, and says so once its lifetime is over."""
        held = self._labels.get((reference.agent, reference.label))
        if held is None:
            return
        origin, engine = held.origin, held.engine
        if not origin.stale_since:
            _log.warning("%s is stale, version %d serves on: %s", reference, origin.version, why)
            engine = _with(engine, replace(origin, stale_since=_time()))
        pause = _BACKOFF[min(held.failures, len(_BACKOFF) - 1)]
        change, retry = (held.change[0], self._known(reference.agent)[1]), time.monotonic() + pause
        self._put(reference, replace(held, engine=engine, change=change, failures=held.failures + 1, retry=retry))


def _with(engine: Engine, origin: LibraryOrigin) -> Engine:
    return replace(engine, agent=replace(engine.agent, library=origin))


def _time() -> str:
    return utc_now().isoformat(timespec="seconds")
