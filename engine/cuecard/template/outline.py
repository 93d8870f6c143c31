"""The sections of an XML core template, and whether it is well-formed whichever branches are taken.

Checked once, with placeholders; a rendered prompt is never parsed. The only module that knows lxml.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cuecard.errors import Problem, Span, TemplateSyntaxError
from cuecard.model import Json
from cuecard.template.analysis import InputUse
from cuecard.template.markup import Tag, blanked, in_attributes, mustache_spans, skipped, tags
from cuecard.template.nodes import Block, Content, Mustache, Partial, Program, Statement
from cuecard.template.source import Source

FILLER = "x"
"""What stands for a value: a name character, harmless in text and in attributes."""


class Slice(Protocol):
    """Some statements of a template that render on their own."""

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """What they read."""

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Their text with these values."""


@dataclass(frozen=True, slots=True)
class Part:
    """A slice of the template: a section, the root's opening tag, or its closing tag (`/root`)."""

    id: str
    span: Span
    text: str
    slice: Slice

    @property
    def inputs(self) -> tuple[InputUse, ...]:
        """What it reads."""
        return self.slice.inputs

    def render(self, values: Mapping[str, Json], data: Mapping[str, Json] | None = None) -> str:
        """Its text with these values; the texts of all parts make the text of the template."""
        return self.slice.render(values, data)


@dataclass(frozen=True, slots=True)
class Outline:
    """The root's name and the parts in document order."""

    root: str
    parts: tuple[Part, ...]


def make_outline(part: Callable[[Iterable[Statement]], Slice], source: Source, program: Program) -> Outline:
    """Check a template and cut it into parts; `part` makes some of its statements render on their own.

    Raises:
        TemplateSyntaxError: with every place where it is not well-formed.
    """
    problems = [*_check(source, program), *_check_branches(source, program), *_misplaced(source, program)]
    if problems:
        raise TemplateSyntaxError(list(dict.fromkeys(problems)))
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    root, seams = _seams(plain, program)
    ends = [*(start for start, _ in seams[1:]), len(source.text)]
    parts = []
    for (start, name), end in zip(seams, ends, strict=True):
        sliced = part(_cut(program.body, start, end))
        at = start + len(source.text[start:end]) - len(source.text[start:end].lstrip())
        parts.append(Part(name, source.span(at, at + 1), source.text[start:end], sliced))
    return Outline(root, tuple(parts))


def fragment_problems(source: Source, program: Program) -> list[Problem]:
    """Every place where a partial is not well-formed XML on its own, whichever branches are taken."""
    found = [*_check(source, program, "partial"), *_check_branches(source, program)]
    return list(dict.fromkeys(found))


def schema_problems(source: Source, program: Program, schema: str) -> list[Problem]:
    """What a RELAX NG schema (XML syntax) says against a well-formed template with placeholders, either branch taken.

    Processing instructions, which RELAX NG does not see, are refused with it.
    """
    from lxml import etree  # noqa: PLC0415 - only `cuecard check` asks

    judge, found = etree.RelaxNG(etree.fromstring(schema.encode(), _parser(etree))), list[Problem]()
    for index in (0, -1):
        text = _filled(source, program, index)
        try:
            tree = etree.fromstring(text.encode("utf-8", "surrogatepass"), _parser(etree)).getroottree()
        except etree.XMLSyntaxError as error:  # a comment or a partial is the name of an element
            found.append(_described(source, error, shift=0))
        else:
            found += [_broken_rule(source, text, *each) for each in _broken_rules(tree, judge)]
    return list(dict.fromkeys(found))


def _broken_rules(tree: Any, judge: Any) -> Iterator[tuple[Any, str, str]]:
    """Nodes, what of them to look for in the text, and what is wrong with them."""
    for node in tree.xpath("//processing-instruction()"):
        yield node, f"<?{node.target}", "a processing instruction"
    if not judge.validate(tree):
        # What libxml2 reports after its first error is mostly a consequence of it.
        error = judge.error_log[0]
        spaces = {prefix: uri for each in tree.iter("*") for prefix, uri in each.nsmap.items() if prefix}
        node = next(iter(tree.xpath(error.path or "/*", namespaces=spaces)), tree.getroot())
        yield node, _mark(node, error.message), error.message[:1].lower() + error.message[1:]


