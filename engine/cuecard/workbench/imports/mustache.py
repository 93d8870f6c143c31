"""Converts Mustache into Handlebars: values, and sections whose types the schema declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.config.values import InputType
from cuecard.records import dataclass
from cuecard.template.syntax.nodes import Block, HelperCall, Mustache, Partial, Path, Statement
from cuecard.template.syntax.parser import parse
from cuecard.template.syntax.source import TemplateSource
from cuecard.workbench.imports.prompt import Notes
from cuecard.workbench.imports.writer import between, escaped

_Edit = tuple[int, int, str]


def from_mustache(
    text: str, types: Mapping[str, InputType], notes: Notes, first_line: int
) -> tuple[str, Mapping[str, InputType]]:
    """A template in Handlebars, and the inputs that it reads.

    Args:
        text: the template; its line 1 is line `first_line` of the file.
        types: the inputs that are declared.
        notes: takes what has no plain counterpart, which stays in the text behind a mark.
        first_line: where the template begins in its file.

    Raises:
        TemplateSyntaxError: when its tags cannot be read.
    """
    before = "\n" * (first_line - 1)
    source = TemplateSource(notes.name, before + text)
    reader = _Reader(source, types, notes, {})
    edits = sorted(reader.edits(parse(source).body, ()))
    out, at = "", len(before)
    for start, end, written in edits:
        out += source.text[at:start] + written
        at = end
    return out + source.text[at:], reader.reads


@dataclass(frozen=True, slots=True)
class _Reader:
    source: TemplateSource
    types: Mapping[str, InputType]
    notes: Notes
    reads: dict[str, InputType]

    def edits(self, body: Sequence[Statement], around: tuple[str, ...]) -> Iterator[_Edit]:
        """The edits for these statements; `around` lists the enclosing sections, each as `each` or the name of the
        tested value.
        """
        for node in body:
            if isinstance(node, Mustache):
                yield self.value(node, around)
            elif isinstance(node, Block):
                yield from self.section(node, around)
            elif isinstance(node, Partial):
                yield self.left(node, "a partial of Mustache", "write its text here, or in `partials/`")

    def value(self, node: Mustache, around: tuple[str, ...]) -> _Edit:
        head = node.call.head
        if node.call.has_arguments or isinstance(head, HelperCall):
            return self.left(node, "a tag with arguments is not Mustache", "write it with the helpers here")
        path = self.path(head.original, around)
        if node.escaped and not self.reads.get("", None):
            self.reads[""] = "string"
            line = self.source.span(node.start, node.end).line
            message = "Mustache escapes `&` as `&amp;` in `{{x}}`; here the text stays readable"
            self.notes.add(line, message, "no action needed, unless the output is used as HTML", "warning")
        tag = f"{{{{{{{path}}}}}}}"
        return node.start, node.end, tag + between(tag, self.source.text[node.end : node.end + 1])

    def path(self, name: str, around: tuple[str, ...]) -> str:
        depth = sum(1 for each in around if each == "each")
        if name in {".", "this"}:
            return "this" if depth and around[-1] == "each" else around[-1] if around else "this"
        root = name.partition(".")[0]
        if depth and root not in self.types:
            return f"this.{name}"
        self.reads.setdefault(root, "object" if "." in name else "string")
        return f"{'../' * depth}{name}"

    def section(self, node: Block, around: tuple[str, ...]) -> Iterator[_Edit]:
        name = "" if isinstance(node.call.head, HelperCall) else node.call.head.original
        kind = self.types.get(name)
        inverted = node.program is None or not self.source.text.startswith("{{#", node.start)
        if node.call.has_arguments or not isinstance(node.call.head, Path) or "." in name:
            yield self.left(node, "a section with a path or arguments", "write `{{#if}}`, `{{#each}}` or `{{#with}}`")
            return
        if kind in {None, "object"}:
            hint = "declare its type, or write `{{#if}}`, `{{#each}}` or `{{#with}}`"
            yield self.left(node, f"the meaning of a section `{name}` is only known when it is rendered", hint)
            return
        word = "each" if kind == "list" and not inverted else "unless" if inverted else "if"
        path = self.path(name, around)
        opening = self.source.text.index("}}", node.call.end) + 2
        closing = self.source.text.rindex("{{", node.start, node.end)
        yield node.start, opening, f"{{{{#{word} {path}}}}}"
        yield closing, node.end, f"{{{{/{word}}}}}"
        within = (*around, "each" if word == "each" else path)
        for branch in (node.program, node.inverse):
            yield from self.edits(branch.body if branch else (), within)

    def left(self, node: Statement, message: str, hint: str) -> _Edit:
        """What is not translated stays as it is, behind a mark."""
        line = self.source.span(node.start, node.end).line
        self.notes.add(line, message, hint)
        return node.start, node.end, f"{self.notes.mark(line)}{escaped(self.source.text[node.start : node.end])}"
