"""Addresses of model services: the same one however it is written, and which entry of a models file is meant."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit


def endpoint_name(url: str) -> str:
    """Host, port and path of a base URL, in lower case where case does not count: no scheme, no user, no password.

    An address that cannot be read is its own name, and so no known one.
    """
    url = url.strip()
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = parts.port
    except ValueError:
        return url.rpartition("@")[2]
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    host = (parts.hostname or "").rstrip(".")
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}{f':{port}' if port not in {None, usual} else ''}{parts.path.rstrip('/')}"


def find_endpoint(url: str, known: Iterable[str]) -> str | None:
    """The entry that is meant by a base URL: its own, else the longest one whose host fits and whose path it begins.

    A `*` in the host of an entry stands for any part of it, so that `*.openai.azure.com` holds for every resource.
    """
    name = endpoint_name(url)
    fitting = [entry for entry in known if name and _fits(name, endpoint_name(entry))]
    return max(fitting, key=lambda entry: len(endpoint_name(entry)), default=None)


def _fits(name: str, entry: str) -> bool:
    host, _, path = name.partition("/")
    wanted, _, prefix = entry.partition("/")
    return fnmatchcase(host, wanted) and (not prefix or f"{path}/".startswith(f"{prefix}/"))
