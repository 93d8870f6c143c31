"""Files of every kind become agents that open; what would not open is refused at its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Outcome, run


def imported(folder: Path, name: str, text: str, key: str = "") -> Outcome:
    (folder / name).write_text(text, encoding="utf-8")
    return run("import", f"{folder / name}{key}", "--to", folder / "out")


def rendered(folder: Path, agent: str, *options: object) -> list[tuple[str, str]]:
    ran = run("render", folder / "out" / agent, "--messages", *options)
    assert ran.exit_code == 0, ran.stderr
    return [(each["role"], each["content"].strip()) for each in json.loads(ran.stdout)]


def test_a_licence_may_stand_before_the_front_matter(tmp_path: Path) -> None:
    imported(tmp_path, "p.prompt", "# Copyright\n#\n\n---\ninput: {schema: {name: string}}\n---\nHello {{name}}.\n")

    assert rendered(tmp_path, "p", "--set", "name=Ann") == [("user", "Hello Ann.")]


def test_a_rule_of_markdown_is_no_front_matter(tmp_path: Path) -> None:
    imported(tmp_path, "p.prompt", "# Title\n\n---\nHello.\n---\n")

    assert rendered(tmp_path, "p") == [("user", "# Title\n\n---\nHello.\n---")]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.prompt", "---\ninput: {schema: {größe: string}}\n---\n{{größe}}\n", "a.prompt:2:18"),
        (
            "b.prompt",
            "---\ninput:\n  schema:\n    t(enum): [warm, dry]\n  default: {t: other}\n---\n{{t}}\n",
            "b.prompt:",
        ),
        ("c.prompt", "---\nmodel: m\n---\n", "c.prompt:1:1"),
    ],
)
def test_nothing_is_written_that_check_refuses(tmp_path: Path, name: str, text: str, place: str) -> None:
    ran = imported(tmp_path, name, text)

    assert ran.exit_code == 1
    assert f"{place}" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_optional_keys_of_an_object_print_nothing(tmp_path: Path) -> None:
    text = (
        "---\ninput:\n  schema:\n    user:\n      name: string\n      tel?: string\n---\n{{user.name}}{{user.tel}}!\n"
    )
    imported(tmp_path, "p.prompt", text)
    (tmp_path / "t.yaml").write_text("inputs: {user: {name: Ann}}\n")

    assert rendered(tmp_path, "p", "--turn", tmp_path / "t.yaml") == [("user", "Ann!")]


def test_a_loop_over_the_conversation_is_the_place_of_the_history(tmp_path: Path) -> None:
    loop = "{% for m in log %}\n{{m.role}}:\n{{m.content}}\n{% endfor %}\n"
    text = f"---\ninputs:\n  q: {{type: string}}\n---\nsystem:\nHelp.\n{loop}user:\n{{{{q}}}}\n"
    ran = imported(tmp_path, "p.prompty", text)
    turn = "inputs: {q: Q2}\nmessages:\n  - {role: user, content: Hi}\n  - {role: assistant, content: Hello}\n"
    (tmp_path / "t.yaml").write_text(turn)

    assert "`log` is the conversation, and no input here" in ran.stdout
    said = rendered(tmp_path, "p", "--turn", tmp_path / "t.yaml")
    assert said == [("system", "Help."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Q2")]


def test_a_template_without_front_matter_is_read_by_its_ending(tmp_path: Path) -> None:
    imported(tmp_path, "mail.jinja", "Write to {{ name | upper }}.\n")
    imported(tmp_path, "note.txt", "Write {{braces}} to {name}.\n")

    assert rendered(tmp_path, "mail", "--set", "name=Ann") == [("system", "Write to ANN.")]
    assert rendered(tmp_path, "note", "--set", "name=Ann") == [("system", "Write {braces} to Ann.")]


def test_a_text_in_yaml_is_named_by_its_path(tmp_path: Path) -> None:
    imported(tmp_path, "prompts.yaml", "mail:\n  system: 'Write to {name}.'\n", "#mail.system")
    wrong = run("import", f"{tmp_path}/prompts.yaml#mail.sistem", "--to", tmp_path / "out")

    assert rendered(tmp_path, "system", "--set", "name=Ann") == [("system", "Write to Ann.")]
    assert "did you mean `mail.system`" in wrong.stderr
