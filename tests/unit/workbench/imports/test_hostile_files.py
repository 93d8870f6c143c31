"""Prompt files of others that are wrong, large, or made to keep a reader busy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard import SpecError
from cuecard.workbench.imports.dotprompt import read_dotprompt
from cuecard.workbench.imports.prompt import ImportedPrompt
from cuecard.workbench.imports.prompty import read_prompty


def prompty(text: str) -> ImportedPrompt:
    return read_prompty(text, "a.prompty", "a", lambda _: None)


def dotprompt(text: str) -> ImportedPrompt:
    return read_dotprompt(text, "a.prompt", "a", lambda _: None)


@pytest.mark.parametrize("said", ["{t: mustache}", "[mustache]", "{format: {a: b}}", "{type: [a]}", "7", "null"])
def test_a_template_language_of_any_shape_is_read_or_reported(said: str) -> None:
    assert prompty(f"---\nname: a\ntemplate: {said}\n---\nsystem:\nHi.\n").messages


def test_a_number_that_python_does_not_read_is_an_error_of_the_template() -> None:
    with pytest.raises(SpecError, match="a number is too long"):
        prompty("---\nname: a\n---\n{{ " + "9" * 5_000 + " }}")


LARGE: dict[str, tuple[Callable[[str], ImportedPrompt], str]] = {
    "blanks that are no role": (prompty, "---\nname: a\n---\n" + " " * 300_000 + "x"),
    "very many roles": (prompty, "---\nname: a\n---\n" + "user:\nx\n" * 10_000),
    "roles that no line of the file has": (prompty, "---\nname: a\n---\n" + "{# x #}user:\nx\n" * 1_500),
    "names that nothing declares": (prompty, "---\nname: a\n---\n" + "".join(f"{{{{n{n}}}}}\n" for n in range(1_500))),
    "media": (dotprompt, "{{media url=a}}\n" * 1_500),
    "texts behind the history": (dotprompt, "{{history}}{{a}}\n" * 1_500),
}


@pytest.mark.repeats
@pytest.mark.parametrize("case", LARGE)
def test_a_large_file_is_read(case: str) -> None:
    """That it takes linear time, `tests/bench/test_readers.py` measures."""
    read, text = LARGE[case]

    assert read(text).messages


def test_places_are_those_of_the_file_when_roles_are_alike() -> None:
    made = prompty("---\nname: a\n---\nsystem:\nA.\nfunction:\nB.\nuser:\nC.\nfunction:\nD.\n")

    assert [problem.span and problem.span.line for problem in made.problems] == [6, 10]
