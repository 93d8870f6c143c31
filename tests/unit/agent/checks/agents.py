"""Agents in a folder, as `cuecard check` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from command_line import problems
from cuecard import Problem

INPUTS = "inputs: {name: {type: string}, tasks: {type: list}, facts: {type: object}}"
HEAD = "agent: cms\ntemplate: {file: agent.xml"


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def checked(template: str, partials: Mapping[str, str] | None = None, agent: str = INPUTS) -> list[Problem]:
    """Every problem, but those of inputs that a template does not use, or prints with escapes."""
    files = {"agent.yaml": f"{HEAD}{', partials: partials' if partials else ''}}}\n{agent}", "agent.xml": template}
    files |= {f"partials/{name}": text for name, text in (partials or {}).items()}
    with TemporaryDirectory() as folder, chdir(folder):
        write(Path("cms"), files)
        found = problems("cms")
    return [problem for problem in found if problem.code not in {"unused-input", "escaped-text"}]


def codes(template: str, partials: Mapping[str, str] | None = None, agent: str = INPUTS) -> list[str]:
    return [problem.code for problem in checked(template, partials, agent)]


def place(problem: Problem) -> str:
    """Where it is, and what is marked there."""
    assert problem.span
    start = problem.span.column - 1
    marked = problem.source[start : start + problem.span.length]
    return f"{Path(problem.name).name}:{problem.span.line}:{problem.span.column} {marked}"
