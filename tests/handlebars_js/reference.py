"""Handlebars.js, asked in one Node process: thousands of templates in, text or error out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cuecard.model import Json
from npm import install as install_packages

HERE = Path(__file__).parent


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


def ask(cases: Iterable[Case]) -> list[Outcome]:
    """What Handlebars.js makes of these cases, in order."""
    lines = "".join(json.dumps(asdict(case)) + "\n" for case in cases)
    done = subprocess.run(["node", "render.js"], cwd=HERE, input=lines, capture_output=True, text=True, check=True)
    return [Outcome(**json.loads(line)) for line in done.stdout.split("\n") if line]
