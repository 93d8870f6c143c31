"""YAML text to plain values with the place of every key and value; the only module that knows ruamel.yaml.

YAML 1.2 without what configuration never needs and attackers do: anchors, aliases, tags, directives, several documents.
The limits are checked on events, before anything is built: a nest of brackets must not reach a recursive loader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cuecard.errors import Problem, Span, SpecError
from cuecard.model import Json

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_BITS = 1024
"""How large a whole number may be: about as large as a floating-point number can be."""

Path = tuple[str | int, ...]
"""Where a value stands in a document: mapping keys and sequence positions from the root."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML text, read: `value` plus the span of each key and of each value, by path.

    `origins` is filled where several files were laid over each other: the document that wrote the value at a path.
    """

    name: str
    text: str
    value: dict[str, Json]
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Span] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    origins: dict[Path, Document] = field(default_factory=dict)

    def at(self, path: Path) -> Json:
        """The value at a path."""
        value: Json = self.value
        for part in path:
            value = value[part]
        return value

    def dotted(self, path: Path) -> str:
        """A path in words; items by their `id` where several files lie over each other, of which none counts so."""
        words: list[str] = []
        value: Json = self.value
        for part in path:
            value = value[part]
            named = value.get("id") if self.origins and isinstance(part, int) and isinstance(value, dict) else None
            words.append(named if named and isinstance(named, str) else str(part))
        return ".".join(words)

    def origin(self, path: Path) -> Document:
        """The document that wrote the value at a path, or the nearest parent of it that is written."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.origins:
                return self.origins[path[:end]]
        return self

    def span(self, path: Path, *, key: bool = False) -> Span:
        """The place of a value (or of its key); of the nearest parent where the path itself is not written."""
        wanted = self.keys if key else self.values
        for end in range(len(path), -1, -1):
            for table in (wanted, self.keys, self.values):
                if path[:end] in table:
                    return table[path[:end]]
        return Span(1, 1)

    def is_scalar(self, path: Path) -> bool:
        """Whether the value at a path is written as one word or text, not as a list or mapping."""
        value = self.at(path)
        return not isinstance(value, (dict, list)) and value is not None

    def problem(
        self, path: Path, code: str, message: str, hint: str = "", *, key: bool = False, **more: Any
    ) -> Problem:
        """A problem at a path of this document."""
        origin = self.origin(path)
        return problem_at(origin.name, origin.text, self.span(path, key=key), code, message, hint, **more)


def problem_at(name: str, text: str, span: Span, code: str, message: str, hint: str = "", **more: Any) -> Problem:
    """A problem at a place of a text, with its line."""
    lines = text.splitlines()
    source = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
    return Problem(code, message, hint, name, span, source, **more)


def read_yaml(text: str, name: str) -> Document:
    """Read one YAML mapping.

    Raises:
        SpecError: with every problem that could be told apart, each at `name:line:column`.
    """
    if len(text) > MAX_CHARACTERS:
        raise SpecError(
            Problem("yaml-too-large", f"{len(text):,} characters; at most {MAX_CHARACTERS:,}", "split the file", name)
        )
    try:
        _refuse_what_is_not_for_configuration(text, name)
        root = _loader().compose(text)
    except SpecError:
        raise
    except Exception as error:  # noqa: BLE001 - ruamel raises AssertionError and TypeError too, for a few malformed texts
        raise SpecError(_syntax_problem(error, text, name)) from None
    if root is None:
        raise SpecError(Problem("yaml-empty", "the file holds no YAML", "write a mapping: `key: value`", name))
    if root.id != "mapping":
        span = _span(root)
        raise SpecError(
            problem_at(name, text, span, "yaml-root", f"the file holds a {root.id}", "write a mapping: `key: value`")
        )
    return _Builder(text, name).document(root)


def _loader() -> Any:
    from ruamel.yaml import YAML  # noqa: PLC0415 - `cuecard --help` reads no YAML

    # The C reader is never used: it dies of deep nesting where the pure one raises.
    return YAML(typ="safe", pure=True)


def _refuse_what_is_not_for_configuration(text: str, name: str) -> None:
    if text.startswith("%"):
        raise SpecError(problem_at(name, text, Span(1, 1), "yaml-refused", "a `%` directive", "files are YAML 1.2"))
    depth = nodes = documents = 0
    problems = []
    for event in _loader().parse(text):
        kind = type(event).__name__
        nodes += kind.endswith("StartEvent") or kind == "ScalarEvent"
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        documents += kind == "DocumentStartEvent"
        refused = _refusal(event, kind, documents)
        if depth - 2 > MAX_DEPTH:
            refused = f"nested more than {MAX_DEPTH} deep", "flatten the file"
        elif nodes > MAX_NODES:
            refused = f"more than {MAX_NODES:,} values", "split the file"
        if refused:
            span = Span(event.start_mark.line + 1, event.start_mark.column + 1)
            problems.append(problem_at(name, text, span, "yaml-refused", *refused))
            if depth - 2 > MAX_DEPTH or nodes > MAX_NODES:
                break
    if problems:
        raise SpecError(problems)


