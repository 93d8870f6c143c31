"""The states of agents in a folder, by content: what a conversation began with is there after a restart, and elsewhere.

A state is every text that an agent was made of. Its file is named by the fingerprint of those texts, so that a file
that was cut short, edited or put in its place is known as such: nobody can change what a fingerprint stands for. Many
processes may share the folder; they need nothing else of each other.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

from platformdirs import user_state_path
from pydantic import TypeAdapter

from cuecard.config.documents.sources import AgentSources
from cuecard.files.private import NotOursError
from cuecard.files.roots import shown
from cuecard.model.boundary import Count, FilledText, checked
from cuecard.reload.cleanup import StateLimits, clean_up, read_file, replace_file

FORMAT = 1
"""Raised whenever older versions could not read what is written; a file of another format is left alone."""

_FINGERPRINT = re.compile("[0-9a-f]{64}")
_USED_AGAIN = 60.0
"""Seconds after which the file of a state that goes on serving is marked as used once more."""

_log = logging.getLogger(__name__)


class NoState(Exception):  # noqa: N818 - it never leaves this package: who asks serves another state, and says why
    """Why there is no such state: a reason that goes on after `the state ...`; `damaged` if a file is there."""

    def __init__(self, reason: str, *, damaged: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.damaged = damaged


class User(Protocol):
    """Something that serves states."""

    @property
    def in_use(self) -> Collection[str]:
        """Their fingerprints."""


class KeptStates(Protocol):
    """Where states are kept that have served: a folder, or a library."""

    def join(self, user: User) -> None:
        """Internal: keep what this one serves, for as long as it exists."""

    def load(self, digest: str, home: Path) -> AgentSources:
        """Internal: the state with this fingerprint, or `NoState`."""

    def use(self, digest: str) -> None:
        """Internal: note that the state serves."""


class States:
    """A folder of states, bounded in number and size: what was not used for the longest time goes first.

    What a process has in use is not removed by that process, and the last good state of an agent goes after all
    others. Watchers of several agents may share an object of this class, and any number of processes the folder.
    """

    @checked
    def __init__(self, folder: FilledText | Path, *, most: Count = 256, size: Count = 64 * 1024 * 1024) -> None:
        """Look at a folder, which need not be there yet.

        Args:
            folder: where the states are.
            most: how many it may hold.
            size: how many bytes they may take together.

        Raises:
            InputError: with every argument that is wrong.
        """
        self.folder: Path = Path(folder).absolute()  # a watcher saves later, when the process may be in another folder
        self._limits = StateLimits(max(1, most), size)
        self._users: WeakSet[User] = WeakSet()
        self._used: dict[str, float] = {}

    def join(self, user: User) -> None:
        """Internal: keep what this one serves, for as long as it exists."""
        self._users.add(user)

    def save(self, sources: AgentSources) -> str:
        """Internal: keep a state; its fingerprint.

        Raises:
            OSError: when the folder or the disk does not allow it, or when the state alone is larger than the limit.
        """
        digest = sources.sha256()
        file, record = self._file(digest), {"format": FORMAT, "sha256": digest, "sources": sources.content()}
        content = json.dumps(record, indent=1).encode("ascii")
        if len(content) > self._limits.size:
            message = f"the state takes {len(content):,} bytes, but the folder's limit is {self._limits.size:,}"
            raise OSError(errno.EFBIG, message, str(file))
        if self._holds(file, content):
            self.use(digest)
            return digest
        replace_file(file, content)
        with suppress(OSError):  # it is kept; others may clean up
            clean_up(self.folder, self._limits, {digest, *self._in_use()})
        return digest

    def load(self, digest: str, home: Path) -> AgentSources:
        """Internal: the state with this fingerprint, its files named as if they were those of the folder `home`.

        Raises:
            NoState: when there is none, or its file does not hold it.
        """
        if not _FINGERPRINT.fullmatch(digest):
            raise NoState("has an invalid fingerprint")
        try:
            content = read_file(self._file(digest), self._limits.size)
        except (FileNotFoundError, NotADirectoryError):
            raise NoState("is not in the folder of states") from None
        except NotOursError as error:
            raise NoState(f"is not read: {error}") from None
        except OSError as error:
            raise self._damaged(digest, f"cannot be read: {error.strerror or error}") from None
        try:
            record = json.loads(content)
            named = lambda path: shown(home / path)  # noqa: E731 - it is handed on at once
            sources = sources_of(record["sources"], named) if record["format"] == FORMAT else None
        except (ValueError, LookupError, TypeError, RecursionError):  # cut short, edited, something else: no matter
            sources = None
        if sources is None or sources.sha256() != digest:
            raise self._damaged(digest, "does not contain it")
        return sources

    def has(self, digest: str) -> bool:
        """Whether there is a file for this state."""
        return self._file(digest).exists()

    def use(self, digest: str) -> None:
        """Note that the state serves: what is used stays longest. Where the folder cannot be written, no matter."""
        now = time.monotonic()
        if now - self._used.get(digest, -_USED_AGAIN) >= _USED_AGAIN:
            self._used[digest] = now
            with suppress(OSError):
                os.utime(self._file(digest))  # and never make an empty one

    def _file(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"

    def _holds(self, file: Path, content: bytes) -> bool:
        try:
            return read_file(file, len(content)) == content
        except OSError:
            return False

    def _in_use(self) -> Iterator[str]:
        for user in list(self._users):
            yield from user.in_use

    def _damaged(self, digest: str, what: str) -> NoState:
        _log.warning("ignored: the file of state %s in %s %s", digest, self.folder, what)
        return NoState(f"has a file in the folder of states that {what}", damaged=True)


def user_folder() -> Path:
    """Where this user's programs keep states, such as `~/.local/state/cuecard/states`."""
    return user_state_path("cuecard", appauthor=False) / "states"


def sources_of(content: Any, named: Callable[[str], str]) -> AgentSources:
    """The texts that `AgentSources.content` wrote; `named` gives the name by which errors show the file at a path.

    Raises:
        ValueError: when it wrote something else.
    """
    texts = {key: _named(value, named) for key, value in dict(content).items()}
    return _sources().validate_python(texts)


@cache
def _sources() -> TypeAdapter[AgentSources]:
    """Made when it is needed, and once: that takes ten times as long as reading with it."""
    return TypeAdapter(AgentSources)


def _named(value: Any, named: Callable[[str], str]) -> Any:
    """What was written of a text, with its name."""
    if isinstance(value, dict):
        return {**value, "name": named(value["path"])}
    return [_named(each, named) for each in value] if isinstance(value, list) else value
