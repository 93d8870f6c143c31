"""docs/checks.md shows what is: its tables and outputs are made from the code and the examples.

`make golden` makes them anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cuecard.cli.check.codes import CODES
from cuecard.cli.check.command import Options, check
from cuecard.errors import visible
from unit.checks.examples import Example, examples
from unit.checks.source_codes import source_codes

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "checks.md"
HOOK = """\
repos:
  - repo: https://example.com/cuecard  # wherever this repository is kept
    rev: v0.1.0
    hooks:
      - id: {id}
        args: [prompts/cms/agent.yaml]
"""


def test_the_page_shows_what_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    page = PAGE.read_text(encoding="utf-8")
    made = page
    for name, text in {"github": github(capsys), "hook": hook(), "codes": table()}.items():
        head, _, rest = made.partition(f"<!-- made: {name} -->\n")
        tail = rest.partition("<!-- end -->")[2]
        made = f"{head}<!-- made: {name} -->\n\n{text}\n<!-- end -->{tail}"
    if os.environ.get("CUECARD_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")

    assert made == page, "run `make golden` and read the difference"


def github(capsys: pytest.CaptureFixture[str]) -> str:
    check(Path("tests/cases/agents/everything_at_once"), options=Options(format="github"))
    return f"```text\n{capsys.readouterr().out}```\n"


def hook() -> str:
    name = re.search(r"^- id: (.+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.MULTILINE)

    assert name
    return f"```yml\n{HOOK.format(id=name[1])}```\n"


def table() -> str:
    rows = [row(code, examples()[code]) for code in CODES]
    return "".join(["| code | severity | meaning | in | bad | good |\n|---|---|---|---|---|---|\n", *rows])


def row(code: str, example: Example) -> str:
    place = example.place if example.place in {"HTTP", "Python", "command line"} else f"`{example.place}`"
    remarks = [f"saved as {example.bad_saved_as}"] if example.bad_saved_as != "utf-8" else []
    remarks += [f"without the package {example.bad_without}"] if example.bad_without else []
    severity = " or ".join(sorted(source_codes()[code]))
    bad = " ".join([shown(example.bad), *(f"({remark})" for remark in remarks)])
    cells = [f'<a id="{code}"></a>`{code}`', severity, CODES[code], place, bad, shown(example.good)]
    return f"| {' | '.join(cells)} |\n"


def shown(text: str) -> str:
    """The lines of an example as code in a cell."""
    lines = [visible(line) for line in text.splitlines()]

    assert not [line for line in lines if line != line.strip() or "`" in line], "a cell would show it otherwise"
    return "<br>".join(f"`{line.replace('|', chr(92) + '|')}`" for line in lines)
