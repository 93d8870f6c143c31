"""Agents as they would be with texts that nobody has saved: a workspace of its own, so no other page sees them."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from cuecard.engine import Engine
from cuecard.errors import CuecardError
from cuecard.files.folder import read_agent
from cuecard.workspace import AgentProblems, Workspace


class Drafts:
    """What agents say with other texts over their files. Thread-safe, one question after another."""

    def __init__(self, agents: Sequence[Path], *, allow_code: bool = False) -> None:
        self._agents, self._allow_code = agents, allow_code
        self._lock = threading.Lock()
        self._workspace: Workspace | None = None
        self._open: dict[Path, str] = {}

    def engine(self, agent: Path, texts: Mapping[Path, str]) -> Engine | None:
        """The agent with these texts over its files; None if it does not work with them."""
        with self._lock:
            workspace = self._laid(texts)
            try:
                made = workspace.engine(agent)
                return made if made.sha256 == read_agent(agent, self._open).sha256() else None
            except CuecardError:
                return None

    def check(self, agent: Path, texts: Mapping[Path, str]) -> AgentProblems:
        """What `cuecard check` would say of the agent with these texts."""
        with self._lock:
            return self._laid(texts).check(agent)

    def _laid(self, texts: Mapping[Path, str]) -> Workspace:
        if self._workspace is None:
            self._workspace = Workspace(self._agents, allow_code=self._allow_code)
        real = {Path(os.path.realpath(path)): text for path, text in texts.items()}
        for path in self._open.keys() - real.keys():
            self._workspace.close(path)
        for path, text in real.items():
            self._workspace.open(path, text)
        self._open = real
        return self._workspace
