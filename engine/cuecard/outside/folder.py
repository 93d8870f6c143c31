"""Reads the files of an agent: the agent file, and every file it names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeGuard

from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.config.documents.yaml_text import Document, read_yaml
from cuecard.config.documents.yaml_text import Path as Place
from cuecard.config.layers import lay_over
from cuecard.config.named_files import Wanted
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.outside.reading import read_text, shown
from cuecard.outside.skills import read_skill_texts
from cuecard.outside.yaml_files import ENDINGS, in_folder

MAX_LAYERS = 16
"""How many agent files may extend each other."""


_Layer: TypeAlias = tuple[SourceText, Document]


def read_agent(path: str | Path) -> AgentSources:
    """The texts of the agent at `path` (its YAML file, or a folder with `agent.yaml`).

    Raises:
        SpecError: when the agent file itself cannot be read as YAML; every other problem is in the result.
    """
    file = in_folder(Path(path), "agent")
    agent = read_text(file)
    reader = _Reader(file.parent)
    layers = reader.layers(agent, read_yaml(agent.text, agent.name))
    return reader.follow(agent, layers)


def folder_of(path: str | Path) -> Path:
    """The folder of the agent at `path`: what its files name is relative to it."""
    given = Path(path)
    return given if given.is_dir() else given.parent


class _Reader:
    """Reads files relative to the agent's folder and gathers what goes wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self.unread: list[tuple[str, str]] = []

    def layers(self, agent: SourceText, document: Document) -> list[tuple[SourceText, Document]]:
        """The agent file and all that it extends, the lowest first; what several of them extend is there once.

        Raises:
            SpecError: with every one of them that is missing, or cannot be read as YAML.
        """
        below: dict[str, _Layer] = {}
        problems = [*self._below(agent, document, (agent.path,), below)]
        if problems:
            raise SpecError(dict.fromkeys(problems))
        return [*below.values(), (agent, document)]

    def _below(
        self, source: SourceText, document: Document, above: tuple[str, ...], found: dict[str, _Layer]
    ) -> Iterator[Problem]:
        """What is wrong with the files that this one extends; those that can be read are put into `found`."""
        for at, place in _extended(document):
            target = self.folder / source.path.rpartition("/")[0] / place
            file = in_folder(target, "agent") if _found(Path.is_dir, target) else target
            name = Path(os.path.relpath(file, self.folder)).as_posix()
            if name in above or len(above) > MAX_LAYERS:
                hint = "an agent file cannot extend itself: " + " -> ".join((*reversed(above), name))
                yield document.problem(at, "extends-cycle", f"`{place}` leads back here", hint)
            elif not _found(Path.is_file, file):
                hint = f"no such file: {shown(file)}"
                yield document.problem(at, "missing-file", f"`{place}` does not exist", hint)
            elif name not in found:
                try:
                    below = read_text(file, self.folder)
                    inner = read_yaml(below.text, below.name)
                except SpecError as error:
                    yield from error.problems
                else:
                    yield from self._below(below, inner, (*above, name), found)
                    found[name] = below, inner

    def follow(self, agent: SourceText, layers: Sequence[tuple[SourceText, Document]]) -> AgentSources:
        """The texts of every file that the merged agent file names."""
        # What is wrong with how they lie over each other is found again, and told, when the agent is made.
        document = lay_over([(written, source.path.rpartition("/")[0]) for source, written in layers]).document
        written = document.value.get("template")
        core = written if isinstance(written, dict) else {"file": written}
        at: Place = ("template", "file") if isinstance(written, dict) else ("template",)
        template = next(iter(self.named(document, at, "*.xml", core.get("file"))), None)
        layout = document.value.get("layout")
        partials = [
            *self.named(document, ("template", "partials"), "*", core.get("partials")),
            *self.named(document, ("layout", "partials"), "*", layout.get("partials") if _is(layout) else None),
        ]
        tools = document.value.get("tools")
        instructions = [
            source
            for place in _texts(tools.get("instructions") if _is(tools) else None)
            for source in self.named(document, ("tools", "instructions"), ENDINGS, place)
        ]
        models = next(self.named(document, ("models",), ENDINGS, document.value.get("models")), None)
        wanted = Wanted.of(document.value)
        texts = [text for at, place in wanted.texts for text in self.text(document, at, place)]
        files = [text for place in wanted.files for text in self.optional(place)]
        skills, found = read_skill_texts(wanted.roots, self.folder)
        self.problems += found
        return AgentSources(
            agent,
            template,
            tuple(partials),
            tuple(instructions),
            tuple(self.problems),
            tuple(source for source, _ in layers[:-1]),
            _once(texts),
            _once(files),
            tuple(self.unread),
            skills,
            models,
        )

    def optional(self, place: str) -> Iterator[SourceText]:
        """A file that may be missing; where it is there but cannot be read, the reason is kept."""
        target = self.folder / place
        if _found(Path.exists, target):
            try:
                yield replace(read_text(target, self.folder), path=place)
            except SpecError as error:
                self.unread.append((place, error.problems[0].message))

    def text(self, document: Document, key: Place, place: str) -> Iterator[SourceText]:
        """The one file at `place`, by the path that a section wrote."""
        if _found(Path.is_dir, self.folder / place):
            hint = f"name a file in {shown(self.folder / place)}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` is a folder", hint))
            return
        for source in self.named(document, key, "*", place):
            yield replace(source, path=place)

    def named(
        self, document: Document, key: Place, pattern: str | tuple[str, ...], place: object
    ) -> Iterator[SourceText]:
        """The file at `place`, or the files of the folder at `place` that match the pattern, or one of several."""
        if not isinstance(place, str) or not place:
            return
        target = self.folder / place
        if not _found(Path.exists, target):
            hint = f"no such file or folder: {shown(target)}"
            self.problems.append(document.problem(key, "missing-file", f"`{place}` does not exist", hint))
            return
        patterns = (pattern,) if isinstance(pattern, str) else pattern
        files = sorted(file for each in patterns for file in _files(target, each)) if target.is_dir() else [target]
        if not files:
            hint = f"put {patterns[0]} files into {shown(target)}"
            self.problems.append(document.problem(key, "empty-folder", f"`{place}` holds no {patterns[0]} file", hint))
        for file in files:
            try:
                yield read_text(file, self.folder)
            except SpecError as error:
                self.problems.extend(error.problems)


def _extended(document: Document) -> Iterator[tuple[Place, str]]:
    """The agent files that this one extends, each with its place."""
    written = document.value.get("extends")
    for index, text in enumerate(written if isinstance(written, list) else [written]):
        if isinstance(text, str) and text:
            yield ("extends", index) if isinstance(written, list) else ("extends",), text


def _found(check: Callable[[Path], bool], path: Path) -> bool:
    """What the check says; false for a name that the file system cannot even look up, such as one that is too long."""
    try:
        return check(path)
    except (OSError, ValueError):
        return False


def _is(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def _texts(value: Json) -> list[str]:
    """A text or a list of texts; what is neither is for the validation to tell."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text]


def _once(sources: Iterable[SourceText]) -> tuple[SourceText, ...]:
    """Each file once, however many sections show it."""
    return tuple({source.path: source for source in sources}.values())


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """The files that match, without what editors leave beside them while they save: hidden files, `x~`, `#x#`."""
    for path in folder.rglob(pattern):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "#")) or part.endswith("~") for part in parts):
            yield path
