"""Command lines as people type them: what each word is taken for, and what is said of those that nothing takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import run
from cuecard.cli.main import COMMANDS
from cuecard.cli.signatures import Group

AGENT = "prompts/cms/agent.yaml"


def commands(group: Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, entry in group.commands.items():
        yield (*before, name)
        if isinstance(entry, Group):
            yield from commands(entry, (*before, name))


@pytest.mark.parametrize("command", list(commands(COMMANDS)), ids=" ".join)
def test_every_command_and_group_has_its_help(command: tuple[str, ...]) -> None:
    shown = run(*command, "--help")
    assert run(*command, "-h").stdout == shown.stdout

    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"usage: cuecard {' '.join(command)} [OPTIONS]")
    assert "  -h, --help" in shown.stdout


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("rendr", "no such command: `rendr`\n  = did you mean `cuecard render`?"),
        ("tools shw", "no such command: `shw`\n  = did you mean `cuecard tools show`?"),
        ("qqqq", "no such command: `qqqq`\n  = see `cuecard --help`"),
        ("--versio", "no such option: --versio\n  = see `cuecard --help`"),
        ("replay", "missing TRANSCRIPT\n  = see `cuecard replay --help`"),
        ("import a.prompt", "missing --to"),
        ("render a --discoverd x", "no such option: --discoverd\n  = did you mean --discovered?"),
        ("render a --disc x", "no such option: --disc"),
        ("render a -j", "no such option: -j"),
        ("render a b c", "unexpected argument `b`"),
        ("schema x", "unexpected argument `x`"),
        ("render a --delivery x", "--delivery: `x` is not one of `rewrite`, `append`, `frozen`, `auto`"),
        ("render a --set=--", "`--` is no value for `--set`"),
        ("replay a b --delivery append --delivery=--", "`--` is no value for `--delivery`"),
        ("render a --json=1", "--json: takes no value"),
        ("render a --set -x", "--set needs a value; write one that begins with a dash as `--set=VALUE`"),
        ("tools search a b --limit 1.5", "--limit: `1.5` is not a whole number"),
        ("diff a b --price nan", "--price: `nan` is not a number"),
        ("diff a b --price -1", "--price: -1 is less than 0"),
        ("serve a --port 65536", "--port: 65536 is more than 65535"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong_and_the_way_out(line: str, told: str) -> None:
    shown = run(*line.split())

    assert (shown.exit_code, shown.stdout) == (2, "")
    assert f"command line: error[wrong-usage]: {told}" in shown.stderr


def test_all_unknown_words_are_reported_at_once() -> None:
    problems = json.loads(run("render", "a", "--colour", "--size=3", "--json").stdout)["problems"]

    assert [problem["message"] for problem in problems] == ["no such option: --colour", "no such option: --size"]


def test_without_a_command_there_is_help_and_the_exit_code_of_wrong_usage() -> None:
    for group in ((), ("tools",)):
        shown = run(*group)
        assert (shown.exit_code, shown.stdout) == (2, run(*group, "--help").stdout)


def test_options_may_appear_anywhere_and_the_last_one_counts() -> None:
    expected = run("tools", "search", AGENT, "page", "--limit", "1", "--json").stdout

    assert run("tools", "search", "--json", AGENT, "--limit=3", "page", "--limit", "1").stdout == expected
    assert len(json.loads(expected)["tools"]) == 1


def test_repeated_options_and_optional_words_arrive_in_their_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    shown = run("test", AGENT, "--update", first, "--prune", second)

    assert [name in shown.stderr for name in (first.name, second.name)] == [True, True]
    assert "name=value" in run("render", AGENT, "--set", "x=1", "--set", "y").stderr


def test_what_appears_behind_two_dashes_is_not_an_option() -> None:
    assert run("render", "--", AGENT).exit_code == 0
    assert run("render", "--", "--json").stderr.startswith("--json: error[missing-file]")
    assert run("check", "--", "--help").stderr.startswith("--help: error[missing-file]")


def test_ctrl_c_ends_a_command_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cuecard.workbench.render.render", interrupt)
    shown = run("render", AGENT)

    assert (shown.exit_code, shown.stdout) == (1, "")


def test_dashes_may_be_the_value_of_an_input() -> None:
    shown = run("render", "examples/starters/minimal", "--set=user=--")

    assert (shown.exit_code, "<user>--</user>" in shown.stdout) == (0, True)
