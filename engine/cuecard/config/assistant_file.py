"""The assistant file: an agent made runnable with a model, a tool server, and scenarios."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import Field

from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import FileModel
from cuecard.errors import Problem, did_you_mean

PLACEHOLDERS: Mapping[str, str] = {
    "python": "the Python that runs cuecard",
    "here": "the folder of this file",
    "data": "the folder for the server's data",
    "now": "the time of the scenario; in a chat, its start time",
}
"""The placeholders allowed in `command`, `snapshot` and `env`, and what they stand for."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LISTED = ", ".join(f"`{{{name}}}`" for name in PLACEHOLDERS)

Command = Annotated[list[str], Field(min_length=1)]


class ServerSpec(FileModel):
    """A tool server that speaks MCP on its standard input and output."""

    command: Command = Field(description=f"the command and its arguments; {_LISTED} are filled in")
    env: dict[str, str] = Field(default_factory=dict, description="its environment variables; filled in the same way")
    snapshot: list[str] = Field(
        default_factory=list, description="a command that prints the server's content as one JSON object"
    )
    timeout: float = Field(60, gt=0, description="timeout of a tool call in seconds")


class AssistantFile(FileModel):
    """One runnable assistant."""

    agent: str = Field(description="the agent file, relative to this file")
    model: str = Field("scripted", description="a pydantic-ai model name; `scripted` plays the scenarios")
    server: ServerSpec = Field(description="where the tools come from")
    scenarios: str = Field("", description="the folder of scenario files, relative to this file")
    steps: int | None = Field(
        None,
        ge=1,
        le=200,
        description="the maximum number of model requests per turn, over `run: steps:` of the agent file; 15 if "
        "neither says any",
    )
    retries: int | None = Field(
        None,
        ge=0,
        le=20,
        description="how often a failed tool may be retried in a turn, over `run: retries:` of the agent file; 2 if "
        "neither says any",
    )
    first_tool: str | None = Field(
        None,
        description="the tool that has to be called before any other, for each user message, over `run: first_tool:` "
        "of the agent file",
    )


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled; braces around anything else stay as they are."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def unknown_placeholders(document: Document, file: AssistantFile) -> list[Problem]:
    """An error for each unknown placeholder."""
    server = file.server
    texts: list[tuple[tuple[str | int, ...], str]] = [
        *((("server", "command", index), text) for index, text in enumerate(server.command)),
        *((("server", "snapshot", index), text) for index, text in enumerate(server.snapshot)),
        *((("server", "env", name), text) for name, text in server.env.items()),
    ]
    return [problem for path, text in texts for problem in _unknown(document, path, _PLACEHOLDER.findall(text))]


def _unknown(document: Document, path: tuple[str | int, ...], names: Iterable[str]) -> list[Problem]:
    return [
        document.problem(
            path, "unknown-placeholder", f"unknown placeholder `{{{name}}}`", did_you_mean(name, PLACEHOLDERS)
        )
        for name in names
        if name not in PLACEHOLDERS
    ]
