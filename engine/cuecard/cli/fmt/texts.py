"""Templates and instruction texts: tidied as far as it is proven that no prompt changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cuecard.agent.build import build_agent
from cuecard.agent.draft import make_draft
from cuecard.agent.helpers import LoadHelpers
from cuecard.agent.memo import Memo
from cuecard.agent.shape import Shape, shape_of
from cuecard.cli.fmt.files import File, Found, agents_above, is_agent, read_file
from cuecard.cli.fmt.prompts import prompts_of
from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.config.formatting.text_layout import KINDS
from cuecard.config.formatting.yaml_layout import not_formatted
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.outside.folder import read_agent
from cuecard.outside.paths import shown


@dataclass(slots=True)
class _Agent:
    """An agent with the current state of its texts."""

    path: Path
    sources: AgentSources

    def real(self, source: SourceText) -> Path:
        return Path(os.path.realpath(self.path.parent / source.path))

    def texts(self) -> Iterator[SourceText]:
        """The texts written by its authors. Files that sections show, and skills, belong to others."""
        yield from (self.sources.template,) if self.sources.template else ()
        yield from self.sources.partials
        yield from self.sources.sections

    def with_text(self, real: Path, text: str) -> AgentSources:
        """The sources with the text of one file replaced."""
        sources = self.sources

        def changed(texts: tuple[SourceText, ...]) -> tuple[SourceText, ...]:
            return tuple(replace(each, text=text) if self.real(each) == real else each for each in texts)

        template = next(iter(changed((sources.template,))), None) if sources.template else None
        partials, sections = changed(sources.partials), changed(sources.sections)
        return replace(sources, template=template, partials=partials, sections=sections)


class Texts:
    """The texts of the agents that were found, or that use the given files."""

    def __init__(self, found: Found, load: LoadHelpers) -> None:
        self._found, self._load, self._memo = found, load, Memo()
        self.problems: list[Problem] = []
        self._agents = {path: agent for path in found.agents if (agent := self._read(path))}

    def formatted(self) -> Iterator[tuple[File, str]]:
        """Each file with its formatted text; afterwards, `problems` says what was left alone and why."""
        files = {**self._of_agents(), **self._found.texts}
        for real, file in sorted(files.items()):
            agents = self._agents_of(real)
            if agents:
                yield file, self._tidied(real, file, agents)
            elif real in self._found.texts:
                self.problems.append(not_formatted(file.name, "no agent in its folder or above names it"))

    def _of_agents(self) -> dict[Path, File]:
        files: dict[Path, File] = {}
        for agent in self._agents.values():
            for source in agent.texts():
                real = agent.real(source)
                if real not in files and self._found.covers(real):
                    files[real] = read_file(real, shown(agent.path.parent / source.path))
        return files

    def _agents_of(self, real: Path) -> list[_Agent]:
        for path in agents_above(real) if real in self._found.texts else ():
            if path not in self._agents and is_agent(path) and (agent := self._read(path)):
                self._agents[path] = agent
        return [agent for agent in self._agents.values() if any(agent.real(each) == real for each in agent.texts())]

    def _read(self, path: Path) -> _Agent | None:
        try:
            return _Agent(path, read_agent(path))
        except SpecError as error:
            self.problems += error.problems
            return None

    def _tidied(self, real: Path, file: File, agents: Sequence[_Agent]) -> str:
        text, kept = file.text, dict.fromkeys(KINDS, "")
        settled = False
        while not settled:
            settled = True
            for kind, tidy in KINDS.items():
                better = tidy(text)
                kept[kind] = "" if better == text else self._why_not(real, better, agents)
                if better != text and not kept[kind]:
                    text, settled = better, False
                    for agent in agents:
                        agent.sources = agent.with_text(real, text)
        reasons: dict[str, list[str]] = {}
        for kind, why in kept.items():
            reasons.setdefault(why, []).append(kind)
        self.problems += [not_formatted(file.name, f"{', '.join(of)}: {why}") for why, of in reasons.items() if why]
        return text

    def _why_not(self, real: Path, text: str, agents: Sequence[_Agent]) -> str:
        """The reason why a file cannot be changed; empty if the prompts of all agents that use it stay the same."""
        for agent in agents:
            changed = agent.with_text(real, text)
            before, after = self._shape(agent.sources), self._shape(changed)
            if before is None:
                return f"its content cannot be determined while {shown(agent.path)} has errors"
            if before != after or self._prompts(agent, agent.sources) != self._prompts(agent, changed):
                return "it is part of the prompt's text"
        return ""

    def _shape(self, sources: AgentSources) -> Shape | None:
        return shape_of(make_draft(sources, self._memo, self._load))

    def _prompts(self, agent: _Agent, sources: AgentSources) -> object:
        try:
            return prompts_of(build_agent(sources, self._memo, self._load), agent.path.parent)
        except CuecardError as error:
            return str(error)
