"""The gate for files: a regular file inside the roots, of limited size, as UTF-8 text; otherwise, an error says why."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from cuecard.config.documents.sources import SourceText
from cuecard.errors import Problem, Span, SpecError, visible
from cuecard.files.confined_files import RefusedError, TooLargeError, read_below
from cuecard.files.roots import RealPlace, Roots, shown

__all__ = ["MAX_BYTES", "MAX_LOG_BYTES", "children", "decoded", "read_bytes", "read_place", "read_text", "shown"]

MAX_BYTES = 1024 * 1024
"""The maximum size of an agent's files: prompts are texts that people read."""

MAX_LOG_BYTES = 64 * 1024 * 1024
"""The maximum size of a recorded conversation; a log repeats all of it in each request."""

Overlay: TypeAlias = Mapping[Path, str]
"""Texts that lie over files, such as those that an editor has not saved yet, by the resolved path of each file."""

NOTHING_OVER: Overlay = MappingProxyType({})

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_text(
    path: Path,
    folder: Path | None = None,
    *,
    limit: int = MAX_BYTES,
    place: RealPlace | None = None,
    overlay: Overlay = NOTHING_OVER,
) -> SourceText:
    """One UTF-8 text file of at most `limit` bytes; line breaks become newlines, a byte order mark is dropped.

    Args:
        path: where it is.
        folder: the folder that `path` is relative to; its own folder by default.
        limit: the maximum size in bytes.
        place: where the path leads by the rule for links; without it, links must not leave the file's own folder.
        overlay: the texts that lie over files.

    Raises:
        SpecError: when it is missing, unreadable, not a regular file, too large, not UTF-8, or a link out of the roots.
    """
    name = shown(path)
    found = place or Roots.of(path.parent).find(path.name)
    text = decoded(read_place(found, name, limit, overlay)[0], name)
    return SourceText(name, Path(os.path.relpath(path, folder or path.parent)).as_posix(), text)


def read_bytes(path: Path, *, limit: int, place: RealPlace | None = None) -> bytes:
    """The bytes of a file, as `read_text` reads them.

    Raises:
        SpecError: as `read_text`, except for the encoding.
    """
    found = place or Roots.of(path.parent).find(path.name)
    return read_place(found, shown(path), limit)[0]


def read_place(
    place: RealPlace, name: str, limit: int, overlay: Overlay = NOTHING_OVER
) -> tuple[bytes, tuple[int, int]]:
    """The bytes of a file, or of the text that lies over it, and its identity.

    Raises:
        SpecError: when it is missing, unreadable, too large, or not a regular file; errors call it `name`.
    """
    by_link = f" (a link to {visible(str(place.path))})" if place.is_linked else ""
    try:
        if (text := overlay.get(place.path)) is not None:
            return _unsaved(place.path, text, limit)
        return read_below(place.root, place.parts, limit)
    except TooLargeError as error:
        raise SpecError(Problem("large-file", f"{error}{by_link}", "split the file", name)) from None
    except RefusedError as error:
        raise SpecError(Problem("missing-file", f"{error}{by_link}", "name a text file", name)) from None
    except FileNotFoundError:
        hint = "check the path: it is relative to the current folder"
        raise SpecError(Problem("missing-file", f"no such file{by_link}", hint, name)) from None
    except (OSError, ValueError) as error:
        raise SpecError(_unreadable(error, place, name, by_link)) from None


def _unsaved(path: Path, text: str, limit: int) -> tuple[bytes, tuple[int, int]]:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > limit:
        raise TooLargeError(f"more than {limit:,} bytes")
    return data, (-1, int.from_bytes(hashlib.sha256(os.fsencode(path)).digest()[:8]))


def children(folder: Path) -> list[Path]:
    """The entries of a folder by name.

    Raises:
        SpecError: when it cannot be listed.
    """
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        hint = "check the folder's permissions"
        raise SpecError(Problem("unreadable-file", f"{error.strerror}", hint, shown(folder))) from None


def decoded(data: bytes, name: str) -> str:
    """The text of bytes, with line ends as newlines.

    Raises:
        SpecError: at the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise SpecError(_not_utf_8(data, error.object, error.start, name)) from None


def _unreadable(error: OSError | ValueError, place: RealPlace, name: str, by_link: str) -> Problem:
    if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
        return Problem("missing-file", "this is not a valid file name", "check the path", name)
    hint = "check the file's permissions"
    if isinstance(error, PermissionError):
        hint += _rights(place.path)
    return Problem("unreadable-file", f"{error.strerror}{by_link}", hint, name)


def _rights(path: Path) -> str:
    """The current user and the file's permissions, if known."""
    try:
        seen = path.stat()
        return f": it belongs to user {seen.st_uid} and has mode {seen.st_mode & 0o7777:o}; you are user {os.getuid()}"
    except (OSError, AttributeError):
        return ""


def _not_utf_8(data: bytes, rest: bytes, start: int, name: str) -> Problem:
    """`rest` is what was decoded: the data without its byte order mark."""
    before = rest[:start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line, written = before.count(b"\n") + 1, before[before.rfind(b"\n") + 1 :].decode()
    hint = "this looks like UTF-16; save the file as UTF-8" if data[:2] in _UTF_16 else "save the file as UTF-8"
    message = f"byte 0x{rest[start]:02X} in line {line} is not UTF-8"
    source = written + _line(rest[start : start + 200])
    return Problem("encoding", message, hint, name, Span(line, len(written) + 1), source)


def _line(data: bytes) -> str:
    return data.replace(b"\r", b"\n").partition(b"\n")[0].decode("utf-8", "replace")
