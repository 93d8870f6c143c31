"""Fingerprints of texts and values, plain or salted."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping

from cuecard.model import Json

NOTHING = hashlib.sha256(b"").hexdigest()
"""The fingerprint of the empty text, under every salt."""


def sha256(text: str) -> str:
    """The fingerprint of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def salted(digest: str, salt: str) -> str:
    """A fingerprint that reveals nothing without the salt.

    The SHA-256 of a short text can be found by guessing: a name, a date, a prompt seen elsewhere. HMAC-SHA-256 with a
    secret key cannot (RFC 2104). Without a salt, the digest is unchanged; that of the empty text never changes, because
    its zero tokens reveal as much.

    Args:
        digest: SHA-256, in hex.
        salt: the secret; empty for none.
    """
    if not salt or digest == NOTHING:
        return digest
    return hmac.digest(salt.encode("utf-8", "surrogatepass"), digest.encode(), "sha256").hex()


def salt_name(salt: str) -> str:
    """A short name with which two manifests show that they used the same salt; empty for no salt."""
    return salted(hashlib.sha256(b"the name of the salt").hexdigest(), salt)[:16] if salt else ""


def fingerprints(values: Mapping[str, Json]) -> dict[str, str]:
    """The SHA-256, in hex, of each value: of its JSON with sorted keys and without spaces (ASCII, RFC 8259)."""
    return {name: hashlib.sha256(_canonical(value).encode()).hexdigest() for name, value in values.items()}


def _plain(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else str(value)


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_plain).encode
