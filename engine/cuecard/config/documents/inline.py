"""Places inside a text in a YAML file: its line and column in the file."""

from __future__ import annotations

from cuecard.config.documents.document import Document, Path, lines_of, problem_at
from cuecard.errors import Problem, Span


def inline_problem(document: Document, path: Path, problem: Problem) -> Problem:
    """A problem in the text at a path, with its place in the file.

    Exact in `|` blocks and one-line texts; otherwise it points at the beginning of the text.
    """
    origin = document.origin(path)
    span = _span(lines_of(origin.text), document.span(path), document.at(path), problem.span)
    moved = problem_at(origin.name, origin.text, span, problem.code, problem.message, problem.hint)
    return Problem(
        moved.code, moved.message, moved.hint, moved.name, span, moved.source, problem.severity, problem.chain
    )


def _span(lines: list[str], start: Span, text: str, inside: Span | None) -> Span:
    if inside is None or not 0 < start.line <= len(lines):
        return start
    written = lines[start.line - 1][start.column - 1 :]
    if written.startswith("|"):
        return Span(start.line + inside.line, _indent(lines[start.line :], text) + inside.column, inside.length)
    quoted = written[:1] in {"'", '"'}
    if inside.line == 1 and written[quoted:].startswith(lines_of(text)[0] if text else ""):
        return Span(start.line, start.column + quoted + inside.column - 1, inside.length)
    return start


def _indent(lines: list[str], text: str) -> int:
    """The indentation of a `|` block, which an indicator such as `|2` may set to less than that of its first line."""
    pairs = zip(lines, lines_of(text), strict=False)
    return next((len(line) - len(inner) for line, inner in pairs if inner.strip()), 0)
