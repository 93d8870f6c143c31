"""Partials: each is used, each is well-formed on its own, and none calls itself for ever."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuecard.agent.checks.trees import MAIN, Trees, called, inline_names, reachable
from cuecard.config.documents.texts import SourceText
from cuecard.errors import Problem
from cuecard.template.nodes import Block, Partial, Statement, branches, walk
from cuecard.template.well_formed import fragment_problems


def check_partials(trees: Trees, files: Sequence[SourceText]) -> Iterator[Problem]:
    """Malformed, endless and namesake partials (errors), and unused ones (warnings)."""
    yield from _namesakes(files)
    for name, (source, program) in trees.items():
        yield from fragment_problems(source, program) if name != MAIN else ()
    yield from _cycles(trees)
    yield from _unused(trees)


def _namesakes(files: Sequence[SourceText]) -> Iterator[Problem]:
    first: dict[str, SourceText] = {}
    for file in files:
        other = first.setdefault(file.stem, file)
        if other is not file:
            message, hint = f"two partials are called `{file.stem}`", f"the other is {other.name}; rename one"
            yield Problem("duplicate-partial", message, hint, file.name)


def _unused(trees: Trees) -> Iterator[Problem]:
    used = [MAIN, *reachable(trees, trees[MAIN][1].body)]
    calls = [node for name in used for node in walk(trees[name][1].body) if isinstance(node, Partial)]
    if any(called(node) is None for node in calls):
        return
    for name in trees:
        if name not in used:
            message, hint = f"no template uses the partial `{name}`", f"call it with `{{{{> {name}}}}}`, or delete it"
            yield trees[name][0].problem(0, 1, "unused-partial", message, hint, severity="warning")


def _cycles(trees: Trees) -> Iterator[Problem]:
    """One problem per circle of partials in which every path leads on; a circle with a way out is a tree."""
    leads = _endless(trees)
    told: set[str] = set()
    for name in leads:
        circle = _circle(name, leads)
        if told.isdisjoint(circle):
            told.update(circle)
            shown = " -> ".join(f"`{link}`" for link in (*circle, circle[0]))
            node = leads[circle[0]].node
            message = f"a partial that calls itself for ever: {shown}"
            hint = "end the recursion: put the call into `{{#if}}` or `{{#each}}`"
            yield trees[circle[0]][0].problem(node.start, node.end, "partial-cycle", message, hint)


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    node: Partial


def _circle(name: str, leads: Mapping[str, _Call]) -> list[str]:
    path = [name]
    while (following := leads[path[-1]].name) not in path:
        path.append(following)
    return path[path.index(following) :]


def _endless(trees: Trees) -> dict[str, _Call]:
    """The templates that end on no path, each with a call that leads on: those left when all that can end are gone."""
    left = set(trees) - inline_names(trees)
    while ending := {name for name in left if _leads_on(trees[name][1].body, left) is None}:
        left -= ending
    return {name: call for name in sorted(left) if (call := _leads_on(trees[name][1].body, left))}


def _leads_on(body: Sequence[Statement], endless: Collection[str]) -> _Call | None:
    """The first call that no path through these statements avoids, of a template that does not end."""
    for node in body:
        if isinstance(node, Partial) and (name := called(node)) in endless:
            return _Call(str(name), node)
        if isinstance(node, Block) and not node.decorator:
            found = [_leads_on(program.body, endless) for program in branches(node)]
            # A block with a single branch may print nothing.
            if len(found) == 2 and all(found):
                return found[0]
    return None
