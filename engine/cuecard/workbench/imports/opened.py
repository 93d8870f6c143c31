"""Opens what an import would write, so that it never writes an agent that `check` refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cuecard.errors import CuecardError, Problem, Span
from cuecard.workbench.imports.prompt import ImportedPrompt
from cuecard.workbench.step import call_from, open_engine
from cuecard.workspace import Workspace


def refusals(imported: ImportedPrompt, files: Mapping[str, str]) -> list[Problem]:
    """What `check` and the first turn refuse in an agent, each at its place in the file that it comes from.

    Args:
        imported: the file.
        files: the agent's files, as paths and texts.
    """
    with TemporaryDirectory(prefix="cuecard-import-") as made:
        folder = Path(made)
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        found = list(_refused(folder))
    return list(dict.fromkeys(_placed(problem, imported) for problem in found))


def _refused(folder: Path) -> Iterable[Problem]:
    workspace = Workspace([folder])
    reports = [*workspace.unread, *map(workspace.check, workspace.agents)]
    errors = [problem for each in reports for problem in each.problems if problem.severity == "error"]
    if errors:
        return errors
    try:
        call_from(open_engine(folder), discovered="", values=(), turn=folder / "turns" / "first.yaml")
    except CuecardError as error:
        return error.problems
    return ()


def _placed(problem: Problem, imported: ImportedPrompt) -> Problem:
    """The problem at the words of the file that became what is wrong; at its first line where there are none."""
    lines = imported.text.split("\n")
    for words in _words(problem, imported):
        for number, line in enumerate(lines, 1):
            if (at := line.find(words)) >= 0:
                return _moved(problem, imported, Span(number, at + 1, len(words)), line)
    return _moved(problem, imported, Span(1, 1, max(1, len(lines[0]))), lines[0])


def _words(problem: Problem, imported: ImportedPrompt) -> Iterator[str]:
    """What may stand in the file, the longest first: the whole line, what is marked in it, an input that is named."""
    start = problem.span.column - 1 - problem.clipped if problem.span else 0
    marked = problem.source[start : start + problem.span.length] if problem.span else ""
    yield from filter(None, (problem.source.strip(), marked.strip(" \"'")))
    yield from (name for name in imported.inputs if f"`{name}`" in problem.message)


def _moved(problem: Problem, imported: ImportedPrompt, span: Span, line: str) -> Problem:
    return replace(problem, name=imported.source, span=span, source=line, chain=(), clipped=0)
