"""The command-line options of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of tools.

    Attributes:
        commands: the commands of tool servers, in shell syntax.
        urls: addresses of tool servers.
        modules: Python modules whose functions are tools.
        timeout: the timeout in seconds for starting a server and for each tool call.
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
    """The options of a chat.

    Attributes:
        sources: the sources of its tools.
        messages: the user's messages; without any, the user is asked.
        values: inputs, as `name=value`.
        turn: a turn file, for everything else that the host knows.
    """

    sources: Sources = Sources()
    messages: Sequence[str] = ()
    values: Sequence[str] = ()
    turn: Path | None = None

    @property
    def of_agent(self) -> bool:
        """Whether they replace what an assistant file provides, so that only its agent is used."""
        return bool(self.sources.of_servers or self.sources.modules or self.values or self.turn)
