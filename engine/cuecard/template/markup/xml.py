"""All lxml: parsing, well-formed branches, RELAX NG.

Checked once, with placeholders; a rendered prompt is never parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from cuecard.errors import Problem
from cuecard.template.markup.tags import (
    FILLER,
    Tag,
    blanked,
    in_attributes,
    mustache_spans,
    skipped,
    tag_problems,
    tags,
)
from cuecard.template.syntax.nodes import Block, Mustache, Partial, Program, Statement, walk
from cuecard.template.syntax.source import TemplateSource

MAX_ERRORS = 100
"""The maximum number of errors reported for one text."""

_MISMATCH = re.compile(r"tag mismatch: \S+ line (\d+) and")
_FOLLOWS = ("attributes construct error", "Couldn't find end of Start Tag", "Premature end", "Extra content")
"""Messages about an element that only follow from an earlier error, or from the end of a broken text."""


def xml_problems(source: TemplateSource, text: str, wrapper: str = "") -> Iterator[Problem]:
    """The errors that make the text invalid XML; `wrapper` is an element to put around it. Offsets are those of the
    source.
    """
    from lxml import etree  # noqa: PLC0415 - lxml loads when the first outline is made

    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        yield source.problem(doctype, doctype + 9, "xml-doctype", "DOCTYPE is not allowed", "remove it")
        return
    wrapped = f"<{wrapper}>{text}</{wrapper}>" if wrapper else text
    shift = len(f"<{wrapper}>") if wrapper else 0
    try:
        etree.fromstring(wrapped.encode("utf-8", "surrogatepass"), xml_parser(etree))
    except etree.XMLSyntaxError as error:
        yield described(source, error.position, str(error.msg), shift)
        yield from _further(source, etree, wrapped, error.position, shift)


def _further(source: TemplateSource, etree: Any, text: str, first: tuple[int, int], shift: int) -> Iterator[Problem]:
    """The other errors of an invalid text, found by libxml2 as it reads on, without those that merely follow from
    an earlier one.
    """
    parser = xml_parser(etree, recover=True)
    with suppress(etree.XMLSyntaxError):  # nothing at all was found in it
        etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    seen, torn = {first}, 0
    for entry in parser.error_log[:MAX_ERRORS]:
        place, message = (entry.line, entry.column), str(entry.message)
        opened = _MISMATCH.search(message)
        is_first, follows = place == first, bool(opened) and int(str(opened and opened[1])) <= torn
        if not is_first and place not in seen and not follows and not message.startswith(_FOLLOWS):
            yield described(source, place, message, shift)
        torn = entry.line if opened else torn
        seen.add(place)


def xml_parser(etree: Any, *, recover: bool = False) -> Any:
    """A parser that reads only the text: no entities, no network, no huge trees, no other encoding."""
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=recover,
        encoding="utf-8",
    )


_LEFT_OPEN = re.compile(r"tag mismatch: (?P<name>\S+) line (?P<line>\d+) and (?P<other>\S+)")
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*)(?P<rest>[^<>]*)>")


def _unclosed(source: TemplateSource, told: str) -> Problem | None:
    """The problem of an element that is never closed, where it opens; None if it is another one."""
    found = _LEFT_OPEN.search(told or "")
    if found is None:
        return None
    start = source.starts[min(max(int(found["line"]), 1), len(source.starts)) - 1]
    opened = re.compile(rf"<{re.escape(found['name'])}(?=[\s/>])").search(source.text, start)
    if opened is None:
        return None
    around: list[str] = []
    for tag in _TAG.finditer(source.text, 0, opened.start()):
        if not tag["close"] and not tag["rest"].endswith("/"):
            around.append(tag["name"])
        elif tag["close"] and tag["name"] in around:
            del around[len(around) - 1 - around[::-1].index(tag["name"]) :]
    if found["other"].rstrip(",") not in around:
        return None
    message = f"`<{found['name']}>` is never closed"
    hint = f"close it with `</{found['name']}>`; where the text only mentions it, write `&lt;{found['name']}>`"
    return source.problem(opened.start(), opened.end(), "xml", message, hint)


def described(source: TemplateSource, position: tuple[int, int], told: str, shift: int) -> Problem:
    """An error of lxml as a problem of the source; `shift` is the number of characters before the text in the first
    line.
    """
    if unclosed := _unclosed(source, told):
        return unclosed
    line, column = position
    column -= shift if line == 1 else 0
    offset = source.starts[min(max(line, 1), len(source.starts)) - 1] + max(0, column - 1)
    message = (told or "the template is not well-formed XML").partition(", line ")[0]
    message = message.partition(", use XML_PARSE_HUGE")[0]
    plain = source.text[: min(offset, len(source.text))]
    tag = plain.rfind("<") if "tag" in message.lower() else offset
    start = min(max(tag, 0), max(0, len(source.text) - 1))
    hints = {
        "mismatch": "close elements in the order in which they were opened",
        "Premature": "close every element",
        "Extra content": "one root element must contain everything",
        "empty": "write one root element that contains the sections",
        "xmlParseEntityRef": "write `&amp;` for a plain `&`",
        "expecting ';'": "write `&amp;` for a plain `&`",
        "Entity": "only &lt; &gt; &amp; &quot; &apos; exist",
        "depth": "nest elements less deeply",
        "redefined": "write each attribute once",
        "StartTag": "write `&lt;` for a plain `<`",
        "Start tag expected": "write one root element around everything, or make the text a section: `text` or `file`",
        "AttValue": "write the value of an attribute in quotes",
        "hyphen": "a comment ends with `-->`, and contains no other `--`",
        "XML declaration": "move it to the first line, or remove it: it says nothing here",
    }
    hint = next((hint for word, hint in hints.items() if word in message), "see the place above")
    return source.problem(start, max(start + 1, min(offset, len(source.text))), "xml", message, hint)


def document_problems(source: TemplateSource, program: Program) -> list[Problem]:
    """Every place where a core template is not well-formed."""
    found = [*_check(source, program), *_check_branches(source, program)]
    return list(dict.fromkeys([*found, *_misplaced(source, program), *tag_problems(source, program)]))


def fragment_problems(source: TemplateSource, program: Program) -> list[Problem]:
    """Every place where a partial is not well-formed XML on its own, in every combination of branches."""
    found = [*_check(source, program, "partial"), *_check_branches(source, program)]
    return list(dict.fromkeys([*found, *_misplaced(source, program), *tag_problems(source, program)]))


def _check(source: TemplateSource, program: Program, wrapper: str = "") -> Iterator[Problem]:
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


def _check_branches(source: TemplateSource, program: Program) -> Iterator[Problem]:
    """Check each branch alone: an element opened in it must be closed in it."""
    plain = blanked(source.text, mustache_spans(program.body), FILLER)
    found = list(tags(plain))
    starts = [tag.start for tag in found]
    for branch in _all_branches(program.body):
        first = bisect_left(starts, branch.body[0].start)
        inside_a_tag = first > 0 and found[first - 1].end > branch.body[0].start
        if not inside_a_tag:
            yield from _unbalanced(source, found[first : bisect_left(starts, branch.body[-1].end)])


def _misplaced(source: TemplateSource, program: Program) -> Iterator[Problem]:
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


def _unbalanced(source: TemplateSource, found: Sequence[Tag]) -> Iterator[Problem]:
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


MAX_ATTRIBUTES = 256
"""The maximum number of attributes of an element."""


def schema_problems(source: TemplateSource, program: Program, schema: str) -> list[Problem]:
    """The violations of a RELAX NG schema (XML syntax) by a well-formed template with placeholders, for either branch.

    Processing instructions, which RELAX NG does not see, are rejected, too.
    """
    from lxml import etree  # noqa: PLC0415 - only `cuecard check` asks

    judge, found = etree.RelaxNG(etree.fromstring(schema.encode(), xml_parser(etree))), list[Problem]()
    for index in (0, -1):
        text = _filled(source, program, index)
        try:
            tree = etree.fromstring(text.encode("utf-8", "surrogatepass"), xml_parser(etree)).getroottree()
        except etree.XMLSyntaxError as error:  # a comment or a partial is the name of an element
            found.append(described(source, error.position, str(error.msg), 0))
        else:
            found += [_broken_rule(source, text, *each) for each in _broken_rules(tree, judge)]
    return list(dict.fromkeys(found))


def _broken_rules(tree: Any, judge: Any) -> Iterator[tuple[Any, str, str]]:
    """The nodes that break a rule, what to search for in the text to find them, and the problem."""
    for node in tree.xpath("//processing-instruction()")[:1]:
        yield node, f"<?{node.target}", "a processing instruction"
    crowded = next((each for each in tree.iter("*") if len(each.attrib) > MAX_ATTRIBUTES), None)
    if crowded is not None:  # libxml2 compares each attribute with every other
        message = f"an element with {len(crowded.attrib):,} attributes; at most {MAX_ATTRIBUTES}"
        yield crowded, _mark(crowded, ""), message
    elif not judge.validate(tree):
        # What libxml2 reports after its first error is mostly a consequence of it.
        error = judge.error_log[0]
        spaces = {prefix: uri for each in tree.iter("*") for prefix, uri in each.nsmap.items() if prefix}
        node = next(iter(tree.xpath(error.path or "/*", namespaces=spaces)), tree.getroot())
        yield node, _mark(node, error.message), error.message[:1].lower() + error.message[1:]


def _filled(source: TemplateSource, program: Program, taken: int) -> str:
    """The text as it might be rendered: a filler for a value, an element for a partial, nothing for other mustaches."""
    nodes = list(walk(program.body))
    values = [(node.start, node.end) for node in nodes if isinstance(node, Mustache)]
    in_tags, plain = in_attributes(program, source.text), blanked(source.text, values, FILLER)
    called = (node for node in nodes if isinstance(node, Partial) and not node.program and node.start not in in_tags)
    partials = sorted((node.start, node.end) for node in called)
    pieces, at = [], 0
    for start, end in partials:
        pieces += [plain[at:start], f"<{FILLER}/>".ljust(end - start)]
        at = end
    text = "".join([*pieces, plain[at:]])
    others = {*mustache_spans(program.body)}.difference(values, partials)
    return blanked(text, [*others, *other_branches(program.body, taken)], " ")


def _mark(node: Any, message: str) -> str:
    """The part of the text that is wrong: stray text between sections, or a tag."""
    texts = (node.text, *(child.tail for child in node)) if "text" in message else ()
    name = node.tag.rpartition("}")[2]
    tag = f"<{node.prefix}:{name}" if node.prefix else f"<{name}"
    return next((text for text in texts if text and text.strip()), tag)


def _broken_rule(source: TemplateSource, text: str, node: Any, mark: str, message: str) -> Problem:
    line = sum(len(each) + 1 for each in text.split("\n")[: node.sourceline - 1])
    start = max(line, text.find(mark, line)) + len(mark) - len(mark.lstrip())
    hint = "write one root element with sections of text and elements; no namespaces, no processing instructions"
    return source.problem(start, start + len(mark.strip()), "xml-schema", message, hint)
