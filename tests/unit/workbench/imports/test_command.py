"""`cuecard import`: what `--check` and `--json` tell, its exit codes, and its limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from command_line import run

PLAIN = "---\nname: mail\ninput: {schema: {customer: string}}\n---\nHello {{customer}}!\n"
NOT_PLAIN = "---\nname: mail\n---\nHello {{media url=picture}}!\n"


def written(folder: Path, text: str, name: str = "mail.prompt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_check_writes_nothing_and_counts_every_remark(tmp_path: Path) -> None:
    plain = run("import", written(tmp_path, PLAIN), "--to", str(tmp_path / "out"), "--check")
    other = run("import", written(tmp_path, NOT_PLAIN), "--to", str(tmp_path / "out"), "--check")

    assert (plain.exit_code, other.exit_code) == (0, 1)
    assert "would write" in plain.stdout
    assert "left as it is: 1" in other.stdout
    assert not (tmp_path / "out").exists()


def test_json_names_files_and_problems_with_their_places(tmp_path: Path) -> None:
    done = run("import", written(tmp_path, NOT_PLAIN), "--to", str(tmp_path / "out"), "--json")
    told = json.loads(done.stdout)

    assert done.exit_code == 1
    assert told["written"]
    ((folder, files),) = told["agents"].items()
    assert sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "out").rglob("*.yaml"))
    assert {(Path(folder) / each).exists() for each in files} == {True}
    assert {problem["name"] for problem in told["problems"]} == {str(tmp_path / "mail.prompt")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * (2**20 + 1), "large-file"),
        ("---\nname: [\n---\nHello", "yaml-syntax"),
        ("---\nname: mail\n---\n" + "{{#if a}}" * 400 + "{{/if}}" * 400, "error["),
    ],
)
def test_what_is_too_large_or_wrong_is_reported_and_nothing_written(tmp_path: Path, text: str, told: str) -> None:
    done = run("import", written(tmp_path, text), "--to", str(tmp_path / "out"))

    assert done.exit_code != 0
    assert told in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "inputs"),
    [
        ("a.j2", "Hi {{ user.name }}, {{ user.home.town }}.\n", {"user": {"name": str, "home": {"town": str}}}),
        ("a.j2", "{{ items[1].name }}{{ items[1].unit }}\n", {"items": [str, {"name": str, "unit": str}]}),
        ("a.j2", "{% if n > 2 or 5 >= user.age %}x{% endif %}\n", {"n": int, "user": {"age": int}}),
        (
            "a.j2",
            "{% if user['age'] > 3 or rows[0].n > 2 %}x{% endif %}\n",
            {"rows": [{"n": int}], "user": {"age": int}},
        ),
        (
            "a.j2",
            "{% if user.tags | length > 1 %}{% for t in user.tags %}{{ t }}{% endfor %}{% endif %}{{ user.name }}\n",
            {"user": {"name": str, "tags": [str]}},
        ),
        ("a.j2", "{{ items | length }}{{ user.items() | length }}\n", {}),
        ("a.prompt", "Hi {{user.name}}{{#each items}}{{a}}{{/each}}\n", {"user": {"name": str}}),
        ("a.prompty", "---\ninputs: {user: {type: object}}\n---\nHi {{ user.name }}\n", {"user": {"name": str}}),
    ],
)
def test_what_nothing_describes_gets_an_example_with_all_that_is_read(
    tmp_path: Path, name: str, text: str, inputs: Any
) -> None:
    run("import", written(tmp_path, text, name), "--to", str(tmp_path / "out"))
    made = YAML(typ="safe", pure=True).load(tmp_path / "out" / "a" / "turns" / "first.yaml")["inputs"]

    assert types_of(made) == inputs
    assert run("test", str(tmp_path / "out" / "a")).exit_code == 0


@pytest.mark.parametrize(
    "schema",
    ["user?: {name?: string}", "user?: {name: string}", "{type: object, properties: {user: {type: object}}}"],
)
@pytest.mark.parametrize("path", ["user.name", "user.home.town"])
def test_a_part_of_what_may_be_left_out_prints_nothing(tmp_path: Path, schema: str, path: str) -> None:
    front = (
        f"---\ninput:\n  schema:\n    {schema}\n---\n"
        if schema[0] == "u"
        else f"---\ninput: {{schema: {schema}}}\n---\n"
    )
    run("import", written(tmp_path, f"{front}Hi {{{{{path}}}}}!\n", "a.prompt"), "--to", str(tmp_path / "out"))

    assert "Hi !" in run("render", str(tmp_path / "out" / "a"), "--messages").stdout


@pytest.mark.parametrize(
    ("name", "text", "inputs"),
    [
        (
            "a.prompt",
            "---\ninput:\n  schema:\n    user?: {name: string}\n---\nHi{{#if user}} {{user.name}}{{/if}}!\n",
            {},
        ),
        ("a.j2", "Hi{% if user %} {{ user.name }}{% endif %}!\n", {}),
        ("a.j2", "Hi{% if user is defined %} {{ user.name }}{% endif %}!{# {{ x.y }} #}\n", {}),
        ("a.j2", "Hi{% for x in items %} {{ x }}{% endfor %}!{{ items[0] }}\n", {"items": ["z"]}),
    ],
)
def test_what_the_text_itself_asks_for_stays_as_it_was(
    tmp_path: Path, name: str, text: str, inputs: dict[str, Any]
) -> None:
    run("import", written(tmp_path, text, name), "--to", str(tmp_path / "out"))
    turn = written(tmp_path, json.dumps({"inputs": inputs}), "turn.yaml")
    printed = run("render", str(tmp_path / "out" / "a"), "--turn", turn, "--messages").stdout

    assert ("Hi z!z" if inputs else "Hi!") in printed


def types_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: types_of(each) for key, each in value.items()}
    return [*map(types_of, value)] if isinstance(value, list) else type(value)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    command = ["import", written(tmp_path, PLAIN), "--to", str(tmp_path / "out")]
    first, second = (run(*command) for _ in range(2))

    assert first.exit_code == 0
    assert second.exit_code != 0
    assert "file-exists" in second.stderr