def _filled(source: Source, program: Program, taken: int) -> str:
    """The text as it could be printed: a filler for a value, an element for a partial, nothing for other mustaches."""
    nodes = [*program.body, *(node for branch in _all_branches(program.body) for node in branch.body)]
    values = [(node.start, node.end) for node in nodes if isinstance(node, Mustache)]
    in_tags, text, partials = in_attributes(program, source.text), blanked(source.text, values, FILLER), []
    for node in nodes:
        if isinstance(node, Partial) and not node.program and node.start not in in_tags:
            partials.append((node.start, node.end))
            text = f"{text[: node.start]}<{FILLER}/>{' ' * (node.end - node.start - 4)}{text[node.end :]}"
    others = {*mustache_spans(program.body)}.difference(values, partials)
    return blanked(text, [*others, *_other_branches(program.body, taken)], " ")


def _mark(node: Any, message: str) -> str:
    """What in the text is wrong: the text between sections that is in the way, or else a tag."""
    texts = (node.text, *(child.tail for child in node)) if "text" in message else ()
    name = node.tag.rpartition("}")[2]
    tag = f"<{node.prefix}:{name}" if node.prefix else f"<{name}"
    return next((text for text in texts if text and text.strip()), tag)


def _broken_rule(source: Source, text: str, node: Any, mark: str, message: str) -> Problem:
    line = sum(len(each) + 1 for each in text.split("\n")[: node.sourceline - 1])
    start = max(line, text.find(mark, line)) + len(mark) - len(mark.lstrip())
    hint = "one root element, in it sections, in those texts and elements; no namespaces, no processing instructions"
    return source.problem(start, start + len(mark.strip()), "xml-schema", message, hint)


def _check(source: Source, program: Program, wrapper: str = "") -> Iterator[Problem]:
    """The whole text with the first branch of every block, then with the last."""
    for index in (0, -1):
        spans = [*mustache_spans(program.body), *_other_branches(program.body, index)]
        yield from _xml_problems(source, blanked(source.text, spans, FILLER), wrapper)


def _other_branches(body: Sequence[Statement], taken: int) -> Iterator[tuple[int, int]]:
    for node in body:
        branches = _branches(node)
        kept = branches[taken] if branches else None
        for branch in branches:
            if branch is kept:
                yield from _other_branches(branch.body, taken)
            elif branch.body:
                yield branch.body[0].start, branch.body[-1].end


def _branches(node: Statement) -> list[Program]:
    if isinstance(node, Partial):
        return [node.program] if node.program else []
    if not isinstance(node, Block):
        return []
    # A missing branch is an empty one: `{{#if}}` without `else` may print nothing.
    return [node.program or Program([]), node.inverse or Program([])]


def _check_branches(source: Source, program: Program) -> Iterator[Problem]:
    """Each branch on its own: an element opened in it must be closed in it."""
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    found = list(tags(plain))
    starts = [tag.start for tag in found]
    for branch in _all_branches(program.body):
        first = bisect_left(starts, branch.body[0].start)
        inside_a_tag = first > 0 and found[first - 1].end > branch.body[0].start
        if not inside_a_tag:
            yield from _unbalanced(source, found[first : bisect_left(starts, branch.body[-1].end)])


def _misplaced(source: Source, program: Program) -> Iterator[Problem]:
    """A value in a comment, CDATA or a processing instruction could end it."""
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


def _xml_problems(source: Source, text: str, wrapper: str = "") -> Iterator[Problem]:
    from lxml import etree  # noqa: PLC0415 - lxml loads when the first outline is made

    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        yield source.problem(doctype, doctype + 9, "xml-doctype", "DOCTYPE is not allowed", "remove it")
        return
    wrapped = f"<{wrapper}>{text}</{wrapper}>" if wrapper else text
    try:
        etree.fromstring(wrapped.encode("utf-8", "surrogatepass"), _parser(etree))
    except etree.XMLSyntaxError as error:
        yield _described(source, error, shift=len(f"<{wrapper}>") if wrapper else 0)


