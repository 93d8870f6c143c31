"""The examples of docs/checks: for every code a bad text that gives it, and a good one that gives nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.documents.yaml import read_yaml

FOLDER = Path(__file__).parents[3] / "cases" / "checks"
BASE = FOLDER / "base"
MARK = "<!-- the example -->\n"
"""Where an example goes in a template."""


class Example(FileModel):
    """One code, bad and good."""

    why: str = Field(description="why it is no good")
    mend: str = Field(description="a command or a key that mends it")
    place: str = Field(alias="in", description="the file that the texts are of; or `Python`, `command line`, `HTTP`")
    bad: str
    good: str
    whole: bool = Field(default=False, description="the texts are all of the file, not a part of the one in `base`")
    also: dict[str, str] = Field(default_factory=dict, description="what other files hold, for both texts")
    run: str = Field("", description="the command that tells; without it, `cuecard check .`")
    bad_saved_as: str = Field("utf-8", description="the encoding of the bad text")
    bad_without: str = Field("", description="a package that is not installed for the bad text")

    def write(self, folder: Path, text: str, encoding: str = "utf-8") -> None:
        """The base with the example in it."""
        files = dict(self.also)
        if self.place not in {"HTTP", "Python", "command line"} and text:
            files[self.place] = text
        held = {**dict.fromkeys(files, ""), **base()}
        for parent in {(folder / name).parent for name in held}:
            parent.mkdir(parents=True, exist_ok=True)
        for name, before in held.items():
            path = folder / name
            whole = self.whole and name == self.place
            made = files[name] if whole else _joined(before, files.get(name, ""))
            path.write_text(made, encoding=encoding if name in {*files, "agent.xml"} else "utf-8")


@cache
def base() -> Mapping[str, str]:
    """The files that an example goes into, by their paths."""
    paths = [path for path in BASE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(BASE).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def pages() -> Mapping[str, Mapping[str, Example]]:
    """The examples by the page that shows them: each file is one, in the order of its codes."""
    files = {path.stem: path for path in (FOLDER / "examples").glob("*.yaml")}
    return {
        name: {
            code: Example.model_validate(value)
            for code, value in read_yaml(files[name].read_text(encoding="utf-8"), files[name].name).value.items()
        }
        for name in sorted(files)
    }


def examples() -> Mapping[str, Example]:
    """Code to example."""
    return {code: example for of_page in pages().values() for code, example in of_page.items()}


def _joined(before: str, text: str) -> str:
    """The base's file with the example at its mark; of YAML, what the example says goes before what the base says."""
    text = text and f"{text.rstrip()}\n"
    if MARK in before:
        return before.replace(MARK, text)
    keys = {line.partition(":")[0] for line in text.splitlines()}
    entries = re.split(r"^(?=\S)", before, flags=re.MULTILINE)
    return "".join(entry for entry in entries if entry.partition(":")[0] not in keys) + text
