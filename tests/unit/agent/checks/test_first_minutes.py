"""What people type in their first minutes: in an agent's folder, with a file beside it, with a letter too few."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from command_line import Outcome, run
from forked import start

TOOL = "description: Saves a note\n    phrases: [note that]\n    gotcha: Ask first."


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an agent, which is the current one."""
    folder = tmp_path / "notes"
    (folder / "turns").mkdir(parents=True)
    (folder / "agent.yaml").write_text(
        "agent: notes\ntemplate: agent.xml\ntools: {instructions: tools.yaml, core: [tool_search]}\n", encoding="utf-8"
    )
    (folder / "agent.xml").write_text(
        "<a><role>You keep notes: all of them.</role><i>{{{activeProtocols}}}</i></a>", encoding="utf-8"
    )
    (folder / "tools.yaml").write_text(f"tools:\n  add_note:\n    {TOOL}\n", encoding="utf-8")
    (folder / "turns" / "first.yaml").write_text("expect: {contains: [You keep notes]}\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "render",
        "check",
        "test",
        "tokens",
        "fmt --check",
        "tools list",
        "tools show add_note",
        "tools search note",
        "tools graph",
        "test turns",
        "test turns/first.yaml",
    ],
)
def test_in_an_agents_folder_a_command_takes_that_agent(notes: Path, line: str) -> None:
    assert notes == Path.cwd()
    words = line.split()
    named = next(at for at, word in enumerate([*words, "-"]) if word.startswith(("-", "turns", "add_", "note", "..")))

    assert (done := run(*words)).exit_code == 0, done.stderr
    assert run(*words[:named], ".", *words[named:]).stdout == done.stdout