def _parser(etree: Any) -> Any:
    """No entities, no network, no huge trees."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False, recover=False
    )


def _described(source: Source, error: Any, shift: int) -> Problem:
    line, column = error.position
    column -= shift if line == 1 else 0
    lines = source.text.split("\n")
    offset = sum(len(each) + 1 for each in lines[: max(0, line - 1)]) + max(0, column - 1)
    message = str(error.msg or "the template is not well-formed XML").partition(", line ")[0]
    plain = source.text[: min(offset, len(source.text))]
    tag = plain.rfind("<") if "tag" in message.lower() else offset
    start = min(max(tag, 0), max(0, len(source.text) - 1))
    hints = {
        "mismatch": "close elements in the order in which they were opened",
        "Premature": "close every element",
        "Extra content": "one root element holds everything",
        "empty": "write one root element with the sections in it",
        "xmlParseEntityRef": "write `&amp;` for a plain `&`",
        "Entity": "only &lt; &gt; &amp; &quot; &apos; exist",
        "StartTag": "write `&lt;` for a plain `<`",
    }
    hint = next((hint for word, hint in hints.items() if word in message), "see the place above")
    return source.problem(start, max(start + 1, min(offset, len(source.text))), "xml", message, hint)


def _seams(plain: str, program: Program) -> tuple[str, list[tuple[int, str]]]:
    """Where parts begin, with their names: at each child of the root, moved to the beginning of its line."""
    depth, root, seams = 0, "", []
    for tag in tags(plain):
        if depth == 0 and tag.kind != "close":
            root = tag.name
            seams.append((0, root))
            if tag.kind == "empty":
                break
        elif depth == 1 and tag.kind != "close":
            seams.append((_line_start(plain, tag.start), tag.name))
        elif depth == 1 and tag.kind == "close":
            seams.append((_line_start(plain, tag.start), f"/{root}"))
        depth += {"open": 1, "close": -1, "empty": 0}[tag.kind]
    blocks = [(node.start, node.end) for node in program.body if not isinstance(node, Content)]
    return root, list(_named(_outside(seams, blocks, plain)))


def _line_start(text: str, offset: int) -> int:
    line = text.rfind("\n", 0, offset) + 1
    return offset if text[line:offset].strip(" \t") else line


def _outside(
    seams: Sequence[tuple[int, str]], blocks: Sequence[tuple[int, int]], plain: str
) -> Iterator[tuple[int, str]]:
    """Seams that cut no block: one that falls into a block moves to its beginning, and the block is one part."""
    previous = -1
    for offset, name in seams:
        block = _around(blocks, offset)
        at = _line_start(plain, block[0]) if block else offset
        if block and _around(blocks, at):
            at = block[0]
        if at > previous:
            yield at, name
            previous = at


def _around(blocks: Sequence[tuple[int, int]], offset: int) -> tuple[int, int] | None:
    """The block that holds this offset, not as its beginning."""
    index = bisect_left(blocks, (offset, 0)) - 1
    return blocks[index] if index >= 0 and blocks[index][1] > offset else None


def _named(seams: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """A second section of the same name is called `name-2`."""
    seen: dict[str, int] = {}
    for offset, name in seams:
        seen[name] = seen.get(name, 0) + 1
        yield offset, name if seen[name] == 1 else f"{name}-{seen[name]}"


def _cut(body: Sequence[Statement], start: int, end: int) -> Iterator[Statement]:
    first_node = max(0, bisect_left(body, start, key=lambda node: node.start) - 1)
    for node in body[first_node : bisect_left(body, end, key=lambda node: node.start)]:
        if isinstance(node, Content):
            first, last = max(node.first, start), min(node.last, end)
            if first < last:
                yield Content(node.start, node.end, first, last)
        elif start <= node.start < end:
            yield node
