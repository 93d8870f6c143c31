"""Agents while their files are edited: what is wrong with them, and what they would say, unsaved texts included."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from cuecard.agent import build_agent
from cuecard.agent.build import AgentDraft, make_draft
from cuecard.agent.checks.tool_texts import definitions_in
from cuecard.agent.host_functions import LoadHelpers
from cuecard.agent.lint import all_problems, lint
from cuecard.agent.world import Memo
from cuecard.config.agent_file import TokensSpec
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, SpecError, did_you_mean
from cuecard.files.cache import cache_at
from cuecard.files.clock import utc_now
from cuecard.files.content import AGENT_FILES, content_root, find_content, in_folder
from cuecard.files.folder import read_agent, read_imported
from cuecard.files.host_code import helper_loader
from cuecard.files.rankers.choice import SearchWish
from cuecard.files.roots import is_file, is_folder, shown
from cuecard.files.safe_read import Overlay
from cuecard.files.settings import read_settings
from cuecard.files.tokens import bundled_counter, kept_counter
from cuecard.files.tree import search
from cuecard.model import CountTokens, Step, ToolResult, Turn
from cuecard.model.boundary import FilledText, checked
from cuecard.records import dataclass

__all__ = ["AgentProblems", "Workspace"]

Lint: TypeAlias = Callable[[AgentDraft, Mapping[str, str], Memo], list[Problem]]
"""The checks beyond those of every opening, with the definitions of tools that are known, and what is kept of them."""
MakeEngine: TypeAlias = Callable[[AgentSources, Memo, Engine | None], Engine]
"""Makes an engine of texts; what the last one has counted need not be counted again."""


@dataclass(frozen=True, slots=True)
class AgentProblems:
    """What a check of an agent found.

    Attributes:
        name: the agent's file or folder as it was given, or the folder that could not be searched.
        problems: in reading order of its files, from top to bottom.
        draft: the agent as far as it could be built; None if its agent file could not be read.
    """

    name: str
    problems: tuple[Problem, ...]
    draft: AgentDraft | None = None


class Workspace:
    """The agents below some folders. Texts that are open lie over their files; `unread` are the folders that could not
    be searched.

    Whatever an edit does not touch is neither read as YAML, compiled nor checked again. Code that agent files name is
    loaded only if allowed. For one thread at a time.
    """

    @checked
    def __init__(self, roots: Sequence[FilledText | Path], *, allow_code: bool = False) -> None:
        """Look for agents.

        Args:
            roots: agent files, their folders, or folders of such folders; also the name of an agent that cuecard
                brings.
            allow_code: whether helpers and rankers that agent files name may be loaded.
        """
        self._load = helper_loader(allow_code=allow_code)
        self._search = SearchWish(None, allow_code, read_settings().cache_folder)
        kept = cache_at(read_settings().cache_folder)
        self._counter = cache(lambda encoding: kept_counter(encoding, kept))  # stored counts are read once
        self._schema = (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")
        self._open: dict[Path, str] = {}
        self._agents: dict[Path, _Agent] = {}
        self.unread: list[AgentProblems] = []
        for root in map(find_content, map(Path, roots)):
            found, problems = agents_in(root)
            self.unread += [AgentProblems(str(root), problems)] if problems else []
            for agent in map(_Agent, found):
                self._agents.setdefault(_resolved(agent.file), agent)

    @property
    def agents(self) -> tuple[Path, ...]:
        """The agent files, absolute."""
        return tuple(self._agents)

    def open(self, path: str | Path, text: str) -> None:
        """Lay a text over a file, which need not exist yet."""
        self._open[_resolved(path)] = text

    def edit(self, path: str | Path, text: str) -> None:
        """Change the text that lies over a file.

        Raises:
            InputError: when the file is not open.
        """
        self._must_be_open(path)
        self._open[_resolved(path)] = text

    def close(self, path: str | Path) -> None:
        """Take the text away: the file counts again.

        Raises:
            InputError: when the file is not open.
        """
        self._must_be_open(path)
        del self._open[_resolved(path)]

    def check(self, agent: str | Path) -> AgentProblems:
        """Everything that is wrong with an agent.

        Raises:
            InputError: when it is not an agent of this workspace.
        """
        return self._agent(agent).check(self._open, self._load, self._lint)

    def counter(self, draft: AgentDraft) -> CountTokens:
        """How an agent's tokens are counted; counts of earlier checks are known."""
        return self._counter((draft.spec.tokens if draft.spec else TokensSpec()).encoding)

    def problems(self) -> dict[Path, tuple[Problem, ...]]:
        """What is wrong, by the absolute path of each file; a file of two agents has what either says of it, once."""
        told: dict[Path, dict[Problem, None]] = {}
        for each in self._agents.values():
            found = each.check(self._open, self._load, self._lint)
            files: dict[str, Path] = {}  # thousands of problems may be in one file
            for problem in found.problems:
                if problem.name not in files:
                    files[problem.name] = each.file_of(problem.name)
                told.setdefault(files[problem.name], {})[problem] = None
        return {path: tuple(problems) for path, problems in told.items()}

    def agents_of(self, path: str | Path) -> tuple[Path, ...]:
        """The agents that read a file, such as a file of tool instructions."""
        wanted = _resolved(path)
        for each in self._agents.values():
            each.check(self._open, self._load, self._lint)
        return tuple(agent for agent, each in self._agents.items() if wanted in each.files)

    def engine(self, agent: str | Path) -> Engine:
        """The agent as it is now or, while its files are broken, as it last was.

        Raises:
            InputError: when it is not an agent of this workspace.
            SpecError: when its files have never been right.
        """
        return self._agent(agent).engine(self._open, self._made)

    def render(self, agent: str | Path, turn: Turn | None = None, discovered: Sequence[str] = ()) -> Step:
        """The first step of a call of `engine(agent)`, as if a search had found these tools.

        Raises:
            InputError: when it is not an agent of this workspace, an input is missing or wrong, or a tool is unknown.
            SpecError: when its files have never been right.
        """
        return first_step(self.engine(agent), turn, discovered)

    def _agent(self, path: str | Path) -> _Agent:
        resolved = _resolved(path)
        inside = [resolved / name for name in AGENT_FILES]
        found = next((each for each in (resolved, *inside) if each in self._agents), None)
        if found is None:
            names = {os.fspath(each): each for each in self._agents}
            hint = did_you_mean(os.fspath(resolved), names)
            raise InputError(Problem("unknown-agent", f"`{path}` is not an agent of this workspace", hint, "agent"))
        return self._agents[found]

    def _must_be_open(self, path: str | Path) -> None:
        if _resolved(path) not in self._open:
            raise InputError(Problem("not-open", f"`{path}` is not open", "open it with its text first", "path"))

    def _lint(self, draft: AgentDraft, definitions: Mapping[str, str], memo: Memo) -> list[Problem]:
        return lint(draft, count=self.counter(draft), schema=self._schema, definitions=definitions, memo=memo)

    def _made(self, sources: AgentSources, memo: Memo, last: Engine | None) -> Engine:
        settings = read_settings()
        agent = build_agent(sources, memo, self._load, bundled_counter)
        encoding = agent.spec.tokens.encoding
        count = last.count if last and last.agent.spec.tokens.encoding == encoding else bundled_counter(encoding)
        delivery = settings.delivery or agent.spec.delivery
        return Engine(agent, delivery, count, utc_now, settings.salt, "", self._search.open(agent.ranker))


