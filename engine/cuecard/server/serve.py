"""`cuecard serve`: agents over HTTP."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cuecard.errors import CuecardError, InputError, Problem
from cuecard.files.content import find_content, has_agent
from cuecard.files.settings import Settings, read_settings
from cuecard.model import DeliveryWish
from cuecard.reload.engines import watch
from cuecard.workbench.output import require

if TYPE_CHECKING:
    from cuecard.engine import Engine
    from cuecard.server.agents import Agents
    from cuecard.server.options import ServiceOptions

_NEEDS = {"fastapi": "fastapi", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client"}


@dataclass(frozen=True, slots=True)
class ServeAddress:
    """The address to listen on; `to_all` says that no token is needed there."""

    host: str
    port: int
    to_all: bool


@dataclass(frozen=True, slots=True)
class ServeLimits:
    """The limits from the command line."""

    max_body: int
    max_requests: int
    max_connections: int
    max_per_address: int
    timeout: float
    max_age: float
    grace: float


@dataclass(frozen=True, slots=True)
class ServeRecords:
    """The folder of the records, and whether they hold texts."""

    folder: Path | None
    texts: bool


@dataclass(frozen=True, slots=True)
class ServeLibrary:
    """The library from the command line; without a URL, agents are files."""

    url: str
    lifetime: float = 60.0
    engines: int = 200
    removed: Literal["refuse", "serve"] = "refuse"
    fallback: Path | None = None


def serve(
    agents: Sequence[Path],
    place: ServeAddress,
    limits: ServeLimits,
    *,
    delivery: DeliveryWish | None,
    states: Path | None,
    records: ServeRecords,
    library: ServeLibrary,
    allow_code: bool,
) -> int:
    """Serve requests until the process is told to stop; the exit code is 0.

    Raises:
        SpecError: with every problem of every agent.
        InputError: when an option or a setting is wrong.
    """
    require("cuecard serve", "server", _NEEDS)
    from cuecard.server.agents import open_agents
    from cuecard.server.app import create_app
    from cuecard.server.door import listen
    from cuecard.server.monitoring import log_to_stderr
    from cuecard.server.process import run_app
    from cuecard.server.service import Envelopes, Service

    settings = read_settings()
    options = _options(settings, limits, place)
    opened = partial(watch, delivery=delivery or settings.delivery, states=states or settings.states)
    opened = partial(opened, salt=settings.salt, cache=settings.cache_folder, allow_code=allow_code)
    with _recorder(records, settings) as instrument:
        url = library.url or ("" if agents else settings.library)
        agents = agents or ([] if url or not has_agent(Path()) else [Path()])
        if not (url or agents):
            hint = "name an agent, or go into its folder; or a library, with `--library URL` or CUECARD_LIBRARY"
            raise InputError(Problem("wrong-option", "there is nothing to serve", hint, "AGENT"))
        _refuse_unused(library, url)
        if url:
            served = _of_library(replace(library, url=url), list(map(str, agents)), opened, instrument)
        else:
            served = open_agents([find_content(path) for path in agents], opened, instrument=instrument)
        try:
            listening = listen(place.host, place.port)
            log_to_stderr()
            _warn(settings, options, served)
            envelopes = Envelopes(options.keys, options.max_age, lasting=options.lasting)
            recorded = bool(records.folder or settings.manifests)
            service = Service(served, envelopes, options.max_body // 4, recorded)
            run_app(create_app(service, options), listening, options)
        finally:
            served.stop()
    return 0


def _refuse_unused(library: ServeLibrary, url: str) -> None:
    """Refuse options that would change nothing."""
    given = [f"--{each.name}" for each in fields(library)[1:] if getattr(library, each.name) != each.default]
    if given and not url:
        hint = "name the library: `--library URL` or CUECARD_LIBRARY, and no agent that is a file"
        raise InputError([Problem("wrong-option", f"`{each}` is for a library", hint, each) for each in given])


def _of_library(
    library: ServeLibrary, names: list[str], opened: partial[Any], instrument: Callable[[Engine], Engine]
) -> Agents:
    """The agents of a library, read-only."""
    from cuecard.library.library import Library
    from cuecard.server.agents import LibraryAgents, warmed

    given = {name: held for name, held in opened.keywords.items() if name != "states"}
    kept = Library(
        library.url,
        lifetime=library.lifetime,
        most=library.engines,
        removed=library.removed,
        fallback=library.fallback,
        ready=lambda engine: instrument(warmed(engine)),
        **given,
    )
    try:
        if library.fallback is None:
            kept.agents()  # a library that is away is told at once
        return LibraryAgents(kept, names, library.engines)
    except CuecardError:
        kept.close()
        raise


@contextmanager
def _recorder(records: ServeRecords, settings: Settings) -> Iterator[Callable[[Engine], Engine]]:
    """Instruments engines, if records are wanted; what is written is on disk when the service ends."""
    folder = records.folder or settings.manifests
    if folder is None:
        if records.texts:
            hint = "name the folder of the records: `--manifests DIR`"
            raise InputError(Problem("wrong-option", "`--texts` says what records hold", hint, "--texts"))
        yield lambda engine: engine
        return
    from cuecard.recording import Recorder
    from cuecard.server.monitoring import log_event

    def tell(problem: Problem) -> None:
        log_event(problem.code, logging.WARNING, message=f"{problem.message}; {problem.advice}")

    with Recorder(folder / "served.jsonl", texts=records.texts, on_problem=tell) as recorder:
        yield recorder.instrument


def _options(settings: Settings, limits: ServeLimits, place: ServeAddress) -> ServiceOptions:
    from cuecard.server.door import is_loopback
    from cuecard.server.options import ServiceOptions

    local = is_loopback(place.host)
    if not (settings.token or local or place.to_all):
        told = f"everybody who reaches {place.host} could ask: there is no token"
        hint = "set CUECARD_TOKEN, or write `--no-token` if that is meant"
        raise InputError(Problem("open-to-all", told, hint, "--host"))
    return ServiceOptions(
        key=settings.key or secrets.token_hex(),
        token=settings.token,
        local=local,
        lasting=bool(settings.key),
        **asdict(limits),
    )


def _warn(settings: Settings, options: ServiceOptions, served: Agents) -> None:
    from cuecard.server.monitoring import log_event

    if not settings.key:
        told = (
            "conversations are signed with a key that only this process knows, so that none can be loaded after a "
            "restart, or by another replica; set CUECARD_KEY to the same value in all of them"
        )
        log_event("no-key", logging.WARNING, message=told)
    if not options.token and not options.local:
        log_event(
            "open-to-all",
            logging.WARNING,
            message="anyone who can reach this port can use the service; set CUECARD_TOKEN to require a token",
        )
    for each in served:
        if each.status.unsaved:
            told = (
                f"the good states of `{each.name}` cannot be kept, neither for a restart nor for other replicas: "
                f"{each.status.unsaved}; choose another folder with `--states DIR` or CUECARD_STATES"
            )
            log_event("states-unsaved", logging.WARNING, message=told)
