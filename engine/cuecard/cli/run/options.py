"""What a command line says of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sources:
    """Where tools come from.

    Attributes:
        commands: how to start tool servers, each as a shell takes it.
        urls: addresses of tool servers.
        modules: Python modules whose functions are tools.
        timeout: seconds that starting a server, or one tool call, may take.
    """

    commands: Sequence[str] = ()
    urls: Sequence[str] = ()
    modules: Sequence[str] = ()
    timeout: float = 60.0

    @property
    def of_servers(self) -> bool:
        """Whether there are tool servers among them."""
        return bool(self.commands or self.urls)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What a chat is about.

    Attributes:
        sources: where its tools come from.
        messages: what the user says; without any, the user is asked.
        values: inputs, as `name=value`.
        turn: a turn file, for everything else that the host knows.
    """

    sources: Sources = Sources()
    messages: Sequence[str] = ()
    values: Sequence[str] = ()
    turn: Path | None = None

    @property
    def of_agent(self) -> bool:
        """Whether they say what an assistant file says otherwise, so that its agent alone is meant."""
        return bool(self.sources.of_servers or self.sources.modules or self.values or self.turn)
