"""The pages on sections, templates and tests: each heading with examples is a folder whose commands are run.

The agent that `cuecard init notes` writes lies in it, because a reader has made that first.

A block behind a line with a path alone is a file of that name; `console` blocks are commands with what they print.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import get_args

import pytest

from cuecard.cli.main import COMMANDS, main
from cuecard.cli.signatures import Group
from cuecard.config.history_spec import BlockHistory, HistoryBase, LastHistory, TokenHistory, WindowHistory
from cuecard.config.sections.section_spec import SOURCES, LayoutSpec, SectionSpec

ROOT = Path(__file__).parents[2]
NAMES = (
    "helpers",
    "messages",
    "sections",
    "sources",
    "testing",
)
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
PAGE = PAGES["sections"] + PAGES["sources"] + PAGES["messages"]
WRITTEN = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
POLICIES: tuple[type[HistoryBase], ...] = (WindowHistory, TokenHistory, LastHistory, BlockHistory)

FOREIGN = ["-p", "no:schemathesis", "-p", "no:langsmith_plugin"]
"""Plugins of other packages here, which a reader need not have and which take a second to import."""

FILE = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTES = re.compile(r"^extends: (\.\./)?notes$|^\$ cuecard \w+ notes(?: |$)", re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _chapters(page: str) -> dict[str, str]:
    parts = re.split(
        r"^#+ (.*)\n", re.sub(r"^```.*?^```$", _hidden, page, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE
    )
    return {title: _shown(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _hidden(block: re.Match[str]) -> str:
    """A block whose lines cannot be taken for headings of the page."""
    return re.sub(r"^#", "\0#", block[0], flags=re.MULTILINE)


def _shown(text: str) -> str:
    return text.replace("\0", "")


CHAPTERS = [(title, text) for page in PAGES.values() for title, text in _chapters(page).items() if "```" in text]
EXAMPLES = dict(CHAPTERS)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agent that `cuecard init notes` writes, made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("sys.argv", ["cuecard", "init", "notes"])
        with pytest.raises(SystemExit) as left:
            main()
    assert not left.value.code
    return folder / "notes"


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_prints_what_it_shows(
    title: str, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if NOTES.search(EXAMPLES[title]):
        shutil.copytree(notes, tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    steps = sorted([*FILE.finditer(EXAMPLES[title]), *CONSOLE.finditer(EXAMPLES[title])], key=lambda step: step.start())
    files = {step[1]: step[2] for step in steps if step.re is FILE}

    assert any(step.re is CONSOLE for step in steps), "an example without a command proves nothing"
    for name in files:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
    for step in steps:
        if step.re is FILE:  # a later block changes the file
            Path(step[1]).write_text(step[2], encoding="utf-8")
            continue
        for command in re.split(r"^\$ ", step[1], flags=re.MULTILINE)[1:]:
            _prints(command, request)


def _prints(command: str, request: pytest.FixtureRequest) -> None:
    line, _, expected = command.partition("\n")
    text = (_pytest if line.startswith("pytest") else _run)(line, request)
    shown = text if text.endswith("\n") else f"{text}\n"

    assert doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS), f"$ {line} prints\n{shown}"


def _pytest(line: str, request: pytest.FixtureRequest) -> str:
    here = Path.cwd()
    pytester: pytest.Pytester = request.getfixturevalue("pytester")
    os.chdir(here)  # a tester has gone to a folder of its own
    return str(pytester.runpytest_inprocess(*shlex.split(line)[1:], "-p", "no:cacheprovider", *FOREIGN).stdout)


def _run(line: str, request: pytest.FixtureRequest) -> str:
    capsys: pytest.CaptureFixture[str] = request.getfixturevalue("capsys")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", shlex.split(line))
        with pytest.raises(SystemExit):
            main()
    shown = capsys.readouterr()
    return shown.err + shown.out


@pytest.mark.parametrize("page", PAGES.values(), ids=NAMES)
def test_every_block_is_a_file_or_shows_commands(page: str) -> None:
    assert len(re.findall(r"^```\w+$", page, re.MULTILINE)) == len(FILE.findall(page)) + len(CONSOLE.findall(page))


def test_no_two_chapters_with_examples_have_one_title() -> None:
    assert len(EXAMPLES) == len(CHAPTERS)


@pytest.mark.parametrize("source", ["text", "file", *SOURCES])
def test_every_source_of_a_section_has_an_example(source: str) -> None:
    assert f"### `{source}`" in PAGES["sources"]
    assert re.search(rf"\b{source}:", "".join(text for _, text in FILE.findall(EXAMPLES[f"`{source}`"])))


def test_every_key_of_a_section_and_of_the_layout_is_reported() -> None:
    keys = [*SectionSpec.model_fields, *LayoutSpec.model_fields]

    assert [key for key in keys if f"`{key}`" not in PAGE] == []


@pytest.mark.parametrize("policy", POLICIES)
def test_every_history_policy_has_an_example_and_its_keys_are_reported(policy: type[HistoryBase]) -> None:
    name = get_args(policy.model_fields["policy"].annotation)[0]

    assert f"policy: {name}" in "".join(text for _, text in FILE.findall(PAGE))
    assert [key for key in policy.model_fields if f"`{key}`" not in WRITTEN] == []


def test_every_command_is_reported() -> None:
    names = [name for name, entry in COMMANDS.commands.items() if not isinstance(entry, Group)]
    groups = [(name, list(entry.commands)) for name, entry in COMMANDS.commands.items() if isinstance(entry, Group)]

    assert [name for name in names if not re.search(rf"\bcuecard {name}\b", WRITTEN)] == []
    assert [
        name for group, tools in groups for name in tools if not re.search(rf"{group} {name}\b|`{name}`", WRITTEN)
    ] == []
