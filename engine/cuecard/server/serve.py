"""`cuecard serve`: agents over HTTP."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.errors import InputError, Problem
from cuecard.files.content import find_content
from cuecard.files.settings import Settings, read_settings
from cuecard.model import DeliveryWish
from cuecard.reload.engines import watch

if TYPE_CHECKING:
    from cuecard.engine import Engine
    from cuecard.server.options import ServiceOptions

_NEEDS = {"fastapi": "fastapi", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client"}


@dataclass(frozen=True, slots=True)
class ServeAddress:
    """The address to listen on; `to_all` says that no token is needed there."""

    host: str = "127.0.0.1"
    port: int = 8765
    to_all: bool = False


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

    folder: Path | None = None
    texts: bool = False


def serve(
    agents: Sequence[Path],
    place: ServeAddress,
    limits: ServeLimits,
    *,
    delivery: DeliveryWish | None = None,
    states: Path | None = None,
    records: ServeRecords | None = None,
    allow_code: bool = False,
) -> int:
    """Serve requests until the process is told to stop; the exit code is 0.

    Raises:
        SpecError: with every problem of every agent.
        InputError: when an option or a setting is wrong.
    """
    _check_installed()
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
    with _recorder(records or ServeRecords(), settings) as instrument:
        served = open_agents([find_content(path) for path in agents], opened, instrument=instrument)
        try:
            listening = listen(place.host, place.port)
            log_to_stderr()
            _warn(settings, options)
            envelopes = Envelopes(options.keys, options.max_age, lasting=options.lasting)
            recorded = bool((records and records.folder) or settings.manifests)
            service = Service(served, envelopes, options.max_body // 4, recorded)
            run_app(create_app(service, options), listening, options)
        finally:
            served.stop()
    return 0


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
        key=settings.key or secrets.token_hex(32),
        token=settings.token,
        local=local,
        lasting=bool(settings.key),
        **asdict(limits),
    )


def _warn(settings: Settings, options: ServiceOptions) -> None:
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


def _check_installed() -> None:
    if missing := [package for module, package in _NEEDS.items() if not find_spec(module)]:
        hint = 'pip install "cuecard[server]"'
        raise InputError(
            Problem("not-installed", f"`cuecard serve` needs {name}", hint, "cuecard serve") for name in missing
        )
