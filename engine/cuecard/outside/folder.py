"""Reads the files of an agent: the agent file, and every file it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cuecard.errors import Problem, SpecError
from cuecard.spec.sources import AgentSources, SourceText
from cuecard.spec.yaml_text import Document, read_yaml

MAX_BYTES = 1024 * 1024
"""No file of an agent is larger: prompts are texts that people read."""


def read_agent(path: str | Path) -> AgentSources:
    """The texts of the agent at `path` (its YAML file, or a folder with `agent.yaml`).

    Raises:
        SpecError: when the agent file itself cannot be read as YAML; every other problem is in the result.
    """
    file = Path(path)
    file = file / "agent.yaml" if file.is_dir() else file
    agent = read_text(file)
    return _Reader(file.parent).follow(agent, read_yaml(agent.text, agent.name))


def read_text(path: Path, folder: Path | None = None) -> SourceText:
    """One UTF-8 text file; line breaks become newlines, a byte order mark is dropped.

    Raises:
        SpecError: when it is missing, unreadable, too large or not UTF-8.
    """
    name = _shown(path)
    text = _decoded(path, name).replace("\r\n", "\n").replace("\r", "\n")
    return SourceText(name, Path(os.path.relpath(path, folder or path.parent)).as_posix(), text)


class _Reader:
    """Reads files relative to the agent's folder and gathers what goes wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []

    def follow(self, agent: SourceText, document: Document) -> AgentSources:
        written = document.value.get("template")
        core = written if isinstance(written, dict) else {"file": written}
        at = ("template", "file") if isinstance(written, dict) else ("template",)
        template = next(iter(self.named(document, at, "*.xml", core.get("file"))), None)
        partials = tuple(self.named(document, ("template", "partials"), "*", core.get("partials")))
        tools = document.value.get("tools")
        wanted = tools.get("instructions", []) if isinstance(tools, dict) else []
        instructions = [
            source
            for place in (wanted if isinstance(wanted, list) else [wanted])
            for source in self.named(document, ("tools", "instructions"), "*.yaml", place)
        ]
        return AgentSources(agent, template, partials, tuple(instructions), tuple(self.problems))

    def named(self, document: Document, key: tuple[str, ...], pattern: str, place: object) -> Iterator[SourceText]:
        """The file at `place`, or the files of the folder at `place` that match."""
        if not isinstance(place, str) or not place:
            return
        target = self.folder / place
        if not target.exists():
            hint = f"no such file or folder: {_shown(target)}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` does not exist", hint))
            return
        files = sorted(_files(target, pattern)) if target.is_dir() else [target]
        if not files:
            hint = f"put {pattern} files into {_shown(target)}"
            self.problems.append(document.problem(key, "empty-folder", f"`{place}` holds no {pattern} file", hint))
        for file in files:
            try:
                yield read_text(file, self.folder)
            except SpecError as error:
                self.problems.extend(error.problems)


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """The files that match, without what editors leave beside them while they save: hidden files, `x~`, `#x#`."""
    for path in folder.rglob(pattern):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "#")) or part.endswith("~") for part in parts):
            yield path


def _decoded(file: Path, name: str) -> str:
    if not file.is_file():
        raise SpecError(_not_a_file(file, name))
    try:
        data = file.read_bytes()
    except OSError as error:
        hint = "check the file's permissions"
        raise SpecError(Problem("unreadable-file", f"{error.strerror}", hint, name)) from None
    if len(data) > MAX_BYTES:
        message = f"{len(data):,} bytes; at most {MAX_BYTES:,}"
        raise SpecError(Problem("large-file", message, "split the file", name))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"byte 0x{data[error.start]:02X} in line {line} is not UTF-8"
        raise SpecError(Problem("encoding", message, "save the file as UTF-8", name)) from None


def _not_a_file(file: Path, name: str) -> Problem:
    if file.exists():
        return Problem("missing-file", "this is not a regular file", "name a YAML, XML or Markdown file", name)
    return Problem("missing-file", "no such file", "check the path: it is relative to where you stand", name)


def _shown(path: Path) -> str:
    """The path as people would type it: relative to where they stand if it is below, else as given."""
    full = Path(os.path.normpath(path.absolute()))
    here = Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else full.as_posix()
