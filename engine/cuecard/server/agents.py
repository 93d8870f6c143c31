"""The agents of a service: opened, followed, described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cuecard.config.agent_file import InputSpec
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, LibraryError, Problem, SpecError, did_you_mean
from cuecard.model import Json
from cuecard.reload.engines import watch
from cuecard.reload.keeper import Status
from cuecard.reload.pins import Pins
from cuecard.reload.settle import Pace
from cuecard.reload.watcher import Watcher
from cuecard.server.problems import API

if TYPE_CHECKING:
    from cuecard.library.library import Library

Open = Callable[..., Watcher[Engine]]
"""As `cuecard.watch`, with everything but the agent and `ready` bound."""


class Follower(Protocol):
    """What follows the files of an agent, or a label of a library."""

    @property
    def current(self) -> Engine:
        """The engine of the newest good state."""

    @property
    def status(self) -> Status:
        """What is served; nobody waits for it."""

    def stop(self) -> None:
        """Follow no longer."""


@dataclass(frozen=True, slots=True)
class ServedAgent:
    """One agent: its name in requests, its watcher, and its pins, which choose a state for each conversation."""

    name: str
    watcher: Follower
    pins: Pins

    @property
    def status(self) -> Status:
        """What is being served, and what was refused."""
        return self.watcher.status

    @property
    def stale(self) -> bool:
        """Whether the files, or what the label points to, may differ from what is being served."""
        status = self.status
        return status.refused is not None or status.restored or bool(status.stale_since)


class Agents:
    """The agents of a service."""

    def __init__(self, served: Sequence[ServedAgent]) -> None:
        self._served: Mapping[str, ServedAgent] = {each.name: each for each in served}

    def __iter__(self) -> Iterator[ServedAgent]:
        return iter(self._served.values())

    def find(self, name: str) -> ServedAgent:
        """The agent with this name; for an empty name, the only agent.

        Raises:
            InputError: when there is none.
        """
        found = next(iter(self)) if not name and len(self._served) == 1 else self._served.get(name)
        if found is None:
            told = f"no agent `{name}` is served here" if name else "several agents are served here; name one"
            raise InputError(Problem("unknown-agent", told, did_you_mean(name, self._served), "agent"))
        return found

    def name_of(self, name: str) -> str:
        """The name of the agent itself, without a label: to it, conversations belong.

        Raises:
            InputError: when there is none.
        """
        return self.find(name).name

    def of_conversation(self, name: str, _version: int) -> ServedAgent:
        """The agent for a conversation that has begun with this version of a library; 0 for none.

        Raises:
            InputError: when there is none.
        """
        return self.find(name)

    def stop(self) -> None:
        """Stop following files; the current state keeps serving."""
        for each in self:
            each.watcher.stop()


class LibraryAgents(Agents):
    """The agents of a library, followed from when they are first asked for: `NAME`, `NAME@LABEL` or `NAME@NUMBER`."""

    def __init__(self, library: Library, names: Sequence[str] = (), most: int = 200) -> None:
        """Serve these names, or every one that the library has; at most so many are followed at a time.

        Raises:
            InputError: when a name stands for nothing.
            LibraryError: when the database does not answer.
        """
        super().__init__(())
        self._library, self._most, self._by_name = library, most, dict[str, ServedAgent]()
        self._names = {self._canonical(name) for name in names}
        self._known: set[str] = set()
        for name in sorted(self._names):
            self._followed(name)

    def __iter__(self) -> Iterator[ServedAgent]:
        return iter(list(self._by_name.values()))

    def find(self, name: str) -> ServedAgent:
        """The agent with this name, as in a library; for an empty name, the only one."""
        found = self._canonical(name or self._only())
        if self._names and found not in self._names:
            told = f"no agent `{found}` is served here"
            raise InputError(Problem("unknown-agent", told, did_you_mean(found, self._names), "agent"))
        return self._followed(found)

    def name_of(self, name: str) -> str:
        """The name of the agent itself, without a label: to it, conversations belong."""
        return self._canonical(name or self._only()).partition("@")[0]

    def of_conversation(self, name: str, version: int) -> ServedAgent:
        """The agent for a conversation; one whose label was removed since goes on with its version, in any replica."""
        try:
            return self.find(name)
        except InputError as error:
            if not version or error.problems[0].code != "unknown-label":
                raise
            return self._followed(f"{self.name_of(name)}@{version}")

    def _canonical(self, name: str) -> str:
        from cuecard.library.versions import read_reference  # noqa: PLC0415 - only a library needs its extra

        return str(read_reference(name))

    def _only(self) -> str:
        names = self._names or self._known
        try:
            names = self._names or {f"{agent}@production" for agent in self._library.agents()}
        except LibraryError:  # who asked before goes on
            if not names:
                raise
        self._known = names
        if len(names) != 1:
            raise InputError(Problem("unknown-agent", "several agents are served here; name one", "", "agent"))
        return next(iter(names))

    def stop(self) -> None:
        """Stop following labels, and close the connections."""
        super().stop()
        self._library.close()

    def _followed(self, name: str) -> ServedAgent:
        served = self._by_name.pop(name, None)
        if served is None:
            watcher = self._library.watch(name)
            served = ServedAgent(name, watcher, Pins(watcher, keep=4))
        self._by_name[name] = served  # the last in use goes last
        for oldest in list(self._by_name)[: -self._most]:
            if dropped := self._by_name.pop(oldest, None):
                dropped.watcher.stop()
        return served


def open_agents(
    paths: Sequence[Path],
    opened: Open = watch,
    *,
    pace: Pace | None = None,
    instrument: Callable[[Engine], Engine] = lambda engine: engine,
) -> Agents:
    """The agents at these paths; `instrument` gets every engine before it serves.

    Raises:
        SpecError: with every problem of every broken agent that has no last good state.
        InputError: when two have the same name.
    """
    served: list[ServedAgent] = []
    wrong: list[Problem] = []
    for path in paths:
        try:
            watcher = opened(path, ready=_Ready(instrument), pace=pace)
        except SpecError as error:
            wrong += error.problems
        else:
            served.append(ServedAgent(watcher.current.name, watcher, Pins(watcher)))
    try:
        if wrong:
            raise SpecError(wrong)
        _refuse_equal_names(served)
    except CuecardError:
        for each in served:  # two paths may hold agents of the same name
            each.watcher.stop()
        raise
    return Agents(served)


def _refuse_equal_names(served: Sequence[ServedAgent]) -> None:
    names = Counter(each.name for each in served)
    hint = "serve each agent once, or give one another name in its `agent:`"
    if wrong := [name for name, times in names.items() if times > 1]:
        raise InputError(Problem("duplicate-agent", f"{names[n]} agents are named `{n}`", hint, "AGENT") for n in wrong)


class _Ready:
    """Prepare an engine before it serves: check that its name is unchanged, and build what requests would wait for."""

    def __init__(self, instrument: Callable[[Engine], Engine]) -> None:
        self._name, self._instrument = "", instrument

    def __call__(self, engine: Engine) -> Engine:
        self._name = self._name or engine.name
        if engine.name != self._name:
            told = f"the agent is now named `{engine.name}`, but clients know it as `{self._name}`"
            raise SpecError(Problem("renamed-agent", told, "restore its name, or restart the service", "agent"))
        return self._instrument(warmed(engine))


def warmed(engine: Engine) -> Engine:
    """The engine, with what the first request would wait for."""
    engine.search_tools("warm up")  # the first search builds the index
    # Inputs without a default make it fail, but the token table is loaded by then.
    with suppress(CuecardError):
        engine.prepare_step(engine.prepare_call())
    return engine


def agents_json(agents: Agents) -> dict[str, Json]:
    """An `AgentsAnswer`."""
    return {"api": API, "agents": [_agent(each) for each in agents]}


def ready_json(agents: Agents) -> dict[str, Json]:
    """A `Readiness`: it reveals no text of any file, because the path needs no token."""
    told = [{**_state(each), "codes": [problem["code"] for problem in _problems(each)]} for each in agents]
    return {"state": "stale" if any(each["state"] == "stale" for each in told) else "ready", "agents": told}


def _state(agent: ServedAgent) -> dict[str, Json]:
    status = agent.status
    told: dict[str, Json] = {"name": agent.name, "state": "stale" if agent.stale else "ready"}
    origin = status.library
    of_library: dict[str, Json] = {} if origin is None else {"version": origin.version}
    of_library |= {"stale_since": origin.stale_since} if origin and origin.stale_since else {}
    of_library |= {"removed": True} if origin and origin.removed else {}
    return {**told, "sha256": status.serving, "since": status.since.isoformat(), **of_library}


def _problems(agent: ServedAgent) -> list[dict[str, Json]]:
    refused = agent.status.refused
    return [problem.to_json() for problem in refused.problems] if refused else []


def _agent(agent: ServedAgent) -> dict[str, Json]:
    engine = agent.watcher.current
    return {
        **_state(agent),
        "problems": _problems(agent),
        "search_tool": search_tool_json(engine),
        "core_tools": list(engine.core_tools),
        "tools": [
            {"name": card.name, "description": card.description, "category": card.category}
            for card in engine.tools.values()
        ],
        "inputs": [_input(name, spec) for name, spec in engine.inputs.items()],
        "profiles": list(engine.profiles),
        "variants": list(engine.variants),
        "access": list(engine.access),
        "reload": engine.reload,
    }


def _input(name: str, spec: InputSpec) -> dict[str, Json]:
    passing = {} if spec.lives == "conversation" else {"tier": spec.tier, "lifetime": spec.lives}
    return {
        "name": name,
        "type": spec.type,
        "required": spec.required,
        "description": spec.description,
        **passing,
    }


def search_tool_json(engine: Engine) -> dict[str, Json]:
    """A `SearchToolShape`."""
    name, words = engine.search_tool, engine.words.search
    card = engine.tools.get(name)
    return {
        "name": name,
        "description": (card.description if card else "") or words.description,
        "query": words.query_description,
        "limit": words.limit_description,
    }
