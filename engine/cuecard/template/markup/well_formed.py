"""Whether a template is well-formed XML in every combination of branches.

Checked once, with placeholders; a rendered prompt is never parsed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from cuecard.errors import Problem
from cuecard.template.markup.placeholders import tag_problems
from cuecard.template.markup.tags import FILLER, Tag, blanked, mustache_spans, skipped, tags
from cuecard.template.markup.xml import xml_problems
from cuecard.template.syntax.nodes import Block, Partial, Program, Statement
from cuecard.template.syntax.source import Source


def document_problems(source: Source, program: Program) -> list[Problem]:
    """Every place where a core template is not well-formed."""
    found = [*_check(source, program), *_check_branches(source, program)]
    return list(dict.fromkeys([*found, *_misplaced(source, program), *tag_problems(source, program)]))


def fragment_problems(source: Source, program: Program) -> list[Problem]:
    """Every place where a partial is not well-formed XML on its own, in every combination of branches."""
    found = [*_check(source, program, "partial"), *_check_branches(source, program)]
    return list(dict.fromkeys([*found, *_misplaced(source, program), *tag_problems(source, program)]))


def _check(source: Source, program: Program, wrapper: str = "") -> Iterator[Problem]:
    """The whole text with the first branch of every block, then with the last."""
    for index in (0, -1):
        spans = [*mustache_spans(program.body), *other_branches(program.body, index)]
        yield from xml_problems(source, blanked(source.text, spans, FILLER), wrapper)


def other_branches(body: Sequence[Statement], taken: int) -> Iterator[tuple[int, int]]:
    """The spans of the branches that are not taken: of each block the first is (0), or the last (-1)."""
    for node in body:
        branches = _branches(node)
        kept = branches[taken] if branches else None
        for branch in branches:
            if branch is kept:
                yield from other_branches(branch.body, taken)
            elif branch.body:
                yield branch.body[0].start, branch.body[-1].end


def _branches(node: Statement) -> list[Program]:
    if isinstance(node, Partial):
        return [node.program] if node.program else []
    if not isinstance(node, Block):
        return []
    # A missing branch is an empty one: `{{#if}}` without `else` may render nothing.
    return [node.program or Program([]), node.inverse or Program([])]


def _check_branches(source: Source, program: Program) -> Iterator[Problem]:
    """Check each branch alone: an element opened in it must be closed in it."""
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    found = list(tags(plain))
    starts = [tag.start for tag in found]
    for branch in _all_branches(program.body):
        first = bisect_left(starts, branch.body[0].start)
        inside_a_tag = first > 0 and found[first - 1].end > branch.body[0].start
        if not inside_a_tag:
            yield from _unbalanced(source, found[first : bisect_left(starts, branch.body[-1].end)])


def _misplaced(source: Source, program: Program) -> Iterator[Problem]:
    """Values in comments, CDATA or processing instructions, which they could end."""
    spans = sorted(mustache_spans(program.body))
    closed = list(skipped(blanked(source.text, spans, FILLER)))
    for start, end in spans:
        index = bisect_left(closed, (start, 0)) - 1
        if index >= 0 and closed[index][1] > start and not source.text.startswith(("{{!", "{{~!"), start):
            message = "a placeholder in a comment, CDATA or a processing instruction: a value could end it"
            yield source.problem(start, end, "xml-place", message, "move it into the text of a section")


def _all_branches(body: Sequence[Statement]) -> Iterator[Program]:
    for node in body:
        for branch in _branches(node):
            if branch.body:
                yield branch
                yield from _all_branches(branch.body)


def _unbalanced(source: Source, found: Sequence[Tag]) -> Iterator[Problem]:
    stack: list[Tag] = []
    for tag in found:
        if tag.kind == "open":
            stack.append(tag)
        elif tag.kind == "close" and stack and stack[-1].name == tag.name:
            stack.pop()
        elif tag.kind == "close":
            stack.append(tag)
            break
    for tag in stack[:1]:
        done, missing = ("opened", "close") if tag.kind == "open" else ("closed", "open")
        message = f"<{tag.name}> is {done} in a branch that does not {missing} it"
        hint = "open and close an element in the same branch"
        yield source.problem(tag.start, tag.end, "xml-branch", message, hint)
