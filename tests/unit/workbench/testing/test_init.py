"""`cuecard init`: what it writes works at once, and nothing is overwritten."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from command_line import main

KINDS = ["minimal", "sections", "cms"]


class Shell:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr("sys.argv", ["cuecard", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = self.capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(monkeypatch, capsys)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_agent_passes_everything_at_once(kind: str, shell: Shell) -> None:
    code, out, _ = shell("init", "shop", "--from", kind, "--yes")

    assert code == 0
    assert "wrote the agent `shop` into shop" in out
    for command in ("check", "render", "test", "tokens"):
        code, out, err = shell(command, "shop")
        assert (code, err) == (0, ""), command
    assert shell("fmt", "--check", "shop")[0] == 0
    assert "0 errors, 0 warnings\n" in shell("check", "shop")[1]
    assert (Path("shop") / "turns" / "snapshots" / "first.txt").is_file()
    assert "is cheaper for a dozen tools or fewer, `auto` decides" in (Path("shop") / "agent.yaml").read_text("utf-8")


def test_commands_that_are_shown_can_be_typed(shell: Shell) -> None:
    shown = shell("init", "my shop")[1] + shell("tools", "add", "sell_loaf", "my shop")[1]
    found = [shlex.split(line.split("  ")[0]) for line in re.findall(r"cuecard .*", shown)]

    typed = [words for words in found if words[1] in {"render", "test", "check", "tools"}]
    assert [shell(*words[1:])[0] for words in typed] == [0] * 4


@pytest.mark.repeats
@pytest.mark.parametrize("kind", KINDS)
def test_its_files_are_what_its_editor_settings_say(kind: str, shell: Shell) -> None:
    shell("init", "shop", "--from", kind)
    settings = json.loads((Path("shop") / ".vscode" / "settings.json").read_text(encoding="utf-8"))
    checked = set()
    for schema, globs in settings["yaml.schemas"].items():
        form = json.loads((Path("shop") / schema).read_text(encoding="utf-8"))
        validator = jsonschema.Draft202012Validator(form)
        excluded = {path for glob in globs if glob[0] == "!" for path in Path("shop").glob(glob[1:])}
        for path in {path for glob in globs if glob[0] != "!" for path in Path("shop").glob(glob)} - excluded:
            validator.validate(YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")))
            checked.add(path.relative_to("shop").as_posix())

    assert {"agent.yaml", "turns/first.yaml", "turns/found.yaml"} < checked
    assert checked == {path.relative_to("shop").as_posix() for path in Path("shop").rglob("[a-z]*.yaml")}


@pytest.mark.parametrize("kind", KINDS)
def test_the_prompt_is_tested_for_what_it_does(kind: str, shell: Shell) -> None:
    """The turns notice when the agent loses its tools."""
    shell("init", "shop", "--from", kind)
    agent = Path("shop") / "agent.yaml"
    agent.write_text(
        agent.read_text(encoding="utf-8").replace("delivery: append", "delivery: frozen"), encoding="utf-8"
    )

    assert shell("test", "shop")[0] == 1


def test_nothing_is_overwritten(shell: Shell) -> None:
    Path("shop").mkdir()
    (Path("shop") / "agent.yaml").write_text("mine\n", encoding="utf-8")
    (Path("shop") / "README.md").write_text("mine\n", encoding="utf-8")

    code, _, err = shell("init", "shop")

    assert code == 2
    assert err.count("error[file-exists]") == 1
    assert sorted(path.name for path in Path("shop").rglob("*")) == ["README.md", "agent.yaml"]


def test_a_readme_and_settings_of_a_project_stay(shell: Shell) -> None:
    Path("README.md").write_text("mine\n", encoding="utf-8")

    code, out, _ = shell("init", ".", "--name", "shop")

    assert code == 0
    assert "README.md already exists and was kept" in out
    assert Path("README.md").read_text(encoding="utf-8") == "mine\n"
    assert shell("test", ".")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_coding_agent_is_told_to_run_works(kind: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("init", "shop", "--from", kind)
    monkeypatch.chdir("shop")
    told = re.findall(r"^\d\. `cuecard (.+?)`", Path("AGENTS.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert told == ["check --strict", "test", "diff"]
    assert [shell(*line.split())[0] for line in told[:2]] == [0, 0]


def test_a_second_time_is_refused(shell: Shell) -> None:
    shell("init", "shop")

    assert shell("init", "shop")[0] == 2


@pytest.mark.parametrize(
    ("folder", "called"), [("My Shop", "My-Shop"), ("9 lives", "agent-9-lives"), ("läden", "l-den"), ("-", "agent")]
)
def test_the_agent_is_called_as_its_folder(folder: str, called: str, shell: Shell) -> None:
    code, out, _ = shell("init", f"./{folder}", "--json")

    assert (code, json.loads(out)["agent"]) == (0, called)


def test_an_invalid_name_is_refused(shell: Shell) -> None:
    code, _, err = shell("init", "shop", "--name", "9 lives")

    assert code == 2
    assert "--name: error[wrong-option]: `9 lives` is not a valid agent name" in err
    assert not Path("shop").exists()


def test_on_a_terminal_it_asks(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["nothing", "sections"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))

    code, out, _ = shell("init", "shop")

    assert code == 0
    assert "`nothing` is not one of them" in out
    assert (Path("shop") / "texts" / "identity.md").is_file()


def test_a_folder_that_cannot_be_written_to_is_an_error(shell: Shell) -> None:
    Path("shop").write_text("a file\n", encoding="utf-8")

    code, _, err = shell("init", "shop/agent")

    assert code == 2
    assert "error[wrong-option]: cannot be written to" in err
