"""How `cuecard check` prints problems: pictures for people, JSON for machines, annotations for GitHub workflows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Literal, TypeAlias

from cuecard.errors import Problem, most_telling, pictures, visible
from cuecard.records import dataclass
from cuecard.workbench.output import json_text, report

Format: TypeAlias = Literal["text", "json", "github"]


@dataclass(frozen=True, slots=True)
class AgentReport:
    """What is shown of an agent: problems, what it is, and which delivery costs least, if that is a question."""

    problems: Sequence[Problem]
    facts: str
    delivery: str = ""


def print_report(checked: Sequence[AgentReport], form: Format) -> None:
    """Print problems and a summary: pictures go to stderr, everything else to stdout."""
    if form == "json":
        print(json_text(report([problem for each in checked for problem in each.problems])))
        return
    for each in checked:
        if form == "github":
            sys.stdout.write("".join(f"{annotation(problem)}\n" for problem in most_telling(each.problems)[0]))
        elif each.problems:
            sys.stdout.flush()
            codes = dict.fromkeys(problem.code for problem in most_telling(each.problems)[0])
            sys.stderr.write(
                f"{pictures(each.problems)}\n\nFor an example of each: cuecard explain {' '.join(codes)}\n\n"
            )
        errors = sum(problem.severity == "error" for problem in each.problems)
        counts = f"{_plural(errors, 'error')}, {_plural(len(each.problems) - errors, 'warning')}"
        print(f"{visible(each.facts)}: {counts}")
        if each.delivery and form == "text":
            print(f"  {each.delivery}")


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
    shown = "".join(c if c in "\r\n" else visible(c) for c in text)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
