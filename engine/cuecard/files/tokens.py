"""Tokens counted with bundled tables, and counts that commands keep between processes."""

from __future__ import annotations

import atexit
import gzip
import hashlib
import json
import struct
import sys
import threading
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from cuecard.errors import Problem, TokenizerError, did_you_mean
from cuecard.files.cache import Cache, fingerprint
from cuecard.model import CountTokens, TokenSource
from cuecard.records import dataclass

if TYPE_CHECKING:
    import tiktoken


_LETTERS = r"[^\r\n\p{L}\p{N}]?"
_O200K_WORD = (
    _LETTERS + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    _LETTERS + r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
)
PATTERNS = {
    "o200k_base": "|".join(
        (*_O200K_WORD, r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")
    ),
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s",
}
"""How each encoding splits a text before merging bytes; tests compare them with tiktoken's own."""

MAX_REMEMBERED = 8 * 1024 * 1024
"""The bytes of texts whose counts are cached for each encoding, since sections and protocols recur at every step."""

_ENTRY = 120
"""What an entry takes in bytes beside its text, at most."""

_KEPT = 4096
"""The number of counts that are stored for the next process."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts tokens and caches the counts of recent texts; `source` goes into manifests."""

    source: TokenSource
    count: CountTokens

    @property
    def ready(self) -> bool:
        """Whether counting needs no table that would have to be unpacked first."""
        return self.source.source != "bundled" or self.source.encoding in _TABLES

    def __call__(self, text: str) -> int:
        """How many tokens the text costs."""
        return self.count(text)


def bundled_counter(encoding: str) -> TokenCounter:
    """A counter for a bundled encoding; the table is unpacked at the first count, not here.

    Raises:
        TokenizerError: when no table of that name is bundled.
    """
    if encoding not in PATTERNS:
        hint = did_you_mean(encoding, PATTERNS)
        raise TokenizerError(Problem("unknown-encoding", f"no token table is bundled for `{encoding}`", hint))

    return TokenCounter(TokenSource(encoding, "bundled", exact=True), _remembered(encoding).__getitem__)


@cache
def _remembered(encoding: str) -> RecentCounts:
    """The counts of an encoding, which its counters share as they share its table."""
    return RecentCounts(uncached_count(encoding))


class RecentCounts(dict[str, int]):
    """Counts of recent texts, within so many bytes; reading one counts it if need be.

    They have two generations. What is read again when it is of the older one joins the younger; when that is full, it
    becomes the older, and the older goes. So a hit costs what a dict's does, and any number of threads may read.
    """

    def __init__(self, count: CountTokens, most: int = MAX_REMEMBERED) -> None:
        """Begin with no counts; `count` makes them, and all texts together have at most so many bytes."""
        super().__init__()
        self._count, self._half, self._size = count, most // 2, 0
        self._older: dict[str, int] = {}
        self._changing = threading.Lock()

    def __missing__(self, text: str) -> int:
        tokens = self._older.get(text)
        if tokens is None:
            tokens = self._count(text)
        size = sys.getsizeof(text) + _ENTRY  # asked now: counting leaves a copy in UTF-8 within some texts
        with self._changing:
            if text not in self and size <= self._half:
                if self._size + size > self._half:
                    self._older, self._size = dict(self), 0
                    self.clear()
                self[text] = tokens
                self._size += size
        return tokens


def uncached_count(encoding: str) -> CountTokens:
    """The counting function of a bundled encoding, without a cache."""
    return lambda text: len(_encoding(encoding).encode_ordinary(text))


_UNPACKING = threading.Lock()


_TABLES: dict[str, tiktoken.Encoding] = {}


def _encoding(name: str) -> tiktoken.Encoding:
    with _UNPACKING:  # without it, threads that count for the first time together would each unpack the table
        if name not in _TABLES:
            import tiktoken  # noqa: PLC0415 - unpacking a table takes 0.1 s and 50 MB or more: only who counts pays

            ranks = read_table(name)
            _TABLES[name] = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
        return _TABLES[name]


def read_table(name: str) -> dict[bytes, int]:
    """A bundled table, from token bytes to rank. It is packed as a count, one length byte per token, then the
    tokens by rank.
    """
    packed = gzip.decompress(files("cuecard").joinpath("data", f"{name}.bin.gz").read_bytes())
    (size,) = struct.unpack_from("<I", packed)
    lengths, position, ranks = packed[4 : 4 + size], 4 + size, {}
    for rank, length in enumerate(lengths):
        ranks[packed[position : position + length]] = rank
        position += length
    if position != len(packed) or len(ranks) != size:
        raise TokenizerError(Problem("damaged-table", f"the table of `{name}` is damaged", "reinstall cuecard"))
    return ranks


def kept_counter(encoding: str, kept: Cache) -> TokenCounter:
    """A counter for a bundled encoding that stores its counts for the next process when this one ends.

    Raises:
        TokenizerError: when no table with this name is bundled.
    """
    counter = bundled_counter(encoding)
    if kept.folder is None:
        return counter
    counts = KeptCounts(encoding, kept, uncached_count(encoding))
    atexit.register(counts.save)
    return TokenCounter(counter.source, RecentCounts(counts.count).__getitem__)


class KeptCounts:
    """Counts by the fingerprint of the text, loaded at the first count; the last `_KEPT` of them are stored."""

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
            last = dict([*others.items(), *self._known.items()][-_KEPT:])
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
