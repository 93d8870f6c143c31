"""What comes over the pipes of MCP, line by line, within limits; for both ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from pydantic_core import from_json

MAX_LINE: Final = 8 * 1024 * 1024
"""The maximum length of a line in bytes; longer lines are discarded."""
MAX_VALUES: Final = 1_000_000
"""The maximum number of values in a message, since values take far more memory than their text."""
MAX_STDERR: Final = 64 * 1024
"""How many of the last bytes of a server's standard error are kept."""

_DEEP = 100
"""Deeper than any usable value, but less than the JSON parser's limit: what is cut here is rejected later."""

_NO_VALUE = b"NaN"
"""Stands for what was cut. It is not valid JSON, so validation finds it."""

_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]|-?[0-9][0-9.eE+-]{999,}', re.DOTALL)
_ID = re.compile(rb'\s*:\s*(-?[0-9]{1,18}|"(?:[^"\\]|\\.){0,200}")\s*[,}]')
_HEAD = 64 * 1024
"""How many bytes of a line that is too long are kept, to find its `id`."""
_SCANNED = 100_000
"""How many tokens of an unreadable line are looked at to find its `id`."""

_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class UnreadableError(Exception):
    """A line that looks like a message but cannot be read; says why."""


class TooMuchError(UnreadableError):
    """What is more than a message may be."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a line longer than `MAX_LINE` bytes, of which it has the beginning."""

    head: bytes


@dataclass(slots=True)
class Lines:
    """Splits the input into lines, buffering at most one line."""

    _pieces: list[bytes] = field(default_factory=list)
    _size: int = 0
    _skips: bool = False

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in this piece; an overlong line is reported once, as soon as it exceeds the limit."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            yield from self._add(piece)
            if not self._skips:
                yield b"".join(self._pieces)
            self._pieces, self._size, self._skips = [], 0, False
        yield from self._add(rest)

    def end(self) -> Iterator[bytes]:
        """The last line, if the input ended without a line break."""
        if self._pieces:
            yield b"".join(self._pieces)
            self._pieces = []

    def _add(self, piece: bytes) -> Iterator[TooLong]:
        if self._skips or not piece:
            return
        self._size += len(piece)
        self._pieces.append(piece)
        if self._size > MAX_LINE:
            head = b"".join(self._pieces)[:_HEAD]
            self._pieces, self._skips = [], True
            yield TooLong(head)


@dataclass(slots=True)
class LastWords:
    """The last output of a server on its standard error."""

    _kept: bytes = b""

    def add(self, data: bytes) -> None:
        """Add output, dropping the oldest beyond the limit."""
        self._kept = (self._kept + data)[-MAX_STDERR:]

    def lines(self) -> list[str]:
        """The lines that are not empty."""
        return [line for line in self._kept.decode(errors="replace").splitlines() if line.strip()]


def read_message(line: bytes | TooLong) -> dict[str, Any] | None:
    """The JSON object in a line; None for a line that is not a message, such as a log line.

    Lone surrogates are removed from texts. Values nested too deep and numbers with a thousand digits are replaced by
    NaN, which validation rejects later, so that one of them does not invalidate the whole message.

    Raises:
        UnreadableError: for a line that looks like a message but is not one.
    """
    line = whole(line)
    if not line.lstrip().startswith(b"{") or b'"jsonrpc"' not in line:
        return None
    check_text(line)
    message: dict[str, Any]
    try:
        try:
            message = from_json(line)
        except ValueError:
            message = from_json(_mended(line))
    except ValueError as error:
        raise UnreadableError(f"output that is not JSON: {error}") from None
    return message


def whole(line: bytes | TooLong) -> bytes:
    """The line.

    Raises:
        TooMuchError: when it is too long.
    """
    if isinstance(line, TooLong):
        raise TooMuchError(f"a line of more than {MAX_LINE:,} bytes")
    return line


def check_text(line: bytes) -> None:
    """Refuse what no parser should see.

    Raises:
        TooMuchError: when the line may have too many values.
        UnreadableError: when it is not UTF-8.
    """
    if line.count(b",") + line.count(b"[") + line.count(b"{") > MAX_VALUES:
        raise TooMuchError(f"a message of more than {MAX_VALUES:,} values")
    try:
        line.decode()
    except UnicodeDecodeError:
        raise UnreadableError("bytes that are not UTF-8") from None


def id_in(line: bytes) -> int | str | None:
    """The `id` of a message that cannot be read as a whole; None where that cannot be read either."""
    depth = 0
    for token in islice(_TOKENS.finditer(line), _SCANNED):
        text = token[0]
        depth += (text in b"[{") - (text in b"]}")
        if depth == 1 and text == b'"id"' and (found := _ID.match(line, token.end())):
            try:
                number: int | str = json.loads(found[1])
                str(number).encode()
            except ValueError:  # half a character is none that an answer could have
                return None
            return number
    return None


def _mended(line: bytes) -> bytes:
    """The line without constructs that JSON allows but the parser rejects."""
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
