"""Which clients may use a service without a token: programs, but not web pages of any site.

A browser lets any page send requests to this machine, and a page whose host name is rebound to this machine (DNS
rebinding) can read the answers. Headers that no page can change identify such requests.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from cuecard.errors import Problem, visible

_SHOWN = 100
_HINT = "send requests from a program instead of a web page, or set CUECARD_TOKEN and send the token"
_OTHER_SITES = frozenset({b"cross-site", b"same-site"})

Headers = Iterable[tuple[bytes, bytes]]


def refused_site(headers: Headers, *, local: bool) -> Problem | None:
    """Why a request is refused as coming from another site's page; None if it is accepted.

    Args:
        headers: the request's headers, with names in lower case.
        local: whether the service listens on loopback, so that `Host` must be a name of this machine.
    """
    told = [(name, value) for name, value in headers if name in {b"host", b"origin", b"sec-fetch-site"}]
    hosts = [value for name, value in told if name == b"host"]
    if local and not (len(hosts) == 1 and _is_here(hosts[0])):
        return Problem("foreign-site", _wrong_host(hosts), _HINT, "host")
    for name, value in told:
        if name == b"origin" and not any(_is_same(value, host) for host in hosts):
            return Problem("foreign-site", f"the request comes from a page of `{_shown(value)}`", _HINT, "origin")
        if name == b"sec-fetch-site" and value.strip().lower() in _OTHER_SITES:
            return Problem("foreign-site", "the request comes from a page of another site", _HINT, "sec-fetch-site")
    return None


def _wrong_host(hosts: list[bytes]) -> str:
    if len(hosts) != 1:
        return "the request has several `Host` headers" if hosts else "the request has no `Host` header"
    return f"the request's host is `{_shown(hosts[0])}`, which is not this machine"


def _shown(header: bytes) -> str:
    return visible(header.decode("latin-1"))[:_SHOWN]


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _is_here(host: bytes) -> bool:
    try:
        named = urlsplit(f"//{host.decode('ascii')}")
        whole = named.netloc == host.decode("ascii") and named.username is None and named.port != 0
        return whole and is_loopback(named.hostname or "")
    except ValueError:  # non-ASCII bytes, or an invalid port
        return False


def _is_same(origin: bytes, host: bytes) -> bool:
    return origin.lower() in {b"http://" + host.lower(), b"https://" + host.lower()}
