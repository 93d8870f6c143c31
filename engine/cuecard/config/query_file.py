"""Query files: JSON lines with a query and the tools it should find, for `cuecard bench search`."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.config.transcript_file import read_json
from cuecard.errors import Problem, Span, SpecError
from cuecard.records import dataclass

_LINE = '`{"query": "attach an image", "tools": ["set_image"]}`'


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query, the tools that answer it, and its line."""

    query: str
    tools: frozenset[str]
    line: int


def read_queries(text: str, name: str) -> list[JudgedQuery]:
    """The queries of a text of JSON lines; empty lines are skipped.

    Raises:
        SpecError: with every line that is not such a query, or when there is none.
    """
    found: list[JudgedQuery] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(_query(line, name, number))
            except SpecError as error:
                problems += error.problems
    if not found and not problems:
        problems.append(Problem("missing-key", "there are no queries", f"write one per line: {_LINE}", name))
    if problems:
        raise SpecError(problems)
    return found


def _query(line: str, name: str, number: int) -> JudgedQuery:
    value = read_json(line, name, number)
    mistakes = list(_mistakes(value))
    if not isinstance(value, dict) or mistakes:
        raise SpecError(
            Problem(code, said, f"a line is {_LINE}", name, Span(number, 1), line) for code, said in mistakes
        )
    return JudgedQuery(value["query"], frozenset(value["tools"]), number)


def _mistakes(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield "wrong-value", "this is not an object"
        return
    if not isinstance(value.get("query"), str):
        yield "wrong-value" if "query" in value else "missing-key", "`query` is not a text"
    tools = value.get("tools")
    if not isinstance(tools, list) or not tools or not all(isinstance(tool, str) for tool in tools):
        yield "wrong-value" if "tools" in value else "missing-key", "`tools` is not a list of names"
