"""The limits and secrets of a service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cuecard.errors import InputError, Problem
from cuecard.model.signed_text import SHORTEST_KEY, check_key
from cuecard.server.connections import ROOM


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Limits and secrets of one service.

    Attributes:
        key: signs the conversations that clients carry; the same in all replicas. Of several, between commas, the first
            signs, and all open what they have signed.
        token: clients must send it as `Authorization: Bearer ...`; empty if the service is open. Several, between
            commas, are all valid, so that a token can be replaced while clients still send the other.
        max_body: the maximum size of a request's body, in bytes.
        max_requests: the maximum number of concurrent requests.
        max_connections: the maximum number of open connections; at least 32 more than `max_requests`, so that there is
            room for health checks.
        max_per_address: the same for the connections of one address.
        timeout: time limit in seconds, for a request to arrive and again for its answer.
        max_age: seconds after which an idle conversation is refused.
        grace: seconds for which a service that is told to stop goes on answering, while it says that it will stop.
        lasting: whether the key outlives the process: the errors of a service that made its own say so.
        local: whether it listens on loopback; without a token, it then only answers requests for a host name of this
            machine.
    """

    key: str = field(repr=False)
    token: str = field(repr=False)
    max_body: int
    max_requests: int
    max_connections: int
    max_per_address: int
    timeout: float
    max_age: float
    grace: float
    local: bool
    lasting: bool

    def __post_init__(self) -> None:
        for key in self.keys or (self.key,):
            check_key(key, "CUECARD_KEY")
        if found := list(self._wrong()):
            raise InputError(found)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that opens conversations; the first one signs them."""
        return _parts(self.key)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that is valid."""
        return _parts(self.token)

    def _wrong(self) -> Iterator[Problem]:
        weak = [each for each in self.tokens if len(each) < SHORTEST_KEY or not (each.isascii() and each.isprintable())]
        if weak or (self.token and not self.tokens):
            told = f"each token should be at least {SHORTEST_KEY} printable ASCII characters"
            hint = "make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`"
            yield Problem("weak-key", told, hint, "CUECARD_TOKEN")
        for name in ("max_body", "max_requests", "timeout", "max_age", "grace"):
            if getattr(self, name) <= 0:
                option = f"--{name.replace('_', '-')}"
                yield Problem("wrong-option", f"`{option}` should be more than 0", "", option)
        for name in ("max_connections", "max_per_address"):
            if getattr(self, name) < self.max_requests + ROOM:
                option = f"--{name.replace('_', '-')}"
                told = f"`{option}` should be at least {self.max_requests + ROOM}"
                hint = f"{ROOM} more than `--max-requests`, so that health checks have room"
                yield Problem("wrong-option", told, hint, option)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
