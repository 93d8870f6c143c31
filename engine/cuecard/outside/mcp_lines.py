"""What a tool server writes, line by line, and what of it is kept: never more than a bound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import from_json

MAX_LINE: Final = 8 * 1024 * 1024
"""How many bytes a line of a tool server may have; of a longer one, nothing is kept."""
MAX_VALUES: Final = 1_000_000
"""How many values a message may hold, which take far more memory than their text."""
MAX_STDERR: Final = 64 * 1024
"""How many of the last bytes on a server's standard error are kept."""

_DEEP = 100
"""More than any value may nest that is used, less than the JSON reader takes: what is cut here is refused there."""

_NO_VALUE = b"NaN"
"""Stands for what is cut. No value of JSON, so whoever checks a value finds it."""

_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]|-?[0-9][0-9.eE+-]{999,}', re.DOTALL)
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class UnreadableError(Exception):
    """A line that is meant as a message and cannot be read; says why."""


class TooLong:
    """Stands for a line of more than `MAX_LINE` bytes."""


@dataclass(slots=True)
class Lines:
    """Cuts what comes into lines, and holds no more than one of them."""

    _pieces: list[bytes] = field(default_factory=list)
    _size: int = 0
    _skips: bool = False

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in this piece; a line that gets too long is told of once, as soon as it is."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            yield from self._add(piece)
            if not self._skips:
                yield b"".join(self._pieces)
            self._pieces, self._size, self._skips = [], 0, False
        yield from self._add(rest)

    def _add(self, piece: bytes) -> Iterator[TooLong]:
        if self._skips or not piece:
            return
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > MAX_LINE:
            self._pieces, self._skips = [], True
            yield TooLong()


@dataclass(slots=True)
class LastWords:
    """The end of what a server says on its standard error."""

    _kept: bytes = b""

    def add(self, data: bytes) -> None:
        """Keep this, and forget what is too long ago."""
        self._kept = (self._kept + data)[-MAX_STDERR:]

    def lines(self) -> list[str]:
        """The lines of it that are not empty."""
        return [line for line in self._kept.decode(errors="replace").splitlines() if line.strip()]


def read_message(line: bytes | TooLong) -> dict[str, Any] | None:
    """The JSON object of a line; None for a line that is not meant as a message, such as one for people.

    Lone halves of surrogate pairs are left out of texts. What nests too deep, and numbers of a thousand digits, are
    replaced by NaN, which whoever checks a value refuses: one of them does not take the whole message away.

    Raises:
        UnreadableError: for a line that is meant as a message and is none.
    """
    if isinstance(line, TooLong):
        raise UnreadableError(f"a line of more than {MAX_LINE:,} bytes")
    if not line.lstrip().startswith(b"{") or b'"jsonrpc"' not in line:
        return None
    if line.count(b",") + line.count(b"[") + line.count(b"{") > MAX_VALUES:
        raise UnreadableError(f"a message of more than {MAX_VALUES:,} values")
    try:
        line.decode()
        try:
            return _object(from_json(line))
        except ValueError:
            return _object(from_json(_mended(line)))
    except UnicodeDecodeError:
        raise UnreadableError("bytes that are not UTF-8") from None
    except ValueError as error:
        raise UnreadableError(f"output that is not JSON: {error}") from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableError("JSON that is not an object")
    return value


def _mended(line: bytes) -> bytes:
    """The line without what the JSON reader takes offence at, though JSON allows it."""
    pieces: list[bytes] = []
    depth = kept = 0
    for token in _TOKENS.finditer(line):
        text = token[0]
        if text in b"[{":
            depth += 1
            if depth == _DEEP + 1:
                pieces += (line[kept : token.start()], _NO_VALUE)
        elif text in b"]}":
            depth -= 1
            if depth == _DEEP:
                kept = token.end()
        elif depth <= _DEEP and (text[:1] != b'"' or b"\\u" in text):
            pieces += (line[kept : token.start()], _mended_token(text))
            kept = token.end()
    return b"".join((*pieces, line[kept:]))


def _mended_token(text: bytes) -> bytes:
    if text[:1] != b'"':
        return _NO_VALUE
    return _ESCAPES.sub(lambda escape: b"" if escape[1] else escape[0], text)
