"""Published systems as folders of configuration: they check without a warning, and their turns pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import main, rendered
from cuecard import Engine

ROOT = Path(__file__).parents[3]
AGENTS = ["gemini_cli", "gemini_cli/house", "roo_code"]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


class Command:
    """Runs `cuecard` as a shell would, in the folder of the repository."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.chdir(ROOT)
        self._patch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self._patch.setattr("sys.argv", ["cuecard", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        shown = self._capsys.readouterr()
        return int(stop.value.code or 0), shown.out, shown.err


@pytest.mark.parametrize("agent", AGENTS)
def test_it_checks_without_a_warning(agent: str, command: Command) -> None:
    code, out, err = command("check", "--strict", f"examples/{agent}")

    assert (code, err) == (0, "")
    assert "0 errors, 0 warnings" in out


@pytest.mark.parametrize("agent", AGENTS)
def test_its_turns_pass_and_no_snapshot_is_stale(agent: str, command: Command) -> None:
    code, out, err = command("test", f"examples/{agent}")

    assert (code, err) == (0, "")
    assert "0 failed" in out


@pytest.mark.parametrize("agent", ["gemini_cli", "roo_code"])
def test_every_section_speaks_in_a_turn_and_is_missing_in_another(agent: str) -> None:
    """A condition that always holds, or never does, would be a mistake in the file."""
    folder = ROOT / "examples" / agent
    engine = Engine.open(folder)
    sections = {section.id: section.when is not None for section in engine.agent.spec.sections}
    spoken: list[set[str]] = []
    for turn in sorted((folder / "turns").glob("*.yaml")):
        if "\nturns:" not in turn.read_text(encoding="utf-8"):
            step = rendered(folder, turn)
            spoken.append({row.id for row in step.manifest.sections if row.tokens})

    assert set().union(*spoken) >= set(sections)
    assert not {name for name, conditional in sections.items() if conditional} & spoken[0].intersection(*spoken)


@pytest.mark.parametrize("agent", ["gemini_cli", "roo_code"])
def test_there_is_no_code_and_the_page_names_turns_that_exist(agent: str) -> None:
    folder = ROOT / "examples" / agent
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
    rows = re.findall(r"^\| .* \| ([^|]+) \|$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows[1:] for name in re.findall(r"`([\w/-]+)`", row)}

    assert kinds == {".yaml", ".md", ".txt"}
    assert len(named) >= 8
    for name in named:
        assert (folder / (name if "/" in name else f"turns/{name}")).with_suffix(".yaml").is_file(), name
