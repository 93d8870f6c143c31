"""The last good state of an agent, so that a restart with broken files does not lose the prompt."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from cuecard.config.documents.texts import AgentSources
from cuecard.outside.private import check_folder
from cuecard.reload.cleanup import POINTER, pointed_at
from cuecard.reload.disk import replace_file
from cuecard.reload.states import NoState, States


class LastGood:
    """The state that an agent was last served from: a pointer into the states folder, by the agent file's path."""

    def __init__(self, states: States, agent: Path) -> None:
        self.states, self._home = states, agent.parent
        place = hashlib.sha256(os.fsencode(agent.absolute())).hexdigest()
        self.file = states.folder / f"{agent.parent.name[:40]}-{place[:16]}{POINTER}"

    def save(self, sources: AgentSources) -> None:
        """Save this state and point to it.

        Raises:
            OSError: when it cannot be written; the previous state is still there.
        """
        digest = self.states.save(sources)
        if pointed_at(self.file) != digest:
            replace_file(self.file, json.dumps({"format": 1, "sha256": digest}).encode("ascii"))

    def load(self) -> AgentSources:
        """The saved state.

        Raises:
            NoState: when there is none, or its file was changed.
        """
        if not os.path.lexists(self.file):
            raise NoState("was never kept")
        try:
            check_folder(self.states.folder)
        except OSError as error:
            raise NoState(f"is not read: {error}") from None
        digest = pointed_at(self.file)
        if not digest:
            raise NoState(f"cannot be found: {self.file.name} is damaged", damaged=True)
        return self.states.load(digest, self._home)
