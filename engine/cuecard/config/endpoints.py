"""Addresses of model services: recognising one however it is written, and finding its entry in a models file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_URL = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?:[^/?#]*@)?(?P<host>\[[0-9a-f:.]+\]|[^\[\]:/?#@]+)(?::(?P<port>\d{0,5}))?"
    r"(?P<path>/[^?#]*)?(?:[?#].*)?",
    re.IGNORECASE,
)
_ODD = re.compile(r"[\s\\\x00-\x1f\x7f]")
_USUAL = {"https": "443", "http": "80"}


def endpoint_name(url: str) -> str:
    """Host, port and path of a base URL, without scheme, user and password, in lower case where case does not matter.

    An address that cannot be parsed is returned without its user and password, so it matches no known one.
    """
    url = url.strip()
    parts = _URL.fullmatch(url)
    if not parts or _ODD.search(url) or int(parts["port"] or 0) > 65535:
        return url.rpartition("@")[2]
    port = parts["port"] or ""
    shown = f":{port}" if port and port != _USUAL.get((parts["scheme"] or "").lower()) else ""
    return f"{parts['host'].lower().rstrip('.')}{shown}{(parts['path'] or '').rstrip('/')}"


def find_endpoint(url: str, known: Iterable[str]) -> str | None:
    """The entry for a base URL: its own, otherwise the longest one whose host matches and whose path is a prefix of its
    path.

    A `*` in the host of an entry matches any part of it, so `*.openai.azure.com` covers every resource.
    """
    name = endpoint_name(url)
    fitting = [entry for entry in known if name and _fits(name, endpoint_name(entry))]
    return max(fitting, key=lambda entry: len(endpoint_name(entry)), default=None)


def _fits(name: str, entry: str) -> bool:
    host, _, path = name.partition("/")
    wanted, _, prefix = entry.partition("/")
    return fnmatchcase(host, wanted) and (not prefix or f"{path}/".startswith(f"{prefix}/"))
