"""The argument of `cuecard run`: an assistant file, which has scenarios and a tool server, or a plain agent file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from cuecard.config.documents.yaml_text import read_yaml
from cuecard.config.file_kinds import kind_of
from cuecard.errors import InputError, Problem
from cuecard.outside.content import find_content
from cuecard.outside.paths import is_folder, is_there
from cuecard.outside.reading import read_text
from cuecard.outside.yaml_files import in_folder


class Runnable(NamedTuple):
    """A file that can be run, and which kind it is."""

    kind: Literal["agent", "assistant"]
    path: Path


def find_runnable(path: Path) -> Runnable:
    """The file to run; if both an assistant and an agent match, the assistant wins.

    A folder stands for its `assistant.yaml`, otherwise its `agent.yaml`; a name that does not exist on disk stands for
    the shipped assistant with that name, otherwise the shipped agent.

    Raises:
        SpecError: when the file cannot be read or is not YAML.
        InputError: when neither exists.
    """
    if is_folder(path):
        assistant, agent = in_folder(path, "assistant"), in_folder(path, "agent")
        if is_there(assistant):
            return Runnable("assistant", assistant)
        if is_there(agent):
            return Runnable("agent", agent)
        hint = "name a folder with `agent.yaml` or `assistant.yaml`, or a file"
        raise InputError(
            Problem("missing-file", f"`{path}` contains neither an agent nor an assistant", hint, "cuecard run")
        )
    for kind in ("assistant", "agent"):
        found = in_folder(find_content(path, kind), kind)
        if is_there(found):
            return Runnable(_kind(found), found)
    hint = "name an agent file, its folder, or a system shipped with cuecard, such as `cms`"
    raise InputError(Problem("missing-file", f"`{path}` does not exist", hint, "cuecard run"))


def _kind(path: Path) -> Literal["agent", "assistant"]:
    """The kind of a file by its content; if it is neither, reading it later reports the problem."""
    source = read_text(path)
    found = kind_of(read_yaml(source.text, source.name).value)
    return "assistant" if found == "assistant" or path.stem == "assistant" else "agent"
