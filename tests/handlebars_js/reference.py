"""Handlebars.js, asked in one Node process: thousands of templates in, text or error out."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cuecard.model import Json

HERE = Path(__file__).parent


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not an error
    """Node, npm or the package is not to be had here."""


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
    """The locked Handlebars.js beside this file; installed once, and again when the lock has changed.

    Raises:
        Unavailable: without Node or npm, or when the package cannot be installed.
    """
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    if _installed():
        return
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".install-") as folder:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        command = ["npm", "ci", "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable("npm ci took more than a minute") from None
        if done.returncode:
            raise Unavailable(f"npm ci failed: {done.stderr.strip()[-200:]}")
        _put_in_place(Path(folder) / "node_modules")


def _installed() -> bool:
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["handlebars"]
    found = HERE / "node_modules" / "handlebars" / "package.json"
    return found.exists() and bool(json.loads(found.read_text())["version"] == wanted)


def _put_in_place(modules: Path) -> None:
    """Another test process may do the same at the same time: the first one wins."""
    target = HERE / "node_modules"
    if target.exists() and not _installed():
        target.rename(modules.parent / "old")
    try:
        modules.rename(target)
    except OSError:
        if not _installed():
            raise


def ask(cases: Iterable[Case]) -> list[Outcome]:
    """What Handlebars.js makes of these cases, in order."""
    lines = "".join(json.dumps(asdict(case)) + "\n" for case in cases)
    done = subprocess.run(["node", "render.js"], cwd=HERE, input=lines, capture_output=True, text=True, check=True)
    return [Outcome(**json.loads(line)) for line in done.stdout.split("\n") if line]
