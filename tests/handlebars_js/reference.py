"""Handlebars.js in a Node process: thousands of templates in, text or error out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cuecard.types import Json
from npm import install as install_packages

HERE = Path(__file__).parent
Ask = Callable[[Iterable["Case"]], list["Outcome"]]


@dataclass(frozen=True, slots=True)
class Case:
    """One template with everything that it is rendered with."""

    template: str
    data: Json
    partials: Mapping[str, str] = field(default_factory=dict)
    private: Mapping[str, Json] = field(default_factory=dict)
    strict: bool = False
    assumeObjects: bool = False  # noqa: N815 - as Handlebars.js spells it


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: a text, or an error."""

    text: str | None = None
    error: str | None = None


def install() -> None:
    """The locked Handlebars.js beside this file.

    Raises:
        Unavailable: without Node or npm, or when the package cannot be installed.
    """
    install_packages(HERE)


@contextmanager
def handlebars() -> Iterator[Ask]:
    """A process that tells what Handlebars.js makes of cases, in order, until the end of the block."""
    with subprocess.Popen(
        ["node", "render.js"], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        questions, answers = process.stdin, process.stdout
        assert questions
        assert answers

        def outcome(case: Case) -> Outcome:
            questions.write(json.dumps(asdict(case)) + "\n")
            questions.flush()
            return Outcome(**json.loads(answers.readline()))

        yield lambda cases: [outcome(case) for case in cases]


def ask(cases: Iterable[Case]) -> list[Outcome]:
    """What Handlebars.js makes of these cases, in order."""
    with handlebars() as process:
        return process(cases)
