"""`cuecard serve`: agents over HTTP."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
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
    from cuecard.server.agents import Agents
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


def serve(
    agents: Sequence[Path],
    place: ServeAddress,
    limits: ServeLimits,
    *,
    delivery: DeliveryWish | None = None,
    states: Path | None = None,
    allow_code: bool = False,
) -> int:
    """Serve requests until the process is told to stop; the exit code is 0.

    Raises:
        SpecError: with every problem of every agent.
        InputError: when an option or a setting is wrong.
    """
    _check_installed()
    from cuecard.server.app import create_app
    from cuecard.server.monitoring import log_to_stderr
    from cuecard.server.process import listen, run_app
    from cuecard.server.service import Envelopes, Service

    settings = read_settings()
    options = _options(settings, limits, place)
    served = _open(agents, settings, delivery or settings.delivery, states or settings.states, allow_code=allow_code)
    try:
        listening = listen(place.host, place.port)
        log_to_stderr()
        _warn(settings, options)
        envelopes = Envelopes(options.key, options.max_age, lasting=options.lasting)
        run_app(create_app(Service(served, envelopes), options), listening, options)
    finally:
        served.stop()
    return 0


def _open(
    agents: Sequence[Path], settings: Settings, delivery: DeliveryWish | None, states: Path | None, *, allow_code: bool
) -> Agents:
    from cuecard.server.agents import open_agents

    opened = partial(watch, delivery=delivery, salt=settings.salt, states=states, allow_code=allow_code)
    return open_agents([find_content(path) for path in agents], partial(opened, cache=settings.cache_folder))


def _options(settings: Settings, limits: ServeLimits, place: ServeAddress) -> ServiceOptions:
    from cuecard.server.guard import is_loopback
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
