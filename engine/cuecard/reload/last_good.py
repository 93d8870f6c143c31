"""The last good state of an agent on disk, so that a restart on broken files does not take the prompt away."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.config.documents.texts import AgentSources

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
"""Raised whenever older versions could not read what is written; a file of another format is left alone."""


class LastGood:
    """The texts that an agent was last served from: one JSON file in `folder`, named by the agent file's place.

    The file is replaced whole or not at all: a new one beside it, flushed to the disk, then renamed.
    """

    def __init__(self, folder: Path, agent: Path) -> None:
        place = hashlib.sha256(os.fsencode(agent.absolute())).hexdigest()
        self.file = folder / f"{agent.parent.name[:40]}-{place[:16]}.json"

    def save(self, sources: AgentSources) -> None:
        """Keep these texts instead of those kept so far.

        Raises:
            OSError: when the folder or the disk does not allow it; what was kept before is still there.
        """
        record = {"format": FORMAT, "sha256": sources.sha256(), "sources": asdict(sources)}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        _replace(self.file, json.dumps(record, indent=1).encode("ascii"))

    def load(self) -> AgentSources | None:
        """The texts that were kept; None when there are none, or when they are not what was written."""
        try:
            record = json.loads(self.file.read_bytes())
            if record["format"] != FORMAT:
                return None
            sources = _adapter().validate_python(record["sources"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError):  # missing, cut short, edited: no matter
            return None
        return sources if sources.sha256() == record["sha256"] else None


def user_folder() -> Path:
    """Where this user's programs keep their state, such as `~/.local/state/cuecard`."""
    from platformdirs import user_state_path  # noqa: PLC0415 - only who watches, and names no folder, pays for it

    return user_state_path("cuecard", appauthor=False) / "last-good"


def _replace(file: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _flush_folder(file.parent)


def _flush_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where folders can be flushed (not on Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _adapter() -> TypeAdapter[AgentSources]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - only a restart on broken files pays for it

    return TypeAdapter(AgentSources)
