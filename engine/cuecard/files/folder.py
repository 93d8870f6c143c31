"""Reads the files of an agent: the agent file, and every file it names."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from cuecard.config.documents.document import Document
from cuecard.config.documents.document import Path as Place
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.documents.yaml_changes import read_lately
from cuecard.config.layers import lay_over
from cuecard.config.named_files import AgentPlaces, texts
from cuecard.errors import Problem, SpecError
from cuecard.files.content import ENDINGS, YAML_SUFFIXES, find_content, in_folder, is_agent_text, no_agent, not_yaml
from cuecard.files.named_files import NamedTexts
from cuecard.files.roots import Roots, is_folder, is_there, shown
from cuecard.files.safe_read import MAX_LOG_BYTES, NOTHING_OVER, Overlay, read_text
from cuecard.files.skills import read_skill_texts

MAX_LAYERS = 16
"""The maximum number of agent files that extend each other."""

_Layer: TypeAlias = tuple[SourceText, Document]


def read_agent(path: str | Path, overlay: Overlay = NOTHING_OVER) -> AgentSources:
    """The texts of the agent at `path` (its YAML file, or a folder with `agent.yaml`).

    Args:
        path: where it is.
        overlay: texts that lie over files. One that is not saved yet counts where the agent file names it, or its
            folder; among skills and files that patterns find, only those that exist.

    Raises:
        SpecError: when the agent file itself cannot be read as YAML; every other problem is in the result.
    """
    file = in_folder(Path(path), "agent")
    try:
        agent = read_text(file, overlay=overlay)
    except SpecError as error:
        if is_there(file) or any(problem.message != "no such file" for problem in error.problems):
            raise
        raise SpecError(replace(problem, advice=no_agent(Path(path))) for problem in error.problems) from None
    if file.suffix not in YAML_SUFFIXES and not is_agent_text(agent.text):
        raise SpecError(not_yaml(file))
    document = read_lately(agent.text, agent.name)
    layers = _Layers(file.parent, document, overlay).of(agent, document)
    return _follow(file.parent, agent, layers, overlay)


def read_imported(path: str | Path, sources: AgentSources) -> tuple[SourceText, ...]:
    """What `cuecard tools import` keeps of the definitions of tools, beside the files of their instructions.

    A file that cannot be read is left out: the next import says so.
    """
    home = folder_of(path)
    found: list[SourceText] = []
    for place in dict.fromkeys(posixpath.dirname(source.path) for source in sources.instructions):
        for file in sorted((home / place).glob("*.lock.json")):
            with suppress(SpecError):
                found.append(read_text(file, home, limit=MAX_LOG_BYTES))
    return tuple(found)


def folder_of(path: str | Path) -> Path:
    """The folder of the agent at `path`, which paths in its files are relative to."""
    given = Path(path)
    return given if is_folder(given) else given.parent


class _Layers:
    """The agent file and those that it extends, with their problems."""

    def __init__(self, folder: Path, document: Document, overlay: Overlay) -> None:
        self.folder, self.overlay = folder, overlay
        self.listed = texts(document.value.get("roots"))

    def of(self, agent: SourceText, document: Document) -> list[_Layer]:
        """The agent file and all files that it extends, from the base up; each file occurs once.

        Raises:
            SpecError: with every file that is missing or cannot be read as YAML.
        """
        below: dict[str, _Layer] = {}
        problems = [*self._below(agent, document, (agent.path,), below)]
        if problems:
            raise SpecError(dict.fromkeys(problems))
        return [*below.values(), (agent, document)]

    def _below(
        self, source: SourceText, document: Document, above: tuple[str, ...], found: dict[str, _Layer]
    ) -> Iterator[Problem]:
        """The problems of the files that this one extends; readable files are added to `found`."""
        own = source.path.rpartition("/")[0]
        for at, place in _extended(document):
            target = posixpath.join(own, place)
            file = in_folder(self.folder / target, "agent")
            inner = posixpath.join(target, file.name) if is_folder(self.folder / target) else target
            name = Path(os.path.relpath(self.folder / inner, self.folder)).as_posix()
            if not place.strip():
                yield document.problem(at, "missing-file", "a path is empty", "write the path of a file")
            elif name in above or len(above) > MAX_LAYERS:
                hint = "an agent file cannot extend itself: " + " -> ".join((*reversed(above), name))
                yield document.problem(at, "extends-cycle", f"`{place}` extends this file again", hint)
            elif not is_there(self.folder / inner):
                hint = _way_out(place) or f"no such file: {shown(self.folder / inner)}"
                yield document.problem(at, "missing-file", f"`{place}` does not exist", hint)
            elif name not in found:
                try:
                    layer = self._layer(inner, own)
                except SpecError as error:
                    yield from error.problems
                else:
                    yield from self._below(*layer, (*above, name), found)
                    found[name] = layer

    def _layer(self, path: str, own: str) -> _Layer:
        roots = Roots.of(self.folder, (own, posixpath.dirname(path)), self.listed)
        source = read_text(self.folder / path, self.folder, place=roots.find(path), overlay=self.overlay)
        return source, read_lately(source.text, source.name)


def _follow(folder: Path, agent: SourceText, layers: Sequence[_Layer], overlay: Overlay) -> AgentSources:
    """The texts of every file that the merged agent file names."""
    # Problems of merging are found again, and reported, when the agent is built.
    document = lay_over([(written, source.path.rpartition("/")[0]) for source, written in layers]).document
    named = AgentPlaces.of(document.value)
    folders = [posixpath.dirname(source.path) for source, _ in layers]
    roots = Roots.of(folder, [*named.all(), *folders], texts(document.value.get("roots")))
    reader = NamedTexts(folder, roots, overlay)
    template = next(iter(reader.named(document, named.template_key, ("*.xml",), named.template)), None)
    partials = [text for at, place in named.partials for text in reader.named(document, at, ("*",), place)]
    instructions = [text for at, place in named.instructions for text in reader.named(document, at, ENDINGS, place)]
    models = next(reader.named(document, ("models",), ENDINGS, named.models), None)
    written = [text for at, place in named.sections.texts for text in reader.text(document, at, place)]
    results = [text for at, place in named.results for text in reader.text(document, at, place)]
    files = [text for place in named.sections.files for text in reader.optional(place)]
    files += [text for search in named.sections.searches for text in reader.found(search)]
    files += [text for place in named.written for text in reader.optional(place)]
    for at, place in named.roots:
        reader.folder_of_links(document, at, place)
    below = [place for at, place in named.sections.roots if reader.folder_of_skills(document, at, place)]
    skills, found = read_skill_texts(below, folder, roots, named.sections.strict, overlay)
    return AgentSources(
        agent,
        template,
        tuple(partials),
        tuple(instructions),
        (*dict.fromkeys(reader.problems), *found),
        tuple(source for source, _ in layers[:-1]),
        _once(written),
        _once(files),
        tuple(dict.fromkeys(reader.unread)),
        skills,
        models,
        tuple(dict.fromkeys(reader.folders)),
        _once(results),
        tuple(reader.not_files),
    )


def _extended(document: Document) -> Iterator[tuple[Place, str]]:
    """The agent files that this one extends, each with the place that names it."""
    written = document.value.get("extends")
    for index, text in enumerate(written if isinstance(written, list) else [written]):
        if isinstance(text, str):
            yield ("extends", index) if isinstance(written, list) else ("extends",), text


def _way_out(place: str) -> str:
    """The hint for a name that commands would take for a shipped agent; empty for any other name."""
    found = find_content(Path(place))
    if "/" in place or not is_there(found):
        return ""
    hint = f"`{place}` is shipped with cuecard, but `extends` takes the path of an agent file"
    return f"{hint}: copy the folder {shown(found.parent)} beside this file"


def _once(sources: Iterable[SourceText]) -> tuple[SourceText, ...]:
    """Each file once, even if several sections show it."""
    return tuple({source.path: source for source in sources}.values())
