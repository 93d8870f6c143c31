"""`cuecard library`: every command once, for people and for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import main


def ran(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["cuecard", "library", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def test_a_version_goes_through_all_commands(
    url: str, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUECARD_LIBRARY", url)

    def told(*words: str) -> Any:
        code, text = ran(monkeypatch, capsys, *words, "--json")
        assert code == 0, text
        return json.loads(text)

    assert told("init")["before"] == ""
    assert told("publish", str(agent), "-m", "the first", "--author", "Ann", "--label", "production")["number"] == 1
    (tmp_path / "rules.md").write_text("Be kind.\n")
    edit = ["edit", "helper", "-m", "kinder", "--section", "rules", "--file", str(tmp_path / "rules.md")]
    assert told(*edit, "--label", "production")["labels"] == ["latest", "production"]
    (tmp_path / "entry.yaml").write_text("description: Shows a page\nphrases: [read a page]\ngotcha: Ids are texts.\n")
    assert (
        told("edit", "helper", "-m", "ids", "--tool", "get_page", "--file", str(tmp_path / "entry.yaml"))["number"] == 3
    )
    assert "+Be kind." in told("diff", "helper@1", "helper@2")["diff"]
    assert told("rollback", "helper@production")["number"] == 1
    assert told("label", "helper@2", "staging")["labels"] == ["staging"]
    assert told("label", "helper", "staging", "--remove") == {"removed": "helper@staging"}
    assert [each["number"] for each in told("log", "helper")["versions"]] == [3, 2, 1]
    assert told("log", "helper", "--moves")["moves"][-1]["action"] == "unlabel"
    assert told("show", "helper@2")["files"]["sections/rules.md"] == "Be kind.\n"
    assert Path(told("export", "helper@2", str(tmp_path / "out"))["file"]).is_file()
    assert told("import", str(tmp_path / "out"))["number"] == 2
    assert told("upgrade")["before"] == "0001"


def test_the_same_is_told_to_people(
    url: str, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUECARD_LIBRARY", url)

    def told(*words: str) -> str:
        code, text = ran(monkeypatch, capsys, *words)
        assert code == 0, text
        return text

    assert "has a library" in told("init")
    assert told("publish", str(agent), "-m", "the first", "--author", "Ann").startswith("helper@1 [latest]")
    assert "[latest, production]" in told("label", "helper@1", "production")
    (tmp_path / "rules.md").write_text("Be kind.\n")
    edit = ["edit", "helper", "-m", "kinder", "--section", "rules", "--file", str(tmp_path / "rules.md")]
    assert told(*edit, "--label", "production").startswith("helper@2 [latest, production]")
    assert "+Be kind." in told("diff", "helper@1", "helper@2")
    assert told("diff", "helper@2", "helper@production") == "no difference\n"
    assert told("rollback", "helper@production").startswith("helper@1 [production]")
    assert "  sections/rules.md" in told("show", "helper@2")
    assert told("log", "helper").splitlines()[0].startswith("helper@2 [latest]")
    assert "(rollback)" in told("log", "helper", "--moves")
    assert told("export", "helper@2", str(tmp_path / "out")).strip().endswith("agent.yaml")
    assert told("import", str(tmp_path / "out")).startswith("helper@2")
    assert told("label", "helper", "production", "--remove") == "helper@production is removed\n"
    assert "is up to date" in told("upgrade")
    for wrong, code in ((["show", "helper@7"], "unknown-version"), (["label", "helper@1", "latest"], "wrong-argument")):
        ended, text = ran(monkeypatch, capsys, *wrong)
        assert ended
        assert f"error[{code}]" in text


def test_errors_name_place_cause_and_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/prompts.db"
    code, text = ran(monkeypatch, capsys, "log", "helper", "--library", url)
    secret = ran(monkeypatch, capsys, "log", "helper", "--library", "mysql://ann:geheim@localhost/x")

    assert code == 1
    assert "error[no-library]" in text
    assert "cuecard library init" in text
    assert secret[0] == 2
    assert "geheim" not in secret[1]


@pytest.mark.parametrize(
    "words", ["--section a --tool b --file x", "--section a", "--tool b --title x", "--file x", "--tool b"]
)
def test_an_edit_of_nothing_and_of_two_things_says_which_options_belong_together(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = ran(monkeypatch, capsys, "edit", "helper", "-m", "x", *words.split())

    assert code == 2
    assert "library edit: error[wrong-option]" in text
    assert "`--tool NAME` with `--file FILE`" in text


def test_a_version_that_is_refused_for_a_warning_is_told_as_refused(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CUECARD_LIBRARY", url)
    (tmp_path / "agent.yaml").write_text("agent: a\ninputs: {unread: {default: x}}\nsections: [{id: s, text: S}]\n")
    ran(monkeypatch, capsys, "init")
    publish = ("publish", str(tmp_path), "-m", "first")

    code, text = ran(monkeypatch, capsys, *publish)
    as_json = json.loads(ran(monkeypatch, capsys, *publish, "--json")[1])

    assert (code, as_json["ok"], as_json["problems"][0]["severity"]) == (1, False, "error")
    assert "error[unused-input]" in text
    assert "= a version may have no warnings" in text
    assert "`accept: {unused-input: REASON}`" in text
