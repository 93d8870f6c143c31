"""What a service allows, and the secrets that it checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cuecard.errors import InputError, Problem
from cuecard.model.sealed import SHORTEST_KEY, check_key

_DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Limits and secrets of one service.

    Attributes:
        key: signs the conversations that travel with the clients; the same in all replicas.
        token: what clients have to send as `Authorization: Bearer ...`; empty where everybody may ask.
        max_body: bytes of a request's body, at most.
        max_requests: requests that are worked on at the same time, at most.
        timeout: seconds that a request may take to arrive, and as many that the answer may take.
        max_age: seconds after which a conversation that nobody has continued is refused.
        grace: seconds that requests have left to end when the service stops.
        local: whether it listens on loopback; without a token it then answers only who calls it by a name of this
            machine.
    """

    key: str = field(repr=False)
    token: str = field(default="", repr=False)
    max_body: int = 1024 * 1024
    max_requests: int = 128
    timeout: float = 10.0
    max_age: float = 30 * _DAY
    grace: float = 10.0
    local: bool = False

    def __post_init__(self) -> None:
        check_key(self.key)
        if found := list(self._wrong()):
            raise InputError(found)

    def _wrong(self) -> Iterator[Problem]:
        if self.token and (len(self.token) < SHORTEST_KEY or not self.token.isascii() or not self.token.isprintable()):
            told = f"the token should be at least {SHORTEST_KEY} printable ASCII characters"
            hint = "make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`"
            yield Problem("weak-key", told, hint, "CUECARD_TOKEN")
        for name in ("max_body", "max_requests", "timeout", "max_age", "grace"):
            if getattr(self, name) <= 0:
                option = f"--{name.replace('_', '-')}"
                yield Problem("wrong-option", f"`{option}` should be more than 0", "", option)
