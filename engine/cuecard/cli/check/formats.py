"""How `cuecard check` prints problems: pictures for people, JSON for machines, annotations for GitHub workflows."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Literal, TypeAlias

from cuecard.errors import Problem

Format: TypeAlias = Literal["text", "json", "github"]


def print_report(problems: Sequence[Problem], facts: str, form: Format) -> None:
    """Print problems, and what was checked: pictures go to stderr, all else to stdout."""
    errors = sum(problem.severity == "error" for problem in problems)
    if form == "json":
        found = [problem.to_json() for problem in problems]
        print(json.dumps({"ok": not errors, "problems": found}, indent=2, ensure_ascii=False))
        return
    if form == "github":
        sys.stdout.write("".join(f"{annotation(problem)}\n" for problem in problems))
    else:
        sys.stderr.write("".join(f"{problem.picture()}\n\n" for problem in problems))
    print(f"{facts}: {_plural(errors, 'error')}, {_plural(len(problems) - errors, 'warning')}")


def annotation(problem: Problem) -> str:
    """A workflow command, escaped as GitHub's runner reads it (actions/toolkit, packages/core/src/command.ts)."""
    place = {"file": problem.name} if problem.name else {}
    if problem.span:
        last = problem.span.column + problem.span.length - 1
        place |= {"line": str(problem.span.line), "col": str(problem.span.column), "endColumn": str(last)}
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**place, "title": problem.code}.items())
    message = "\n".join(filter(None, (problem.message, *(f"in {link}" for link in problem.chain), problem.hint)))
    return f"::{problem.severity} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