class _Agent:
    """One agent: what was found when its texts last changed."""

    def __init__(self, path: Path) -> None:
        self.name, self.file = str(path), in_folder(path, "agent")
        self.files: Mapping[Path, str] = {_resolved(self.file): shown(self.file)}
        self._memo = Memo()
        self._seen: tuple[AgentSources, tuple[SourceText, ...]] | None = None
        self._checked = AgentProblems(self.name, ())
        self._engine: Engine | None = None
        self._digest = ""

    def check(self, overlay: Overlay, load: LoadHelpers, lint: Lint) -> AgentProblems:
        """Everything that is wrong with it; what was found before, if its texts are the same."""
        try:
            sources = read_agent(self.file, overlay)
            imported = read_imported(self.file, sources)
            if (sources, imported) == self._seen:
                return self._checked
            draft = make_draft(sources, self._memo, load)
        except SpecError as error:
            self._seen = None
            return AgentProblems(self.name, error.problems)
        definitions = dict(each for source in imported for each in self._memo(definitions_in, source).items())
        problems = all_problems(draft, lint(draft, definitions, self._memo))
        self._memo.forget_unused()
        self.files = {_resolved(self.file.parent / source.path): source.name for source in sources.texts()}
        self._seen, self._checked = (sources, imported), AgentProblems(self.name, problems, draft)
        return self._checked

    def engine(self, overlay: Overlay, make: MakeEngine) -> Engine:
        """The engine of its texts or, while they are wrong, the last one; without one, that of the saved files.

        Raises:
            SpecError: when these are wrong, too.
        """
        try:
            return self._of(read_agent(self.file, overlay), make)
        except SpecError:
            return self._engine or self._of(read_agent(self.file), make)

    def _of(self, sources: AgentSources, make: MakeEngine) -> Engine:
        digest = sources.sha256()
        if self._engine is None or digest != self._digest:
            self._engine, self._digest = make(sources, self._memo, self._engine), digest
        return self._engine

    def file_of(self, wanted: str) -> Path:
        """The absolute path of a file, by the name that problems have for it."""
        return next((path for path, name in self.files.items() if name == wanted), None) or _resolved(wanted)


def first_step(engine: Engine, turn: Turn | None, discovered: Sequence[str], past: Sequence[ToolResult] = ()) -> Step:
    """The first step of a call after these results, as if a search had then found these tools.

    Raises:
        InputError: when an input is missing or wrong, or a tool is unknown.
    """
    if unknown := [name for name in discovered if name not in engine.tools]:
        told = [(name, did_you_mean(name, engine.tools)) for name in unknown]
        raise InputError(
            Problem("unknown-tool", f"`{name}` is not a tool of this agent", hint, "discovered") for name, hint in told
        )
    found = [ToolResult(engine.search_tool, {"tools": [*discovered]}, "search-1")] if discovered else []
    return engine.prepare_step(engine.prepare_call(turn), [*past, *found])


def agents_in(path: Path) -> tuple[Sequence[Path], tuple[Problem, ...]]:
    """The agent itself or, for a folder without an agent file, the agents in its folders; and the problems of places
    that were not searched.
    """
    if not is_folder(path) or any(is_file(path / name) for name in AGENT_FILES):
        return [path], ()
    walk = search(path, AGENT_FILES.__contains__)
    found = sorted({path.joinpath(*each.shown[:-1]) for each in walk.found})
    return found or ([] if walk.problems else [path]), tuple(walk.problems)


def _resolved(path: str | Path) -> Path:
    return Path(os.path.realpath(path))
