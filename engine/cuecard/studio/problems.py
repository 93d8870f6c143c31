"""Problems as pages show them: the words of `cuecard check`, the line with carets, a link to the editor."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from markupsafe import Markup, escape

from cuecard.errors import Problem, Severity, most_telling, visible
from cuecard.records import dataclass
from cuecard.studio.links import editor_link

_LINE = re.compile(r"  (?P<number>\d+) \| (?P<text>.*)")
_CARETS = re.compile(r"  (?P<number> +) \| (?P<text>.*)")


@dataclass(frozen=True, slots=True)
class ProblemView:
    """A problem: where, what, the lines of its picture, the way out, and the code that explains it."""

    severity: Severity
    place: str
    link: str
    message: str
    lines: tuple[tuple[Literal["line", "carets"], str, str], ...]
    hint: str
    code: str


def problem_views(problems: Iterable[Problem], editor: str = "") -> tuple[tuple[ProblemView, ...], int]:
    """The problems that are shown, and how many others there are."""
    told, more = most_telling(problems)
    return tuple(_view(each, editor) for each in told), more


def spoken(text: str) -> Markup:
    """A sentence with its words of code as such, which problems put between backticks."""
    parts = text.split("`")
    told = (Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(parts))
    return Markup("").join(told) if len(parts) % 2 else escape(text)


def _view(problem: Problem, editor: str) -> ProblemView:
    span = problem.span
    place = f"{problem.name}:{span.line}:{span.column}" if span else problem.name
    lines: list[tuple[Literal["line", "carets"], str, str]] = []
    for line in problem.picture().split("\n")[1:]:
        if found := _LINE.fullmatch(line):
            lines.append(("line", found["number"], found["text"]))
        elif found := _CARETS.fullmatch(line):
            lines.append(("carets", found["number"], found["text"]))
    link = editor_link(editor, Path.cwd(), place) if editor and span else ""
    hint = visible(" ".join(problem.hint.split("\n")))
    return ProblemView(
        problem.severity, visible(place), link, visible(problem.message), tuple(lines), hint, problem.code
    )
