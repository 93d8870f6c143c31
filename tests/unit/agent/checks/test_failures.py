"""Commands that fail say so in the form that was asked for, and nothing that was typed reaches the terminal raw."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from command_line import main
from cuecard.errors import MAX_PROBLEMS

ESC = "\x1b]0;evil\x07\x9b31m\u202e"
COMMANDS = (
    "run",
    "render",
    "diff nowhere.yaml",
    "check",
    "tokens",
    "replay nowhere.yaml",
    "watch",
    "tools list",
    "tools show nowhere.yaml",
    "tools search nowhere.yaml",
    "bench search nowhere.json",
)


def outcome(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str, str]:
    """The exit code of a command line, and what it prints."""
    monkeypatch.setattr("sys.argv", ["cuecard", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrong", [["nowhere.yaml"], ["nowhere.yaml", "--no-such-option"], [ESC]])
def test_with_json_an_error_is_one_json_object_and_the_exit_code_is_the_same(
    command: str,
    wrong: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [*command.split(), *wrong]
    code, out, err = outcome(capsys, monkeypatch, *arguments)
    assert code in {1, 2}
    assert raw_controls(out + err) == []

    again, printed, nothing = outcome(capsys, monkeypatch, *arguments, "--json")
    told = json.loads(printed)
    assert (again, nothing) == (code, "")
    assert told.keys() - {"agents"} == {"ok", "problems", "more"}
    assert told["ok"] is False
    assert told["problems"]
    assert raw_controls(printed) == []


def raw_controls(text: str) -> list[str]:
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_a_hostile_file_name_is_printed_escaped_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / f"a{ESC}\nerror: b"
    folder.mkdir()
    (folder / "agent.yaml").write_text("agent: x\ntemplate: agent.xml\nbad: 1\n", encoding="utf-8")
    (folder / "agent.xml").write_text("<a>{{#if}}</a>\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for form in ("text", "github", "json"):
        code, out, err = outcome(capsys, monkeypatch, "check", folder.name, "--format", form)
        assert code == 1
        assert raw_controls(out + err) == []
        assert "\nerror: b" not in out + err


@pytest.mark.repeats
def test_many_problems_are_counted_and_the_first_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "".join(f"wrong_{number}: 1\n" for number in range(1_000))
    (tmp_path / "agent.yaml").write_text(f"agent: x\nsections: [{{id: a, text: x}}]\n{wrong}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    told = json.loads(outcome(capsys, monkeypatch, "check", ".", "--json")[1])
    assert (len(told["problems"]), told["more"]) == (MAX_PROBLEMS, 1_000 - MAX_PROBLEMS)
    _, out, err = outcome(capsys, monkeypatch, "check", ".")
    assert err.count("error[unknown-key]") == MAX_PROBLEMS
    assert "\n\n... and 900 more problems\n\nFor an example of each: " in err
    assert out.endswith("1,000 errors, 0 warnings\n")
    assert outcome(capsys, monkeypatch, "render", ".")[2].endswith("... and 900 more problems\n")
