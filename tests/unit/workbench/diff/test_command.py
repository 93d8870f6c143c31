"""`cuecard diff` over recorded prompts and over revisions of a real git repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from command_line import main
from cuecard import Engine
from unit.pipeline.explain.tiny import AGENT, CORE, NOON, step, write

Run: TypeAlias = Callable[..., tuple[int, str, str]]

TURN = "now: 2026-11-20T12:00:00+00:00\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command's exit code, stdout and stderr."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["cuecard", "diff", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err

    return call


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent in two revisions; its tool instructions lie outside of its folder."""
    folder = tmp_path / "repository"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(folder))
    write(folder / "prompts" / "tiny", agent=AGENT.replace("tools.yaml", "../../tools.yaml"))
    (folder / "prompts" / "tiny" / "tools.yaml").rename(folder / "tools.yaml")
    (folder / "turn.yaml").write_text(TURN, encoding="utf-8")
    for text in ("Be brief.", "Be very brief."):
        (folder / "prompts" / "tiny" / "agent.xml").write_text(CORE.replace("Be brief.", text), encoding="utf-8")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", text)
    monkeypatch.chdir(folder)
    return folder


def record(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_two_revisions_are_compared_with_the_files_that_they_had(repository: Path, run: Run) -> None:
    code, out, err = run("HEAD~1:prompts/tiny/agent.yaml", "HEAD:prompts/tiny", "--turn", "turn.yaml")

    assert (code, err) == (0, "")
    assert "-Be brief.\n+Be very brief.\n" in out
    assert "cause       file edit agent.xml:2" in out


def test_a_revision_is_compared_with_the_working_tree(repository: Path, run: Run) -> None:
    core = repository / "prompts" / "tiny" / "agent.xml"
    core.write_text(CORE.replace("Be brief.", "Be kind."), encoding="utf-8")
    _, out, _ = run("HEAD:prompts/tiny/agent.yaml", "prompts/tiny", "--turn", "turn.yaml", "--json")
    rules = next(section for section in json.loads(out)["sections"] if section["id"] == "rules")

    assert rules["causes"] == [{"kind": "file edit", "names": [], "source": "agent.xml:2"}]
    assert rules["lines"][2:4] == ["-Be very brief.", "+Be kind."]


def test_a_path_that_begins_with_a_dot_is_read_from_here(
    repository: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "prompts")
    code, out, err = run("HEAD:./tiny", "HEAD:prompts/tiny", "--turn", "../turn.yaml")

    assert (code, out.partition(":")[0], err) == (0, "the same", "")


def test_a_broken_revision_shows_the_place_in_the_revision(repository: Path, run: Run) -> None:
    (repository / "prompts" / "tiny" / "agent.yaml").write_text(AGENT + "delivry: append\n", encoding="utf-8")
    git(repository, "commit", "--quiet", "--all", "--message", "a slip")
    code, out, err = run("HEAD:prompts/tiny", "HEAD~1:prompts/tiny")

    assert (code, out) == (2, "")
    assert "HEAD:prompts/tiny/agent.yaml:9:1: error[unknown-key]: unknown key `delivry`" in err
    assert "HEAD:prompts/tiny/tools.yaml" in err  # the file that it names now
    assert "cuecard-" not in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HEAD:prompts/tiny/agnt.yaml", "did you mean `prompts/tiny/agent.yaml`?"),
        ("HEAD:", "HEAD:agent.yaml: error[missing-file]"),
        ("nothing:prompts/tiny", "there is no revision `nothing`"),
        ("--all:prompts/tiny", "there is no revision `--all`"),
        ("nothing.yaml", "no such file"),
        (":prompts/tiny", "no such file"),
        ("turn.yaml", "this is a turn file, but no agent is named"),
    ],
)
def test_a_side_that_names_nothing_is_wrong_usage(repository: Path, run: Run, name: str, message: str) -> None:
    code, out, err = run("--turn", "turn.yaml", "--", "prompts/tiny", name)

    assert (code, out) == (2, "")
    assert message in err


def test_recorded_prompts_are_compared_with_their_texts(tmp_path: Path, run: Run) -> None:
    engine = Engine.open(write(tmp_path / "agent"))
    before = record(tmp_path / "a.json", step(engine).to_json())
    after = record(tmp_path / "b.json", step(engine, ("list_pages",), inputs={"user": "Kim"}).to_json())
    code, out, _ = run(before, after)

    assert code == 0
    assert "-You help friend on none.\n+You help Kim on none.\n" in out
    assert "+<list_pages>\n" in out


