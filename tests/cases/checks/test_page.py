"""docs/checks shows what is: its list, chapters and outputs are made from the code and the examples.

`make golden` makes them anew. Each file of examples is a page; each code has four parts from one form: what happened,
why it is no good, how to mend it, and a pair that differs in one thing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from cuecard.agent.checks.codes import CODES
from cuecard.errors import visible
from cuecard.workbench.check.command import CheckOptions, check
from unit.agent.checks.examples import Example, examples, pages
from unit.agent.checks.source_codes import source_codes

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "docs" / "checks"
INDEX = PAGES / "README.md"
TITLES: Mapping[str, str] = {
    "files": "Errors in files, YAML and XML",
    "tools": "Errors of tools, skills and tool servers",
    "templates": "Errors in templates",
    "sections": "Errors of inputs and sections",
    "values": "Errors of values, models and recordings",
    "conversations": "Errors of conversations and libraries",
    "testing": "Errors of tests, records and scenarios",
    "service": "Errors of the service and of commands",
}
_PLACES = {"command line": "On the command line", "Python": "In Python", "HTTP": "Over HTTP"}
_LANGUAGES = {".yaml": "yml", ".xml": "xml", ".md": "md", ".json": "json"}
PLUMBING = {"template:", "inputs: {}", "tools: {}"}
"""Lines that take the agent of the examples apart, so that a list of sections can stand there."""
HOOK = """\
repos:
  - repo: https://example.com/cuecard  # wherever this repository is kept
    rev: v0.1.0
    hooks:
      - id: {id}
        args: [prompts/cms/agent.yaml]
"""


@pytest.mark.repeats
def test_the_index_shows_what_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    made = page = INDEX.read_text(encoding="utf-8")
    for name, text in {"github": github(capsys), "hook": hook(), "codes": listed()}.items():
        head, _, rest = made.partition(f"<!-- made: {name} -->\n")
        tail = rest.partition("<!-- end -->")[2]
        made = f"{head}<!-- made: {name} -->\n\n{text}\n<!-- end -->{tail}"
    _hold(INDEX, made, page)


@pytest.mark.parametrize("name", pages())
def test_a_page_has_every_code_of_its_subject(name: str) -> None:
    path = PAGES / f"{name}.md"
    chapters = "\n".join(chapter(code, example) for code, example in pages()[name].items())
    begins = f"# {TITLES[name]}\n\nWhat each code means. [All codes](README.md) has the other subjects.\n\n"

    _hold(path, begins + chapters, path.read_text(encoding="utf-8") if path.exists() else "")


def test_a_pair_differs_in_one_place_and_a_line_may_move() -> None:
    differ = {code: [*changes(each)] for code, each in examples().items() if not same(each)}

    assert [code for code, changed in differ.items() if not 1 <= len(changed) <= 2] == []
    assert [code for code, changed in differ.items() if len(changed) == 2 and not moved(examples()[code])] == [
        "too-busy"
    ]
    assert [code for code, changed in differ.items() if any(min(old, new) > 2 for old, new in changed)] == []


def test_no_page_shows_the_plumbing_of_the_examples() -> None:
    shown = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))

    assert re.findall(r"^[-+ ] (?:template:|inputs: \{\})$|\{\{> manners\}\}!", shown, re.MULTILINE) == []


def _hold(path: Path, made: str, page: str) -> None:
    if os.environ.get("CUECARD_GOLDEN"):
        path.write_text(made, encoding="utf-8")

    assert made == page, "run `make golden` and read the difference"


def github(capsys: pytest.CaptureFixture[str]) -> str:
    check(Path("tests/cases/agents/everything_at_once"), options=CheckOptions(format="github"))
    return f"```text\n{capsys.readouterr().out}```\n"


def hook() -> str:
    name = re.search(r"^- id: (.+)$", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.MULTILINE)

    assert name
    return f"```yml\n{HOOK.format(id=name[1])}```\n"


def listed() -> str:
    """Every code by subject; each is an anchor, since addresses of old lead to this page."""
    parts = []
    for name, of_page in pages().items():
        links = ",\n".join(f'<a id="{code}"></a>[`{code}`]({name}.md#{code})' for code in of_page)
        parts.append(f"### [{TITLES[name]}]({name}.md)\n\n{links}\n")
    return "\n".join(parts)


def severity(code: str) -> str:
    return " or ".join(sorted(source_codes()[code]))


def chapter(code: str, example: Example) -> str:
    head = (
        f"## `{code}`\n\n{severity(code).capitalize()}. {CODES[code]}\n\nWhy: {example.why}\n\nMend: {example.mend}\n\n"
    )
    return head + "\n".join([pair(example), *beside(example)])


def pair(example: Example) -> str:
    """The bad and the good text as one difference, or the one text with what makes it bad."""
    where = _PLACES.get(example.place, f"In `{example.place}`")
    run = f" (`{example.run}`)" if example.run else ""
    if not same(example):
        return f"{where}{run}:\n\n{block('diff', difference(example))}"
    wrong = f"without the package {example.bad_without}" if example.bad_without else f"saved as {example.bad_saved_as}"
    language = _LANGUAGES.get(Path(example.place).suffix, "text")
    return f"{where}, {wrong}:\n\n{block(language, lines(example, example.bad))}"


def beside(example: Example) -> Iterator[str]:
    """The other files that decide, where they are short."""
    told = {name: [line for line in text.splitlines() if line not in PLUMBING] for name, text in example.also.items()}
    short = {name: text for name, text in told.items() if text and len(text) <= 5 and len("".join(text)) <= 240}
    one = [f"`{name}`: `` {text[0]} ``" for name, text in short.items() if len(text) == 1 and len(text[0]) <= 76]
    if one:
        yield f"With {', '.join(one)}\n"
    for name, text in short.items():
        if len(text) > 1 or len(text[0]) > 76:
            yield f"With `{name}`:\n\n{block(_LANGUAGES.get(Path(name).suffix, 'text'), text)}"


def same(example: Example) -> bool:
    return example.bad == example.good


def lines(example: Example, text: str) -> list[str]:
    plumbing = PLUMBING if example.place == "agent.yaml" else set()
    return [visible(line) for line in text.splitlines() if line not in plumbing]


def changes(example: Example) -> Iterator[tuple[int, int]]:
    """How many lines go and come at each place where the two texts differ."""
    bad, good = lines(example, example.bad), lines(example, example.good)
    for kind, first, last, start, end in SequenceMatcher(None, bad, good, autojunk=False).get_opcodes():
        if kind != "equal":
            yield last - first, end - start


def moved(example: Example) -> bool:
    return sorted(example.bad.splitlines()) == sorted(example.good.splitlines())


def difference(example: Example) -> list[str]:
    bad, good = lines(example, example.bad), lines(example, example.good)
    shown = []
    for kind, first, last, start, end in SequenceMatcher(None, bad, good, autojunk=False).get_opcodes():
        if kind == "equal":
            shown += [f"  {line}" for line in bad[first:last]]
        else:
            shown += [*(f"- {line}" for line in bad[first:last]), *(f"+ {line}" for line in good[start:end])]
    return shown


def block(language: str, shown: list[str]) -> str:
    assert not [line for line in shown if line.startswith("```")], "the block would end there"
    return "\n".join([f"```{language}", *(line.rstrip() for line in shown), "```", ""])
