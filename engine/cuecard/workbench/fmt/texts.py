"""Texts tidied as far as it is proven that no prompt changes.

Two shapes may differ although no prompt does, but never the reverse.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from cuecard.agent.agent import Agent
from cuecard.agent.build import AgentDraft, build_agent, make_draft
from cuecard.agent.host_functions import LoadHelpers
from cuecard.agent.sections.layout import Layout
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.config.turn_file import TurnFile
from cuecard.engine import Engine
from cuecard.errors import CuecardError, Problem, SpecError
from cuecard.files.folder import read_agent
from cuecard.files.roots import shown
from cuecard.files.tokens import bundled_counter
from cuecard.template.rules import BLOCKS
from cuecard.template.syntax import nodes
from cuecard.template.syntax.nodes import Block, Partial, Program, Statement, TextNode
from cuecard.workbench.fmt.files import File, FileChoice, agents_above, is_agent, read_file
from cuecard.workbench.fmt.yaml_layout import KINDS, not_formatted
from cuecard.workbench.played import play, read_turns
from cuecard.workbench.testing.turns import MOMENT, TURNS

Prompt: TypeAlias = tuple[str, ...]
"""The sections' texts and their fingerprints in the manifest, or the error."""


def prompts_of(agent: Agent, folder: Path) -> list[Prompt]:
    """The prompt of each turn in `turns/`, and of an empty turn.

    Args:
        agent: the agent.
        folder: the folder that contains `turns/`.
    """
    engine = Engine(agent, agent.spec.delivery, bundled_counter(agent.spec.tokens.encoding), lambda: MOMENT)
    said = [*_conversation(engine, (TurnFile(),))]
    for path in sorted((folder / TURNS).rglob("*.y*ml")):
        try:
            turns = read_turns(path)[1]
        except CuecardError:  # it is not a turn file, or formatting will report its problems
            continue
        said += _conversation(engine, turns)
    return said


def _conversation(engine: Engine, turns: tuple[TurnFile, ...]) -> Iterator[Prompt]:
    chat = engine.conversation()
    for turn in turns:
        try:
            step = play(engine, chat, turn).step
        except CuecardError as error:
            yield tuple(problem.code for problem in error.problems)
            return
        texts = [*(each.text for each in step.segments), *(each.text for each in step.appended)]
        yield (*texts, *(str(section.sha256) for section in step.manifest.sections))


Shape: TypeAlias = Hashable

_PLACES = frozenset(("start", "end", "first", "last"))
_BLANKS_AT_LINE_END = re.compile(r"[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{2,}")


def shape_of(draft: AgentDraft) -> Shape | None:
    """The shape of an agent; None for one with errors."""
    if draft.assembly is None or draft.spec is None or draft.has_errors:
        return None
    layout, trees = draft.assembly.layout, {}
    sections: list[Shape] = []
    for each in draft.assembly.all_compiled:
        made = each.section
        key = id(each.text.program)
        if key not in trees:
            trees[key] = _text(each.text.source.text, each.text.program, layout)
        told = made.tier, tuple(sorted(made.reads)), made.heading, made.leads, made.label, made.stable, made.frame
        sections.append((made.id, told, made.lifetime, trees[key]))
    partials = tuple(
        (name, _TextShape(source.text, layout).program(tree)) for name, (source, tree) in draft.partials.items()
    )
    results = tuple((form.name, form.text.text, form.error.text, form.spec) for form in draft.results)
    return tuple(sections), partials, layout, draft.names, results


def _text(text: str, program: Program, layout: Layout) -> Shape:
    """A separate text, without surrounding white space if the layout trims it."""
    said = _TextShape(text, layout).statements(program.body)
    if layout.trim and said:
        said = [_stripped(said[0], left=True), *said[1:]]
        said = [*said[:-1], _stripped(said[-1], left=False)]
    return tuple(each for each in said if each != "")


def _stripped(said: Shape, *, left: bool) -> Shape:
    if not isinstance(said, str):
        return said
    return said.lstrip() if left else said.rstrip()


class _TextShape:
    """What decides the output of a text: its statements without their places."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._text, self._layout = text, layout

    def program(self, program: Program | None, *, exact: bool = False) -> Shape:
        if program is None:
            return None
        body = tuple(each for each in self.statements(program.body, exact=exact) if each != "")
        return body, program.block_params, program.chained

    def statements(self, body: Sequence[Statement], *, exact: bool = False) -> list[Shape]:
        return [self._statement(node, exact=exact) for node in body]

    def _statement(self, node: Statement, *, exact: bool) -> Shape:
        if isinstance(node, TextNode):
            text = self._text[node.first : node.last]
            return text if exact else self._tidied(text)
        if not isinstance(node, Block | Partial):
            return _plain(node)
        # It is unknown what a host's helper does with the text of its block.
        head = node.call.head
        known = (
            isinstance(node, Partial) or node.decorator or (isinstance(head, nodes.Path) and head.original in BLOCKS)
        )
        exact = exact or not known or (isinstance(node, Block) and node.raw)
        branches = [self.program(node.program, exact=exact)]
        if isinstance(node, Block):
            branches += [self.program(node.inverse, exact=exact), node.decorator, node.raw]
            return "block", _plain(node.call), *branches
        return "partial", _plain(node.call), node.indent, *branches

    def _tidied(self, text: str) -> str:
        """The text without the white space that the layout removes from each section."""
        if self._layout.whitespace == "keep":
            return text
        text = _BLANKS_AT_LINE_END.sub("\n", text)
        return _BLANK_LINES.sub("\n", text) if self._layout.whitespace == "compact" else text


def _plain(node: Any) -> Shape:
    """A part of a tag as its class and values, without places; for paths and numbers, the spelling counts."""
    if is_dataclass(node) and not isinstance(node, type):
        said = ((each.name, _plain(getattr(node, each.name))) for each in fields(node) if each.name not in _PLACES)
        return type(node).__name__, *said
    return tuple(_plain(each) for each in node) if isinstance(node, tuple) else (type(node).__name__, node)


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

    def __init__(self, found: FileChoice, load: LoadHelpers) -> None:
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
