"""Checks partials: each is used, has a unique name, and does not recurse endlessly."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cuecard.agent.trees import Text, Trees, called, inline_names, reachable
from cuecard.config.documents.sources import SourceText
from cuecard.errors import Problem
from cuecard.records import dataclass
from cuecard.template.syntax.nodes import Block, Partial, Statement, branches


def check_partials(
    texts: Sequence[Text], partials: Trees, files: Sequence[SourceText], *, are_all: bool = True
) -> Iterator[Problem]:
    """Errors for endless and duplicate partials and, if these are all texts, warnings for unused ones."""
    yield from _namesakes(files)
    yield from _cycles(texts, partials)
    yield from _unused(texts, partials) if are_all else ()


def _namesakes(files: Sequence[SourceText]) -> Iterator[Problem]:
    first: dict[str, SourceText] = {}
    for file in files:
        other = first.setdefault(file.stem, file)
        if other is not file:
            message, hint = f"two partials are named `{file.stem}`", f"the other is {other.name}; rename one"
            yield Problem("duplicate-partial", message, hint, file.name)


def _unused(texts: Sequence[Text], partials: Trees) -> Iterator[Problem]:
    used = {name for _, program in texts for name in reachable(partials, program.body)}
    for name in partials:
        if name not in used:
            message, hint = f"no template uses the partial `{name}`", f"call it with `{{{{> {name}}}}}`, or delete it"
            yield partials[name][0].problem(0, 1, "unused-partial", message, hint, severity="warning")


def _cycles(texts: Sequence[Text], trees: Trees) -> Iterator[Problem]:
    """One problem per cycle of partials without an exit; a cycle with an exit is a legitimate recursion."""
    leads = _endless(trees, inline_names((*texts, *trees.values())))
    told: set[str] = set()
    for name in leads:
        circle = _circle(name, leads)
        if told.isdisjoint(circle):
            told.update(circle)
            shown = " -> ".join(f"`{link}`" for link in (*circle, circle[0]))
            node = leads[circle[0]].node
            message = f"a partial calls itself forever: {shown}"
            hint = "end the recursion: put the call inside `{{#if}}` or `{{#each}}`"
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


def _endless(trees: Trees, inline: Collection[str]) -> dict[str, _Call]:
    """The templates that never end, each with the call that continues: those left after removing all that can end."""
    left = set(trees) - set(inline)
    while ending := {name for name in left if _leads_on(trees[name][1].body, left) is None}:
        left -= ending
    return {name: call for name in sorted(left) if (call := _leads_on(trees[name][1].body, left))}


def _leads_on(body: Sequence[Statement], endless: Collection[str]) -> _Call | None:
    """The first call of an endless template that every path through these statements takes."""
    for node in body:
        if isinstance(node, Partial) and (name := called(node)) in endless:
            return _Call(str(name), node)
        if isinstance(node, Block) and not node.decorator:
            found = [_leads_on(program.body, endless) for program in branches(node)]
            # A block with a single branch may render nothing.
            if len(found) == 2 and all(found):
                return found[0]
    return None
