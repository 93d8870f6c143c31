"""Which state of an agent was the last good one, so that a restart on broken files does not take the prompt away."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from cuecard.config.documents.texts import AgentSources
from cuecard.reload.cleanup import POINTER, pointed_at
from cuecard.reload.disk import replace_file
from cuecard.reload.states import NoState, States


class LastGood:
    """The state that an agent was last served from: a pointer into the folder of states, by the agent file's place."""

    def __init__(self, states: States, agent: Path) -> None:
        self.states, self._home = states, agent.parent
        place = hashlib.sha256(os.fsencode(agent.absolute())).hexdigest()
        self.file = states.folder / f"{agent.parent.name[:40]}-{place[:16]}{POINTER}"

    def save(self, sources: AgentSources) -> None:
        """Keep this state, and point at it.

        Raises:
            OSError: when the folder or the disk does not allow it; what was kept before is still there.
        """
        digest = self.states.save(sources)
        if pointed_at(self.file) != digest:
            replace_file(self.file, json.dumps({"format": 1, "sha256": digest}).encode("ascii"))

    def load(self) -> AgentSources:
        """The state that was kept.

        Raises:
            NoState: when there is none, or it is not what was written.
        """
        if not os.path.lexists(self.file):
            raise NoState("was never kept")
        digest = pointed_at(self.file)
        if not digest:
            raise NoState(f"cannot be found: {self.file.name} is damaged", damaged=True)
        return self.states.load(digest, self._home)
