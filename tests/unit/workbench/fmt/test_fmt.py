"""`cuecard fmt` as people type it: what it writes, what it leaves alone, and why."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuecard import Engine, Turn
from cuecard.workbench.fmt.command import fmt
from shipped import content_root
from unit.workbench.run.talking import Ran, cuecard

AGENT = "agent: shop\nsections:\n- {id: role,file: role.md}\n- id: hello\n  text: Hello.\nlayout: {trim: true}\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("shop/agent.yaml", AGENT)
    write("shop/role.md", "You help.\n\n\n")
    return tmp_path / "shop"


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    return file


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> Ran:
    return cuecard(monkeypatch, "fmt", *words)


def prompt(folder: Path) -> str:
    engine = Engine.open(folder, cache=False)
    return "".join(each.text for each in engine.prepare_step(engine.prepare_call()).segments)


def test_a_folder_is_formatted_and_says_the_same(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = prompt(shop)
    ran = run(monkeypatch, "shop")

    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out == "formatted shop/agent.yaml\nformatted shop/role.md\n2 files formatted, 0 files already formatted\n"
    )
    assert (shop / "agent.yaml").read_text() == AGENT.replace(
        "- {id: role,file: role.md}\n- id: hello\n  text",
        "  - {id: role, file: role.md}\n  - id: hello\n    text",
    )
    assert (shop / "role.md").read_text() == "You help.\n"
    assert prompt(shop) == before
    assert run(monkeypatch, "shop", "--check").out == "0 files would be formatted, 2 files already formatted\n"


def test_a_file_that_only_describes_tools_is_one_of_ours(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = ("described: {a:  {description: A}}\n", "category: c\ndescribed: {a:  {}}\n")
    others = ("category:  c\n", "described:  [a]\n", "described: {a:  {}}\nother: {}\n")
    for number, text in enumerate((*ours, *others)):
        write(f"shop/tools/{number}.yaml", text)

    would = [line for line in run(monkeypatch, "shop", "--check").out.splitlines() if "/tools/" in line]

    assert would == ["would format shop/tools/0.yaml", "would format shop/tools/1.yaml"]


def test_check_and_diff_write_nothing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, "shop", "--check")
    assert (ran.code, ran.out.splitlines()[0]) == (1, "would format shop/agent.yaml")
    ran = run(monkeypatch, "shop/agent.yaml", "--diff")
    assert ran.code == 1
    assert "+  - {id: role, file: role.md}\n" in ran.out
    assert (shop / "agent.yaml").read_text() == AGENT
    told = json.loads(run(monkeypatch, "shop", "--check", "--json").out)
    assert [told["ok"], told["written"], told["unchanged"]] == [False, False, 0]
    assert [each["file"] for each in told["changed"]] == ["shop/agent.yaml", "shop/role.md"]
    assert json.loads(run(monkeypatch, "shop", "--json").out)["ok"] is True


def test_what_the_prompt_says_stays(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "You help.  \nBe brief.\n\n\n\nBe kind.\n\n"
    write("shop/role.md", text)
    ran = run(monkeypatch, "shop/role.md")

    assert ran.code == 0
    assert "shop/role.md: warning[not-formatted]: left as it is: blanks at line ends, several blank lines" in ran.err
    assert (shop / "role.md").read_text() == text.rstrip("\n") + "\n"


def test_what_the_layout_removes_anyway_is_tidied(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("shop/agent.yaml", "agent: shop\ntemplate: core.xml\nwhitespace: compact\n")
    core = write("shop/core.xml", "<agent>  \n<role>\nYou help.\t\n\n\n\nBe kind.\n</role>\n</agent>\n\n")
    before = prompt(shop)
    assert run(monkeypatch, "shop").code == 0
    assert core.read_text() == "<agent>\n<role>\nYou help.\n\nBe kind.\n</role>\n</agent>\n"
    assert prompt(shop) == before


def test_a_text_that_no_agent_names_or_of_an_agent_with_errors_stays(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = write("shop/alone.md", "x \n")
    assert "no agent in its folder or above names it" in run(monkeypatch, alone).err
    write("shop/agent.yaml", f"{AGENT}inputs: {{x: {{type: nothing}}}}\n")
    assert "cannot be determined while shop/agent.yaml has errors" in run(monkeypatch, "shop/role.md").err
    assert (shop / "role.md").read_text() == "You help.\n\n\n"


def test_a_text_that_two_agents_name_says_the_same_in_both(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        "shop/other/agent.yaml",
        "agent: other\nsections: [{id: role, file: ../role.md}]\nroots: [..]\nlayout: {trim: false}\n",
    )
    ran = run(monkeypatch, "shop")
    assert "shop/role.md: warning[not-formatted]" in ran.err
    assert (shop / "role.md").read_text() == "You help.\n\n\n"


def test_one_broken_file_is_one_error_and_the_others_are_formatted(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("shop/turns/broken.yaml", "inputs: {a: [\n")
    (shop / "turns" / "latin.yaml").write_bytes(b"inputs: {a: \xe9}\n")
    ran = run(monkeypatch, "shop", "gone")

    assert ran.code == 1
    assert [line.split()[0] for line in ran.err.splitlines() if "error[" in line] == [
        "shop/turns/broken.yaml:2:1:",
        "shop/turns/latin.yaml:1:13:",
        "gone:",
    ]
    assert (shop / "agent.yaml").read_text() != AGENT


def test_files_of_others_in_the_folder_stay(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "compose.yaml": "services:\n    web:   &x {image: a }\n    db: *x\n",
        "hooks.yaml": "-   id: x\n",
        "other.yaml": "name:   x\n",
        "empty.yaml": "",
        ".hidden/agent.yaml": "agent:   x\n",
    }
    files = [write(f"shop/{name}", text) for name, text in texts.items()]
    assert run(monkeypatch, "shop").code == 0
    assert [file.read_text() for file in files] == list(texts.values())
    assert run(monkeypatch, "shop/other.yaml").code == 0
    assert (shop / "other.yaml").read_text() == "name: x\n"
    assert "error[yaml-refused]" in run(monkeypatch, "shop/compose.yaml").err
    assert "error[yaml-empty]" in run(monkeypatch, "shop/empty.yaml").err


def test_line_ends_and_a_byte_order_mark(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "agent.yaml").write_bytes(b"\xef\xbb\xbf" + AGENT.replace("\n", "\r\n").encode())
    (shop / "role.md").write_bytes(b"\xef\xbb\xbfYou help.  \r\nBe kind.\r\n")
    before = prompt(shop)
    assert "\u2039U+FEFF\u203a" in run(monkeypatch, "shop", "--diff").out
    assert run(monkeypatch, "shop").code == 0
    assert (shop / "agent.yaml").read_bytes().startswith(b"agent: shop\r\nsections:\r\n  - {id")
    assert (shop / "role.md").read_bytes() == b"You help.  \r\nBe kind.\r\n"
    assert prompt(shop) == before
    assert run(monkeypatch, "shop", "--check").code == 0


@pytest.mark.parametrize(("end", "kept"), [("\n", "\n"), ("\r\n", "\r\n"), ("\r", "\n")])
def test_a_file_keeps_the_line_ends_of_most_of_its_lines(
    shop: Path, monkeypatch: pytest.MonkeyPatch, end: str, kept: str
) -> None:
    run(monkeypatch, "shop")
    tidy = (shop / "agent.yaml").read_bytes()
    lines = tidy.decode().splitlines()
    (shop / "agent.yaml").write_bytes((end.join(lines[:-1]) + "\n" + lines[-1] + "   \n").encode())
    assert run(monkeypatch, "shop").code == 0
    assert (shop / "agent.yaml").read_bytes() == tidy.replace(b"\n", kept.encode())
    assert run(monkeypatch, "shop", "--check").code == 0


def test_links_and_permissions_stay(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = write("elsewhere/turn.yaml", "inputs:   {}\nmessage:   Hi\n")
    turn.chmod(0o640)
    link = shop / "turn.yaml"
    link.symlink_to(turn.resolve())
    run(monkeypatch, "shop")
    assert turn.read_text() == "inputs:   {}\nmessage:   Hi\n"
    assert run(monkeypatch, link).code == 0
    assert link.is_symlink()
    assert turn.read_text() == "inputs: {}\nmessage: Hi\n"
    assert turn.stat().st_mode & 0o777 == 0o640
    assert [*turn.parent.iterdir()] == [turn]


def test_a_file_with_two_names_stays(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.link(shop / "agent.yaml", shop.parent / "second.yaml")
    assert "hard links" in run(monkeypatch, "shop").err
    assert (shop / "agent.yaml").read_text() == AGENT


def test_a_file_that_cannot_be_written_is_an_error(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run(monkeypatch, "shop/agent.yaml")
    assert (ran.code, ran.out) == (1, "0 files formatted, 1 file already formatted\n")
    assert "no space left on device" in ran.err
    assert sorted(path.name for path in shop.iterdir()) == ["agent.yaml", "role.md"]
    assert (shop / "agent.yaml").read_text() == AGENT


@pytest.mark.repeats
def test_what_cuecard_brings_is_formatted(capsys: pytest.CaptureFixture[str]) -> None:
    root = content_root()
    assert fmt([root / "prompts", root / "tool_instructions", root / "examples"]) == 0
    assert re.match(r"0 files formatted, \d{3} files", capsys.readouterr().out)


PARTS = ["You help.", "  ", "\n", "\n\n", "\t\n", "{{x}}", "{{{x}}}", "{{#if x}}", "{{/if}}", "{{else}}", "{{~x~}}"]
PARTS += ["{{! c \n}}", "# Head", "```", "\n    {{x}}\n", "é", "---", "{{#unless x}}", "{{/unless}}"]
WAYS = ["layout: {trim: true}", "whitespace: compact", "whitespace: paragraphs", "{}"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(WAYS), st.sampled_from(["", "a ", " \n\n\n b \n\n"])
)
def test_no_text_says_anything_else_for_being_formatted(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], way: str, value: str
) -> None:
    folder = tmp_path_factory.mktemp("agent")
    way = "" if way == "{}" else way
    head = f"agent: a\ninputs: {{x: {{default: ''}}}}\n{way}\n"
    (folder / "agent.yaml").write_text(f"{head}sections: [{{id: a, file: a.md}}, {{id: b, text: End.}}]\n")
    text = folder / "a.md"
    text.write_text("".join(parts), newline="")
    try:
        engine = Engine.open(folder, cache=False)
    except Exception:  # noqa: BLE001 - it is no template
        return
    before = [each.text for each in engine.prepare_step(engine.prepare_call(Turn({"x": value}))).segments]
    fmt([folder])
    once = text.read_bytes()
    engine = Engine.open(folder, cache=False)
    assert [each.text for each in engine.prepare_step(engine.prepare_call(Turn({"x": value}))).segments] == before
    fmt([folder])
    assert text.read_bytes() == once