def test_what_changed_since_the_last_commit_is_the_plainest_diff(notes: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    (notes / "agent.xml").write_text("<a><role>You keep some.</role><i>{{{activeProtocols}}}</i></a>", encoding="utf-8")

    assert "You keep some." in run("diff").stdout
    assert run("diff").stdout == run("diff", "HEAD:.").stdout == run("diff", "HEAD:.", ".").stdout

    os.chdir(notes / "turns")
    (told,) = re.findall(r"committed last: cuecard (.*)", run("diff", "..").stderr)
    assert told == "diff HEAD:.. .."
    assert "You keep some." in run(*told.split()).stdout


def test_a_folder_without_an_agent_says_which_are_below_or_which_there_are(notes: Path) -> None:
    os.chdir(notes.parent)
    for line in ("render", "render agent.yaml", "tools add pin_note"):
        assert run(*line.split()).stderr.endswith("  = name one of the agents below it: `notes`\n")
    os.chdir(notes / "turns")
    assert "the name of one that cuecard brings, such as `cms`" in run("render").stderr


@pytest.mark.parametrize("command", ["render", "check", "tokens", "watch", "tools list", "test"])
def test_a_template_is_named_as_one_with_its_agent(notes: Path, command: str) -> None:
    told = run(*command.split(), "agent.xml").stderr

    assert "agent.xml: error[wrong-file]: this is a template, not an agent file\n  = name its agent: agent.yaml" in told
    assert notes.joinpath("agent.xml").exists()


def test_the_agent_of_a_text_is_the_one_that_names_it(notes: Path) -> None:
    (notes / "other.yaml").write_text("agent: other\nsections: [{id: a, file: texts/role.md}]\n", encoding="utf-8")
    (notes / "role.md").write_text("You: help.\n- all", encoding="utf-8")
    (notes / "turns" / "b.txt").write_text("just words", encoding="utf-8")
    (notes / "mail.prompt").write_text("---\nmodel: x\n---\nHello", encoding="utf-8")

    assert "this is a text, not an agent file\n  = name its agent: other.yaml" in run("render", "role.md").stderr
    assert "name its agent:" in run("render", "turns/b.txt").stderr
    assert "cuecard import mail.prompt --to DIR" in run("render", "mail.prompt").stderr


@pytest.mark.parametrize(
    ("command", "typed", "meant"),
    [
        ("render", "nots", "notes"),
        ("render", "cmss", "cms"),
        ("render", "notes/agnet.yaml", "notes/agent.yaml"),
        ("render", "ntes/agent.yaml", "notes/agent.yaml"),
        ("check", "nots", "notes"),
        ("test", "cmss", "cms"),
        ("run", "notes/agnet.yaml", "notes/agent.yaml"),
        ("diff", "ntes/agent.yaml", "notes/agent.yaml"),
    ],
)
def test_a_misspelt_agent_is_recognised(notes: Path, command: str, typed: str, meant: str) -> None:
    os.chdir(notes.parent)
    done = run(command, typed)

    assert done.exit_code != 0
    assert f"did you mean `{meant}`?" in done.stderr


def test_an_agent_with_a_name_alone_gets_the_way_out(notes: Path) -> None:
    (notes / "agent.yaml").write_text("agent: a\n", encoding="utf-8")

    assert "  = write `template: agent.xml` and that file, or `sections: [{id: role, text:" in run("render").stderr


def test_init_over_an_agent_is_one_error_with_every_file(notes: Path) -> None:
    assert (notes / "agent.yaml").exists()
    (problem,) = re.findall(r"^.*error\[.*$", run("init", ".").stderr, re.MULTILINE)

    assert problem.endswith(": `agent.xml`, `agent.yaml`, `tools.yaml`, `turns/first.yaml`")


def test_a_prompt_ends_its_last_line(notes: Path) -> None:
    (notes / "agent.yaml").write_text("agent: a\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")

    assert run("render").stdout == "You help.\n"


def test_run_names_every_package_that_is_missing_at_once(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.cli.author_commands.find_spec", lambda _: None)
    monkeypatch.setattr("cuecard.workbench.output.find_spec", lambda _: None)
    done = run("run", notes)

    told = (
        'cuecard run: error[not-installed]: `cuecard run` needs pydantic-ai and mcp\n  = pip install "cuecard[run]"\n'
    )
    assert (done.exit_code, done.stderr) == (2, told)


@pytest.mark.parametrize(
    ("extra", "line", "told"),
    [
        ("", "skills export . out", "wrote  out/notes-tools/SKILL.md"),
        ("", "skills import out --mcp x", 'pip install "cuecard[mcp]"'),
        ("mcp", "skills import out --mcp no-such-program", "error[server-start]"),
        ("mcp", "tools import . --mcp no-such-program", "error[server-start]"),
    ],
)
def test_a_command_needs_no_extra_but_the_one_that_it_names(notes: Path, extra: str, line: str, told: str) -> None:
    absent = {"pydantic_ai", "mcp"} - {extra}
    script = f"""import sys
sys.modules |= dict.fromkeys({absent})  # None hides a module
from cuecard.cli.main import main
sys.argv[0] = "cuecard"
main()"""
    words = [sys.executable, "-c", script, *line.split()]
    done = subprocess.run(words, cwd=notes, capture_output=True, text=True, check=False, encoding="utf-8")

    assert told in (done.stdout + done.stderr).replace("\\", "/")


def test_a_new_tool_goes_into_the_file_of_its_category_or_the_files_are_named(tmp_path: Path) -> None:
    run("init", tmp_path / "shop", "--from", "cms")
    folder = tmp_path / "shop" / "tool_instructions"

    def added(name: str) -> Outcome:
        return run("tools", "add", name, tmp_path / "shop")

    assert f"added `cms_renamePage` to {folder}/pages.yaml:" in added("cms_renamePage").stdout
    assert f"added `cms_setPageImage` to {folder}/images.yaml:" in added("cms_setPageImage").stdout
    unclear = added("cms_exportAll")
    assert "`cms_exportAll` could go into any of 6 files" in unclear.stderr
    assert f"cuecard tools add cms_exportAll {folder}/core.yaml" in unclear.stderr


@pytest.mark.skipif(sys.platform == "win32" or not find_spec("uvicorn"), reason="a terminal and the service")
def test_serve_speaks_in_words_on_a_terminal_and_in_json_otherwise(notes: Path) -> None:
    import pty  # noqa: PLC0415 - not on Windows

    import httpx2  # noqa: PLC0415 - not without the service

    mine, other = pty.openpty()
    with os.fdopen(other, "wb", buffering=0) as terminal, os.fdopen(mine, "rb", buffering=0) as screen:
        served = start("serve", "--port", "0", errors=terminal)
        piped = start("serve", "--port", "0", pipes="stderr")
        assert piped.stderr
        told = b""

        def until(wanted: bytes) -> re.Match[bytes]:
            nonlocal told
            while not (found := re.search(wanted, told)):
                assert served.poll() is None, told
                told += screen.read(4096)
            return found

        try:
            lines = [piped.stderr.readline(), piped.stderr.readline()]
            place = until(rb"listening at (http://127\.0\.0\.1:\d+)/, which says what is there; stop with Ctrl-C")[1]
            answer = httpx2.post(f"{place.decode()}/v1/search-tools", json={"quary": 1}, timeout=60)
            asked = until(rb"request  (request .*)\r\n")[1]
        finally:
            for each in (served, piped):
                each.terminate()
                each.wait(60)
            piped.stderr.close()

    assert answer.status_code == 422
    assert re.search(rb" path /v1/search-tools status 422 .+ codes missing-key, unknown-key ", asked)
    assert all(line.startswith(b"{") for line in lines)
