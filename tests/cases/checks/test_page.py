"""docs/checks.md shows what is: its tables and outputs are made from the code and the examples.

`make golden` makes them anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cuecard.agent.checks.codes import CODES
from cuecard.errors import visible
from cuecard.workbench.check.command import CheckOptions, check
from unit.checks.examples import Example, examples
from unit.checks.source_codes import source_codes

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "checks.md"
_PLACES = {"command line": "on the command line", "Python": "in Python", "HTTP": "over HTTP"}
# Ruff formats Python in Markdown, and an example is shown as it is run.
_LANGUAGES = {"command line": "sh", "Python": "text", ".yaml": "yml", ".xml": "xml", ".md": "md", ".json": "json"}
HOOK = """\
repos:
  - repo: https://example.com/cuecard  # wherever this repository is kept
    rev: v0.1.0
    hooks:
      - id: {id}
        args: [prompts/cms/agent.yaml]
"""


@pytest.mark.repeats
def test_the_page_shows_what_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    page = PAGE.read_text(encoding="utf-8")
    made = page
    for name, text in {"github": github(capsys), "hook": hook(), "codes": table(), "examples": chapters()}.items():
        head, _, rest = made.partition(f"<!-- made: {name} -->\n")
        tail = rest.partition("<!-- end -->")[2]
        made = f"{head}<!-- made: {name} -->\n\n{text}\n<!-- end -->{tail}"
    if os.environ.get("CUECARD_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")

    assert made == page, "run `make golden` and read the difference"


def github(capsys: pytest.CaptureFixture[str]) -> str:
    check(Path("tests/cases/agents/everything_at_once"), options=CheckOptions(format="github"))
    return f"```text\n{capsys.readouterr().out}```\n"


def hook() -> str:
    name = re.search(r"^- id: (.+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.MULTILINE)

    assert name
    return f"```yml\n{HOOK.format(id=name[1])}```\n"


def table() -> str:
    rows = [f"| [`{code}`](#{code}) | {severity(code)} | {meaning} |\n" for code, meaning in CODES.items()]
    return "".join(["| code | severity | meaning |\n|---|---|---|\n", *rows])


def severity(code: str) -> str:
    return " or ".join(sorted(source_codes()[code]))


def chapters() -> str:
    return "\n".join(chapter(code, examples()[code]) for code in CODES)


def chapter(code: str, example: Example) -> str:
    remarks = [f"saved as {example.bad_saved_as}"] if example.bad_saved_as != "utf-8" else []
    remarks += [f"without the package {example.bad_without}"] if example.bad_without else []
    bad = ", ".join([_PLACES.get(example.place, f"in `{example.place}`"), *remarks])
    head = f"### `{code}`\n\n{severity(code).capitalize()}. {CODES[code]}\n\n"
    return f"{head}Bad, {bad}:\n\n{shown(example, example.bad)}\nGood:\n\n{shown(example, example.good)}"


def shown(example: Example, text: str) -> str:
    """An example as a block of code, in a language that is not run as an example of the page."""
    language = _LANGUAGES.get(example.place) or _LANGUAGES.get(Path(example.place).suffix, "text")
    lines = [visible(line) for line in text.splitlines()]

    assert not [line for line in lines if line.startswith(("```", "### "))], "the block would end there"
    return "\n".join([f"```{language}", *lines, "```", ""])