def test_bare_manifests_are_compared_without_texts(tmp_path: Path, run: Run) -> None:
    engine = Engine.open(write(tmp_path / "agent"))
    before = record(tmp_path / "a.json", step(engine).manifest.to_json())
    after = record(tmp_path / "b.json", step(engine, inputs={"user": "Kim"}).manifest.to_json())
    _, out, _ = run(before, after)

    assert "input user" in out
    assert "You help" not in out


def test_a_recorded_prompt_is_compared_with_an_agent_of_today(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path / "agent")
    before = record(tmp_path / "a.json", step(Engine.open(folder)).to_json())
    turn = tmp_path / "turn.yaml"
    turn.write_text(TURN, encoding="utf-8")

    assert run(before, folder, "--turn", turn)[1].startswith("the same: 7 sections")


def test_the_exit_code_tells_whether_they_differ_only_when_asked(tmp_path: Path, run: Run) -> None:
    engine = Engine.open(write(tmp_path / "agent"))
    one = record(tmp_path / "a.json", step(engine).to_json())
    other = record(tmp_path / "b.json", step(engine, inputs={"user": "Kim"}).to_json())

    assert [run(one, other)[0], run(one, other, "--exit-code")[0], run(one, one, "--exit-code")[0]] == [0, 1, 0]
    assert run(one, tmp_path / "c.json", "--exit-code")[0] == 2


@pytest.mark.parametrize("content", ["", "[]", "{", "{}", '{"manifest": {}}', '{"manifest": 1, "segments": 2}', "\x00"])
def test_a_file_that_is_not_a_prompt_is_wrong_usage(tmp_path: Path, run: Run, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    code, out, err = run(path, path)

    assert (code, out) == (2, "")
    assert err.startswith(f"{path}: error[bad-")


def test_both_sides_have_the_same_time_when_the_turn_says_none(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path / "agent", core=CORE)

    assert run(folder, folder)[1].startswith("the same")


def test_prompts_of_different_salts_are_refused(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "agent")
    before = record(tmp_path / "a.json", step(Engine.open(folder), now=NOON).to_json())
    monkeypatch.setenv("CUECARD_SALT", "pepper")
    code, _, err = run(before, folder)

    assert code == 2
    assert "different salts" in err
    assert "pepper" not in err


def test_the_price_of_a_break_is_that_of_everything_after_it(tmp_path: Path, run: Run) -> None:
    long = CORE.replace("Be brief.", "Be brief, and say it again.\n" * 400)
    folder = write(tmp_path / "agent", core=long)
    engine = Engine.open(folder)
    before = record(tmp_path / "a.json", step(engine).to_json())
    after = record(tmp_path / "b.json", step(engine, inputs={"user": "Kim"}).to_json())
    data = json.loads(run(before, after, "--model", "claude-opus-5", "--json")[1])
    kept = sum(section["tokens_after"] for section in data["sections"][:2])
    rest = data["after"]["tokens"] - kept

    assert data["first_break"]["tokens"] == rest
    assert data["price"]["cost"] == pytest.approx(0.1 * kept + 1.25 * rest)
    assert data["price"]["warm"] == pytest.approx(0.1 * (kept + rest))


def test_an_unknown_model_is_wrong_usage(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path / "agent")
    code, _, err = run(folder, folder, "--model", "claud-opus-5")

    assert code == 2
    assert "unknown model `claud-opus-5`" in err


def test_both_sides_may_have_discovered_tools(run: Run, repository: Path) -> None:
    code, out, err = run("HEAD~1:prompts/tiny", "prompts/tiny", "--discovered", "make_page", "--json")
    plain = json.loads(run("HEAD~1:prompts/tiny", "prompts/tiny", "--json")[1])

    assert (code, err) == (0, "")
    assert json.loads(out)["after"]["tokens"] > plain["after"]["tokens"]


def test_a_tool_that_no_side_has_is_reported(run: Run, repository: Path) -> None:
    code, _, err = run("HEAD~1:prompts/tiny", "prompts/tiny", "--discovered", "nobody")

    assert code == 2
    assert "error[unknown-tool]" in err


def test_records_cannot_discover_anything(run: Run, tmp_path: Path) -> None:
    code, _, err = run(tmp_path / "a.json", tmp_path / "b.json", "--discovered", "x")

    assert code == 2
    assert "error[wrong-option]" in err
    assert "both prompts are recordings" in err


def test_turns_of_markdown_say_themselves_what_is_found(run: Run, repository: Path) -> None:
    code, _, err = run("HEAD~1:prompts/tiny", "prompts/tiny", "--discovered", "make_page", "--format", "markdown")

    assert code == 2
    assert "write `discovered` into the turn files" in err
