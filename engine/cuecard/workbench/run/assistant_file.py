"""An assistant file with its scenarios read."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from cuecard.config.assistant_file import AssistantFile, fill, unknown_placeholders
from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.file_kinds import kind_of, refuse_other_kind
from cuecard.config.scenario_file import Scenario, ScenarioFile, unsaved_names
from cuecard.errors import CuecardError, InputError, Problem, SpecError, did_you_mean
from cuecard.files.content import find_content, in_folder, no_agent, yaml_files
from cuecard.files.roots import is_folder, is_there
from cuecard.files.safe_read import read_text
from cuecard.files.server_process import ServerCommand
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Assistant:
    """A runnable assistant from its files: paths resolved, scenarios sorted by name."""

    name: str
    folder: Path
    file: AssistantFile
    scenarios: tuple[Scenario, ...] = ()

    @property
    def agent(self) -> Path:
        """The agent file."""
        return self.folder / self.file.agent

    def server(self, data: Path, now: datetime) -> ServerCommand:
        """How to start the tool server with this data."""
        return self._command(self.file.server.command, data, now)

    def snapshot(self, data: Path, now: datetime) -> ServerCommand | None:
        """How to take a snapshot of the server's content, if the file says."""
        snapshot = self.file.server.snapshot
        return self._command(snapshot, data, now) if snapshot else None

    def chosen(self, names: tuple[str, ...]) -> tuple[Scenario, ...]:
        """The scenarios with these names; all if none is named.

        Raises:
            InputError: with every unknown name.
        """
        known = {scenario.name: scenario for scenario in self.scenarios}
        wrong = [name for name in names if name not in known]
        if wrong:
            raise InputError(
                Problem("unknown-scenario", f"there is no scenario `{n}`", did_you_mean(n, known), "--scenario")
                for n in wrong
            )
        return tuple(known[name] for name in dict.fromkeys(names)) if names else self.scenarios

    def _command(self, command: list[str], data: Path, now: datetime) -> ServerCommand:
        values = {"python": sys.executable, "here": str(self.folder), "data": str(data), "now": now.isoformat()}
        server = self.file.server
        env = {name: fill(text, values) for name, text in server.env.items()}
        return ServerCommand([fill(text, values) for text in command], env, self.folder, server.timeout, self.name)


def read_assistant(path: Path) -> Assistant:
    """The assistant at `path` (its YAML file, or a folder with `assistant.yaml`).

    Raises:
        SpecError: with every problem of the file and of its scenarios.
    """
    found = in_folder(find_content(path, "assistant"), "assistant")
    source = read_text(found)
    document = read_yaml(source.text, source.name)
    refuse_other_kind(document, "assistant")
    file = validate(document, AssistantFile)
    # Resolved, because commands that contain `{here}` run elsewhere.
    folder = found.parent.resolve()
    problems = [*document.warnings, *_missing(document, file, folder), *unknown_placeholders(document, file)]
    scenarios, found_problems = _read_scenarios(folder / file.scenarios) if file.scenarios else ((), [])
    problems = [p for p in (*problems, *found_problems) if p.severity == "error"]
    if problems:
        raise SpecError(problems)
    return Assistant(source.name, folder, file, scenarios)


def _missing(document: Document, file: AssistantFile, folder: Path) -> list[Problem]:
    return [
        document.problem(
            (key,), "missing-file", f"`{place}` does not exist", f"looked for {os.path.normpath(folder / place)}"
        )
        for key, place in (("agent", file.agent), ("scenarios", file.scenarios))
        if not is_there(folder / place)
    ]


def _read_scenarios(folder: Path) -> tuple[tuple[Scenario, ...], list[Problem]]:
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for path in yaml_files(folder):
        try:
            source = read_text(path)
            document = read_yaml(source.text, source.name)
            scenario = Scenario(path.stem, validate(document, ScenarioFile), document)
        except CuecardError as error:
            problems += error.problems
            continue
        scenarios.append(scenario)
        problems += [*document.warnings, *unsaved_names(scenario)]
    return tuple(scenarios), problems


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
        hint = no_agent(path)
        raise InputError(
            Problem("missing-file", f"`{path}` contains neither an agent nor an assistant", hint, "cuecard run")
        )
    for kind in ("assistant", "agent"):
        found = in_folder(find_content(path, kind), kind)
        if is_there(found):
            return Runnable(_kind(found), found)
    raise InputError(Problem("missing-file", f"`{path}` does not exist", no_agent(path), "cuecard run"))


def _kind(path: Path) -> Literal["agent", "assistant"]:
    """The kind of a file by its content; if it is neither, reading it later reports the problem."""
    source = read_text(path)
    found = kind_of(read_yaml(source.text, source.name).value)
    return "assistant" if found == "assistant" or path.stem == "assistant" else "agent"