def _refusal(event: Any, kind: str, documents: int) -> tuple[str, str] | None:
    if kind == "AliasEvent":
        return f"an alias (`*{event.anchor}`)", "quote the text if it begins with `*`; otherwise write the value out"
    if getattr(event, "anchor", None):
        return f"an anchor (`&{event.anchor}`)", "quote the text if it begins with `&`; otherwise write the value out"
    tag = getattr(event, "tag", None)
    if tag is not None and kind != "DocumentStartEvent":
        short = str(tag).replace("tag:yaml.org,2002:", "!!")
        return f"a tag (`{short}`)", "quote the text if it begins with `!`"
    if kind == "DocumentStartEvent" and documents > 1:
        return "a second document", "one file holds one document; remove the `---`"
    return None


def _syntax_problem(error: Exception, text: str, name: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = getattr(error, "problem", None) or "the YAML cannot be read"
    if mark is None:
        return Problem("yaml-syntax", str(message), "check indentation, quotes and brackets", name)
    span = Span(mark.line + 1, mark.column + 1)
    return problem_at(name, text, span, "yaml-syntax", str(message), _syntax_hint(str(message), text, span))


def _syntax_hint(message: str, text: str, span: Span) -> str:
    lines = text.splitlines()
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    if "\t" in line[: span.column]:
        return "indent with spaces, not tabs"
    if "mapping values are not allowed" in message:
        return "a text that holds `: ` must be in quotes"
    if "cannot start any token" in message:
        return "a text that begins with this character must be in quotes"
    return "check indentation, quotes and brackets"


def _span(node: Any) -> Span:
    start, end = node.start_mark, node.end_mark
    length = end.column - start.column if end.line == start.line else 1
    return Span(start.line + 1, start.column + 1, max(1, length))


class _Builder:
    """Turns ruamel's nodes into plain values and notes where each stood."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.lines = text.splitlines()
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.problems: list[Problem] = []
        self.scalars = _loader().constructor

    def document(self, root: Any) -> Document:
        value = self.build(root, ())
        errors = [p for p in self.problems if p.severity == "error"]
        if errors:
            raise SpecError(errors)
        return Document(self.name, self.text, value, self.keys, self.values, tuple(self.problems))

    def build(self, node: Any, path: Path) -> Json:
        self.values[path] = _span(node)
        if node.id == "mapping":
            return {key: self.build(child, (*path, key)) for key, child in self.entries(node, path)}
        if node.id == "sequence":
            return [self.build(child, (*path, i)) for i, child in enumerate(node.value)]
        self.warn_of_comment(node)
        return self.scalar(node)

    def entries(self, node: Any, path: Path) -> Iterator[tuple[str, Any]]:
        seen: dict[str, Span] = {}
        for key_node, child in node.value:
            span = _span(key_node)
            if key_node.id != "scalar":
                self.problem(span, "yaml-key", "a key that is not a text", "a text with `{{ }}` must be in quotes")
                continue
            key = str(key_node.value)
            if key in seen:
                first = f"{self.name}:{seen[key].line}:{seen[key].column}"
                self.problem(span, "duplicate-key", f"`{key}` stands here twice", f"first at {first}; keep one")
                continue
            seen[key] = span
            self.keys[(*path, key)] = span
            yield key, child

    def scalar(self, node: Any) -> Json:
        if node.tag.endswith(":timestamp"):
            return node.value
        try:
            value = self.scalars.construct_object(node, deep=True)
        except Exception:  # noqa: BLE001 - ruamel raises whatever int() and float() raise
            self.problem(_span(node), "yaml-value", "a value that cannot be read", "put it in quotes if it is a text")
            return None
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            # Python itself refuses to print an integer of more than 4,300 digits.
            message = "a whole number too large to be used"
            self.problem(_span(node), "yaml-value", message, "put it in quotes if it is a text")
            return None
        return value

    def warn_of_comment(self, node: Any) -> None:
        end = node.end_mark
        rest = self.lines[end.line][end.column :] if end.line < len(self.lines) else ""
        if node.style is None and rest.startswith(" #") and rest[2:3].strip() and isinstance(node.value, str):
            span = Span(end.line + 1, end.column + 1, len(rest.rstrip()))
            hint = "put the whole text in quotes, or write `# ` if it is meant as a comment"
            self.problem(span, "yaml-comment", "text after ` #` is a comment and is lost", hint, severity="warning")

    def problem(self, span: Span, code: str, message: str, hint: str, **more: Any) -> None:
        self.problems.append(problem_at(self.name, self.text, span, code, message, hint, **more))
