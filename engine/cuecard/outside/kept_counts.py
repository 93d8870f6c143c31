"""Token counts that outlive the process, so that a command that shows an unchanged prompt need not unpack a token
table.
"""

from __future__ import annotations

import atexit
import hashlib
import json
from functools import cached_property, lru_cache
from importlib.resources import files

from cuecard.model import CountTokens
from cuecard.outside.cache import Cache, fingerprint
from cuecard.outside.tokens import PATTERNS, REMEMBERED, TokenCounter, bundled_counter


def kept_counter(encoding: str, cache: Cache) -> TokenCounter:
    """A counter for a bundled encoding that stores its counts for the next process when this one ends.

    Raises:
        TokenizerError: when no table with this name is bundled.
    """
    counter = bundled_counter(encoding)
    if cache.folder is None:
        return counter
    kept = KeptCounts(encoding, cache, counter.count)
    atexit.register(kept.save)
    return TokenCounter(counter.source, lru_cache(REMEMBERED)(kept.count))


class KeptCounts:
    """Counts by the fingerprint of the text, loaded at the first count; the last `REMEMBERED` of them are stored."""

    def __init__(self, encoding: str, cache: Cache, count: CountTokens) -> None:
        self._encoding, self._cache, self._count, self._new = encoding, cache, count, False
        self._known: dict[str, int] | None = None

    def count(self, text: str) -> int:
        """The number of tokens in the text."""
        known = self._known = self._read() if self._known is None else self._known
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        tokens = known.pop(name, None)
        if tokens is None:
            tokens, self._new = self._count(text), True
        known[name] = tokens
        return tokens

    def save(self) -> None:
        """Store the counts, if there are new ones."""
        if self._new and self._known:
            last = dict(list(self._known.items())[-REMEMBERED:])
            self._cache.put(self._key, json.dumps(last).encode())

    @cached_property
    def _key(self) -> str:
        """The cache key, which depends on the table; reading the packed table is quick, only unpacking it is slow."""
        table = files("cuecard").joinpath("data", f"{self._encoding}.bin.gz").read_bytes()
        return fingerprint(("token counts", PATTERNS[self._encoding], hashlib.sha256(table).hexdigest()))

    def _read(self) -> dict[str, int]:
        try:
            held = json.loads(self._cache.get(self._key) or b"{}")
        except ValueError:
            return {}
        if not isinstance(held, dict) or any(type(tokens) is not int for tokens in held.values()):
            return {}
        return held
