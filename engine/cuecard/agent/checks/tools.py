"""Tools that agent files and texts name, compared with their instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise

from cuecard.agent.checks.inputs import Use
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document, Path
from cuecard.config.documents.sources import SourceText
from cuecard.config.values import is_pattern
from cuecard.errors import DidYouMean, Problem, did_you_mean
from cuecard.sources.gates import named_in_gates, unknown_in_gates, unknown_in_visibility
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
        yield from _unmatched(document, place, name, known)
    yield from _first_tool(document, spec, known)
    for at, name in _excluded(spec):
        if name not in known:
            hint = DidYouMean(name, known)
            yield document.problem(at, "unknown-tool", f"no tool is called `{name}`", hint, severity="warning")


def _first_tool(document: Document, spec: AgentFile, known: frozenset[str]) -> Iterator[Problem]:
    """The problem of a first tool that is not active from the start, or does not exist: nothing waits for it."""
    first, core = spec.run.first_tool, spec.tools.core
    if first is None or first in core:
        return
    at = ("run", "first_tool")
    if first not in known:
        hint = DidYouMean(first, known)
        yield document.problem(at, "unknown-tool", f"no tool is called `{first}`", hint, severity="warning")
    elif not any(is_pattern(each) and fnmatchcase(first, each) for each in core):
        told = f"`{first}` is no core tool, so no call waits for it before it is found"
        yield document.problem(at, "no-effect", told, f"add `{first}` to `core` under `tools`", severity="warning")


def check_gates(
    document: Document, spec: AgentFile, known: frozenset[str] | None, categories: frozenset[str]
) -> Iterator[Problem]:
    """Problems of names in `tools.visibility` and `access` that belong to nothing (None: the tools are unknown)."""
    rules = spec.tools.visibility
    found = [] if known is None else [*unknown_in_visibility(rules, known, categories)]
    for path, code, message, hint in found:
        yield document.problem(("tools", "visibility", *path), code, message, hint, key=isinstance(path[-1], str))
    for name, access in spec.access.items():
        for path, code, message, hint in unknown_in_gates(access, rules, known):
            yield document.problem(("access", name, *path), code, message, hint, key=isinstance(path[-1], str))
        for place, tool in named_in_gates(access):
            yield from _unmatched(document, ("access", name, *place), tool, known)


def _unmatched(document: Document, at: Path, name: str, known: frozenset[str] | None) -> Iterator[Problem]:
    if known is not None and name != "*" and is_pattern(name) and not any(fnmatchcase(each, name) for each in known):
        message = f"no tool of these files has a name like `{name}`"
        hint = "change it, unless a tool server or a turn brings such tools"
        yield document.problem(at, "unknown-tool", message, hint, severity="warning")


def check_named(document: Document, spec: AgentFile, known: frozenset[str] | None) -> Iterator[Problem]:
    """A warning for each tool that `memory` or `results` name and no tool file contains; patterns may match nothing."""
    named: list[tuple[Path, str]] = [(("memory", "forget", name), name) for name in spec.memory.forget]
    named += [(("memory", "types", name), name) for name in spec.memory.types]
    for path, name in [*named, *((("results", name), name) for name in spec.results)]:
        if known is not None and not is_pattern(name) and name not in {*known, spec.tools.search.tool}:
            message, hint = f"no tool is called `{name}`", DidYouMean(name, known)
            yield document.problem(path, "unknown-tool", message, hint, key=True, severity="warning")


def _excluded(spec: AgentFile) -> Iterator[tuple[Path, str]]:
    yield from ((("run", "always", at), name) for at, name in enumerate(spec.run.always))
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
