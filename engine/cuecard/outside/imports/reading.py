"""The entry point of `cuecard import`: reads a file of another tool by its extension."""

from __future__ import annotations

from pathlib import Path

from cuecard.errors import InputError, Problem, SpecError
from cuecard.outside.imports.dotprompt import read_dotprompt
from cuecard.outside.imports.parts import Imported
from cuecard.outside.imports.prompty import read_prompty
from cuecard.outside.paths import is_folder, is_there, shown
from cuecard.outside.reading import read_text

ENDINGS = (".prompt", ".prompty")
"""The known extensions: dotprompt and Prompty."""


def read_prompt_file(path: Path) -> Imported:
    """One file of another tool.

    Raises:
        InputError: when it is a folder or an unknown kind of file, or a package is missing.
        SpecError: when it is missing, too large, not UTF-8, or its front matter or its template cannot be read.
        TemplateSyntaxError: when its Handlebars cannot be read.
    """
    name = shown(path)
    if is_folder(path):
        hint = f"name the files in it, such as {name}/*.prompt"
        raise InputError(Problem("wrong-file", "this is a folder", hint, name))
    if path.suffix not in ENDINGS:
        message = "only dotprompt (`.prompt`) and Prompty (`.prompty`) files are supported"
        raise InputError(Problem("wrong-file", message, "for others see docs/import.md", name))
    text = read_text(path).text
    if path.suffix == ".prompty":
        return read_prompty(text, name, path.stem, lambda named: _beside(path.parent / named))
    return read_dotprompt(text, name, path.stem, lambda named: _partial(path.parent / f"_{named}.prompt"))


def _beside(path: Path) -> str | None:
    try:
        return read_text(path).text
    except SpecError:
        return None


def _partial(path: Path) -> tuple[str, str] | None:
    return (read_text(path).text, shown(path)) if is_there(path) else None
