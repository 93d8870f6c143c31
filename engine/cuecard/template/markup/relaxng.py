"""The shape of a core template, checked against a RELAX NG schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuecard.errors import Problem
from cuecard.template.markup.tags import FILLER, blanked, in_attributes, mustache_spans
from cuecard.template.markup.well_formed import other_branches
from cuecard.template.markup.xml import described, xml_parser
from cuecard.template.syntax.nodes import Mustache, Partial, Program, walk
from cuecard.template.syntax.source import Source

MAX_ATTRIBUTES = 256
"""The maximum number of attributes of an element."""


def schema_problems(source: Source, program: Program, schema: str) -> list[Problem]:
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


def _filled(source: Source, program: Program, taken: int) -> str:
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


def _broken_rule(source: Source, text: str, node: Any, mark: str, message: str) -> Problem:
    line = sum(len(each) + 1 for each in text.split("\n")[: node.sourceline - 1])
    start = max(line, text.find(mark, line)) + len(mark) - len(mark.lstrip())
    hint = "write one root element with sections of text and elements; no namespaces, no processing instructions"
    return source.problem(start, start + len(mark.strip()), "xml-schema", message, hint)
