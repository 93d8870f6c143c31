"""The list of mutants: small mistakes put into the code on purpose, each with the tests that must notice it."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.toml")
PACKAGE = Path("engine/cuecard")


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it is made, how, and who catches it.

    Attributes:
        name: what it is called, unique in the list.
        file: the module, relative to `engine/cuecard`.
        find: the text that is replaced; it stands in the module exactly once.
        replace: what takes its place.
        tests: what pytest runs, relative to the root: files, or tests in them.
        survives: why no test can notice it; empty where one does.
    """

    name: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def path(self) -> Path:
        """The module, relative to the root of the repository."""
        return PACKAGE / self.file

    def applied(self, text: str) -> str:
        """The text of the module with the mistake in it.

        Raises:
            ValueError: naming the mutant, when its pattern is not found exactly once.
        """
        count = text.count(self.find)
        if count != 1:
            raise ValueError(
                f"mutant `{self.name}`: {self.path} holds its pattern {count} times, not once: {self.find!r}"
            )
        return text.replace(self.find, self.replace)


def read_mutants() -> tuple[Mutant, ...]:
    """Every mutant of the list, in its order."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return tuple(Mutant(**{**each, "tests": tuple(each["tests"])}) for each in listed)


def mistakes(mutants: tuple[Mutant, ...]) -> Iterator[str]:
    """What is wrong with the list: each is one line that names the mutant."""
    names = [mutant.name for mutant in mutants]
    yield from (
        f"mutant `{name}` stands in the list twice" for name in sorted({n for n in names if names.count(n) > 1})
    )
    for mutant in mutants:
        yield from _mistakes_of(mutant)


def _mistakes_of(mutant: Mutant) -> Iterator[str]:
    try:
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        if mutant.applied(text) == text:
            yield f"mutant `{mutant.name}` changes nothing"
        ast.parse(mutant.applied(text))
    except (OSError, ValueError) as error:
        yield str(error)
    except SyntaxError as error:
        yield f"mutant `{mutant.name}` is no Python: {error}"
    for test in mutant.tests:
        file, _, name = test.partition("::")
        if not (ROOT / file).is_file():
            yield f"mutant `{mutant.name}`: there is no {file}"
        elif name and f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8"):
            yield f"mutant `{mutant.name}`: {file} has no {name}"
