"""Tools that agent files and texts name, compared with their instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise

from cuecard.agent.checks.inputs import Use
from cuecard.agent.specification import is_pattern
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document, Path, problem_at
from cuecard.config.documents.sources import SourceText
from cuecard.config.tools_spec import CUES
from cuecard.errors import DidYouMean, Problem, Span, did_you_mean
from cuecard.model import ToolCard
from cuecard.template.rules import TOOL


def check_tools(document: Document, spec: AgentFile, known: frozenset[str] | None) -> Iterator[Problem]:
    """Problems of core tools that no tool file knows (None: it is unclear which tools exist).

    A pattern may match what only tool servers or turns bring, so that one without a match here is a warning.
    """
    if known is None:
        return
    for index, name in enumerate(spec.tools.core):
        place = ("tools", "core", index)
        if not is_pattern(name) and name not in known:
            message = f"`{name}` has no tool instructions"
            hint = DidYouMean(name, known) if name != "all" else "for every tool, write `core: all`"
            yield document.problem(place, "unknown-tool", message, hint)
        elif name != "*" and is_pattern(name) and not any(fnmatchcase(each, name) for each in known):
            message = f"no tool of these files has a name like `{name}`"
            hint = "change it, unless a tool server or a turn brings such tools"
            yield document.problem(place, "unknown-tool", message, hint, severity="warning")
    for at, name in _excluded(spec):
        if name not in known:
            hint = DidYouMean(name, known)
            yield document.problem(at, "unknown-tool", f"no tool is called `{name}`", hint, severity="warning")


def _excluded(spec: AgentFile) -> Iterator[tuple[Path, str]]:
    for kind, selections in (("profiles", spec.profiles), ("variants", spec.variants)):
        for chosen, selection in selections.items():
            yield from (((kind, chosen, "exclude_tools", at), name) for at, name in enumerate(selection.exclude_tools))


def check_asked(uses: Iterable[Use], known: frozenset[str] | None) -> Iterator[Problem]:
    """A warning for each tool that a text or condition refers to but no tool file contains."""
    for use in uses:
        name = use.name.removeprefix(TOOL)
        if known is not None and use.name.startswith(TOOL) and name not in known:
            hint = did_you_mean(name, known)
            yield replace(use.problem("unknown-tool", f"no tool is called `{name}`", hint), severity="warning")


def check_file_order(document: Document, spec: AgentFile, files: Sequence[SourceText]) -> Iterator[Problem]:
    """A warning for files whose order, and so that of their tools, differs on case-insensitive systems."""
    listed = {name.removeprefix("./") for name in spec.tools.instructions}
    for names in _siblings([file.path for file in files if file.path not in listed]):
        for first, second in pairwise(sorted(names)):
            if first.lower() > second.lower():
                message = f"`{first}` and `{second}` sort differently on Windows, and so do their tools"
                hint = "use the same case for both names"
                yield document.problem(("tools", "instructions"), "tool-order", message, hint, severity="warning")


def _siblings(paths: Sequence[str]) -> Iterable[set[str]]:
    """The entries of each folder among these files and their parent folders."""
    found: dict[tuple[str, ...], set[str]] = {}
    for path in paths:
        parts = tuple(path.split("/"))
        for depth, part in enumerate(parts):
            found.setdefault(parts[:depth], set()).add(part)
    return found.values()


TODO = "TODO"
"""The beginning of a text that is still to be written."""


def check_unfinished(cards: Iterable[ToolCard], files: Sequence[SourceText]) -> Iterator[Problem]:
    """A warning for each tool with a text that still begins with TODO, which the model would read."""
    known = {name: file for file in files for name in (file.name, file.path)}
    for card in cards:
        told = card.instructions
        texts: dict[str, str] = {"description": card.description}
        texts |= {cue: getattr(told, cue) for cue in CUES if told}
        waiting = [key for key, text in texts.items() if text.lstrip().startswith(TODO)]
        place, _, line = card.source.rpartition(":")
        if waiting and place in known:
            file, at = known[place], int(line)
            row = file.text.split("\n")[at - 1]
            span = Span(at, len(row) - len(row.lstrip()) + 1, len(card.name))
            message = f"`{card.name}` has unfinished texts: {', '.join(waiting)}"
            hint = "models read these texts: write them, or leave out those that would say nothing"
            yield problem_at(file.name, file.text, span, "unfinished-tool", message, hint, severity="warning")
