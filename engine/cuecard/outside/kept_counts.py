"""Token counts that outlive the process, so that a command that shows figures of an unchanged prompt need not unpack
a token table. Never where a prompt is made: whoever has changed them could decide what fits into its budgets.
"""

from __future__ import annotations

import atexit
import hashlib
import json
from functools import cache, lru_cache
from importlib.resources import files

from cuecard.model import CountTokens
from cuecard.outside.cache import Cache, fingerprint
from cuecard.outside.tokens import PATTERNS, REMEMBERED, TokenCounter, bundled_counter


def kept_counter(encoding: str, kept: Cache) -> TokenCounter:
    """A counter for a bundled encoding that stores its counts for the next process when this one ends.

    Raises:
        TokenizerError: when no table with this name is bundled.
    """
    counter = bundled_counter(encoding)
    if kept.folder is None:
        return counter
    counts = KeptCounts(encoding, kept, counter.count)
    atexit.register(counts.save)
    return TokenCounter(counter.source, lru_cache(REMEMBERED)(counts.count))


class KeptCounts:
    """Counts by the fingerprint of the text, loaded at the first count; the last `REMEMBERED` of them are stored."""

    def __init__(self, encoding: str, kept: Cache, count: CountTokens) -> None:
        self._encoding, self._cache, self._count, self._new = encoding, kept, count, False
        self._known: dict[str, int] | None = None

    def count(self, text: str) -> int:
        """The number of tokens in the text."""
        known = self._known = self._read() if self._known is None else self._known
        data = text.encode("utf-8", "surrogatepass")
        name = hashlib.sha256(data).hexdigest()
        tokens = known.pop(name, None)
        if tokens is None or not bool(data) <= tokens <= len(data):
            tokens, self._new = self._count(text), True
        known[name] = tokens
        return tokens

    def save(self) -> None:
        """Store the counts, if there are new ones, beside those that others have stored meanwhile."""
        if self._new and self._known:
            others = {name: tokens for name, tokens in self._read().items() if name not in self._known}
            last = dict([*others.items(), *self._known.items()][-REMEMBERED:])
            self._cache.put(key_of(self._encoding), json.dumps(last).encode())

    def _read(self) -> dict[str, int]:
        try:
            held = json.loads(self._cache.get(key_of(self._encoding)) or b"{}")
        except ValueError:
            return {}
        if not isinstance(held, dict) or any(type(tokens) is not int for tokens in held.values()):
            return {}
        return held


@cache
def key_of(encoding: str) -> str:
    """The key of an encoding's counts, which depends on its table; to read the packed table is quick, only to unpack it
    is slow.
    """
    table = files("cuecard").joinpath("data", f"{encoding}.bin.gz").read_bytes()
    return fingerprint(("token counts", PATTERNS[encoding], hashlib.sha256(table).hexdigest()))
