"""Docs cannot lie: every Python and console block of the README and the docs is run."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from cuecard.cli.main import COMMANDS, main
from cuecard.cli.tool_commands import TOOLS
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Document
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.layers import lay_over
from cuecard.config.tool_file import ToolFile
from cuecard.template.helpers.standard import NAMES
from docs.test_loops import FRAMEWORKS

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "helpers.md",
    "language.md",
    "messages.md",
    "sections.md",
    "sources.md",
    "testing.md",
}
"""Pages whose examples are run in folders of their own: `test_sections.py`."""
LOOPS = {"own-loop.md", *(f"{page}.md" for page in FRAMEWORKS)}
"""Pages whose examples are run with a service on loopback: `test_loops.py`."""
WALKED = {"tutorial.md", "tool-instructions.md", "caching.md", "migrate.md", "words.md"}
"""Pages that are walked from top to bottom in an empty folder: `test_tutorial.py`; as recipes are, `test_how_to.py`."""
PAGES = [
    ROOT / "README.md",
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.name not in ELSEWHERE | LOOPS | WALKED and page.parent.name != "how-to"
    ),
    *sorted((ROOT / "prompts").glob("*/README.md")),
    *(ROOT / "examples" / name / "README.md" for name in ("gemini_cli", "roo_code")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{page.read_text(encoding='utf-8').count(chr(10), 0, match.start()) + 1}", match[2])
        for page in PAGES
        for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
        if match[1] == language
    ]


@pytest.mark.parametrize("page", sorted({where.partition(":")[0] for where, _ in blocks("python")}))
def test_python_blocks_run(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the page, as a reader types them: what one block defines, the next ones know."""
    monkeypatch.chdir(ROOT)
    typed: dict[str, object] = {}
    for where, code in blocks("python"):
        file, _, line = where.partition(":")
        if file == page:
            placed = "\n" * int(line) + code  # so that a failure names the line of the page
            exec(compile(placed, page, "exec", dont_inherit=True), typed)  # noqa: S102 - running the example is the test


@pytest.mark.parametrize(("where", "text"), blocks("console"))
def test_console_blocks_print_what_they_show(
    where: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checker = doctest.OutputChecker()
    monkeypatch.chdir(ROOT)
    for command, expected in _commands(text):
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE), command
            continue
        shown = _run(command, monkeypatch, capsys)

        assert checker.check_output(expected, shown, doctest.ELLIPSIS), f"{where}: {command} prints\n{shown}"


@pytest.mark.parametrize(("where", "text"), blocks("yaml"))
def test_yaml_blocks_are_valid_files(where: str, text: str) -> None:
    model = ToolFile if "tool-instructions" in text.partition("\n")[0] else AgentFile

    assert isinstance(validate(_laid_over_its_base(read_yaml(text, where)), model), model)


def test_the_page_of_commands_names_every_command() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    commands = [*COMMANDS.commands]
    tools = [*TOOLS.commands]

    assert [c for c in commands if f"`cuecard {c} " not in page and f"`cuecard {c}`" not in page] == []
    assert [t for t in tools if f"`{t}`" not in page and f"cuecard tools {t}" not in page] == []


def _laid_over_its_base(document: Document) -> Document:
    """An example that extends a shipped agent, from wherever a reader has put it; any other as it is."""
    base = document.value.get("extends", "")
    if not isinstance(base, str) or not base:
        return document
    shipped = ROOT.joinpath("prompts", *Path(base).parts[-2:])
    below = read_yaml(shipped.read_text(encoding="utf-8"), shipped.name)
    return lay_over([(below, "base"), (document, "")]).document


def _commands(text: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0].partition("#")[0].strip(), part.partition("\n")[2]) for part in parts]


def _run(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    arguments = shlex.split(command)

    assert arguments[0] == "cuecard", command
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit):
        main()
    done = capsys.readouterr()
    shown = done.err + done.out
    return shown if shown.endswith("\n") else f"{shown}\n"  # a prompt need not end a line; a block of a page does


def test_every_helper_is_documented() -> None:
    page = (ROOT / "docs" / "helpers.md").read_text(encoding="utf-8")

    assert [name for name in NAMES if f"`{name} " not in page] == []
