"""Agents in memory, checked: a character counts as a token, so that counts can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cuecard import Problem
from cuecard.agent.build import make_draft
from cuecard.agent.lint import lint
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources, SourceText
from shipped import content_root

SCHEMA = (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")
INPUTS = "inputs: {name: {type: string}, tasks: {type: list}, facts: {type: object}}"


def text(path: str, content: str) -> SourceText:
    return SourceText(f"cms/{path}", path, content)


def sources(template: str, partials: Mapping[str, str] | None = None, agent: str = INPUTS) -> AgentSources:
    head = "agent: cms\ntemplate: {file: agent.xml, partials: partials}\n"
    files = tuple(text(f"partials/{name}", content) for name, content in (partials or {}).items())
    return AgentSources(text("agent.yaml", head + agent), text("agent.xml", template), files)


def checked(template: str, partials: Mapping[str, str] | None = None, agent: str = INPUTS) -> list[Problem]:
    """Every problem, but those of inputs that a template does not use, or prints with escapes."""
    draft = make_draft(sources(template, partials, agent), Memo())
    found = [*draft.problems, *lint(draft, count=len, schema=SCHEMA)]
    return [problem for problem in found if problem.code not in {"unused-input", "escaped-text"}]


def codes(template: str, partials: Mapping[str, str] | None = None, agent: str = INPUTS) -> list[str]:
    return [problem.code for problem in checked(template, partials, agent)]


def place(problem: Problem) -> str:
    """Where it is, and what is marked there."""
    assert problem.span
    start = problem.span.column - 1
    marked = problem.source[start : start + problem.span.length]
    return f"{Path(problem.name).name}:{problem.span.line}:{problem.span.column} {marked}"
