from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import run
from cuecard import SpecError
from cuecard.workbench.watch import Example, differences, watch
from unit.reload.demo import AGENT, PATIENCE, QUICK, Folder, instructions


class Command:
    """`cuecard watch` in a thread, and what it printed."""

    def __init__(self, folder: Folder, state: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.state, self.capture = folder, state, capture
        self.out = self.err = ""
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.as_json = False
        self.example = Example()
        self.exit: int | None = None

    def run(self) -> None:
        self.exit = watch(
            self.folder.root,
            example=self.example,
            delivery=None,
            as_json=self.as_json,
            states=self.state,
            pace=QUICK,
            stop=self.stop,
        )

    def until(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.out + self.err:
            out, err = self.capture.readouterr()
            self.out, self.err = self.out + out, self.err + err

            assert time.monotonic() < deadline, self.out + self.err

            time.sleep(0.01)

    @property
    def lines(self) -> list[str]:
        """What went to stdout, without times and fingerprints."""
        return [re.sub(r"^\d\d:\d\d:\d\d  [0-9a-f]{12}  ", "", line) for line in self.out.splitlines()]


@pytest.fixture
def command(folder: Folder, state: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    command = Command(folder, state, capsys)
    yield command
    command.stop.set()
    command.thread.join(PATIENCE)


def test_a_change_is_one_line_with_its_files_sections_and_tokens(folder: Folder, command: Command) -> None:
    command.thread.start()
    command.until("serving demo")
    folder.write("tools/search.yaml", instructions("tool_search", "after the first search, and then some"))
    command.until("search.yaml")
    folder.write("tools/pages.yaml", instructions("get_page"))
    command.until("pages.yaml")

    assert command.lines[1:] == [
        "tools/search.yaml  instructions +4  58 tokens",
        "  section `instructions`: 38 -> 42 tokens",
        "    @@ -3,3 +3,3 @@",
        "     BEFORE: None required",
        "    -AFTER: after the first search",
        "    +AFTER: after the first search, and then some",
        "     NEXT: none",
        "tools/pages.yaml  [get_page +29]  58 tokens",
    ]
    assert command.err == ""


def test_a_refusal_is_a_line_and_a_picture(folder: Folder, command: Command) -> None:
    command.thread.start()
    command.until("serving demo")
    folder.write("agent.xml", folder.template("broken").replace("</role>", "</rule>"))
    command.until("error[xml]")
    folder.write("agent.xml", folder.template("first"))
    command.until("fixed")

    assert re.fullmatch("refused; still serving [0-9a-f]{12}", command.lines[1])
    assert command.lines[2] == "fixed: the files match the served state again  54 tokens"
    assert "</rule>\n" in command.err


def test_broken_files_are_shown_until_they_can_be_served(folder: Folder, command: Command) -> None:
    folder.write("agent.yaml", "agent: [")
    command.thread.start()
    command.until("error[yaml-syntax]")
    folder.write("agent.yaml", AGENT)
    command.until("serving demo")

    assert command.err.count("yaml-syntax") == 1


def test_broken_files_that_are_gone_for_a_moment_are_still_waited_for(folder: Folder, command: Command) -> None:
    folder.write("agent.yaml", "agent: [")
    command.thread.start()
    command.until("yaml-syntax")
    aside = folder.root.rename(folder.root.with_name("aside"))
    command.until("missing-file")
    aside.rename(folder.root)
    folder.write("agent.yaml", AGENT)
    command.until("serving demo")


def test_a_path_where_nothing_is_ends_the_command(tmp_path: Path, state: Path) -> None:
    with pytest.raises(SpecError, match="missing-file"):
        watch(tmp_path / "nowhere.yaml", example=Example(), delivery=None, as_json=False, states=state)


def test_json_lines_carry_status_and_tokens(folder: Folder, command: Command) -> None:
    command.as_json = True
    command.thread.start()
    command.until('"event": "serving"')
    folder.write("tools/search.yaml", instructions("tool_search", "after the first search, and then some"))
    command.until('"event": "swapped"')
    folder.write("agent.yaml", "agent: [")
    command.until('"event": "refused"')
    first, second, third = map(json.loads, command.out.splitlines())

    assert first["status"]["number"] == 0
    assert second["tokens"] == {"total": 58, "sections": {"instructions": 4}, "tools": {}, "problem": ""}
    assert second["status"]["changed"] == ["tools/search.yaml"]
    assert third["status"]["refused"]["problems"][0]["code"] == "yaml-syntax"
    assert third["status"]["serving"] == second["status"]["serving"]


def test_a_required_input_costs_the_token_counts_only(folder: Folder, command: Command) -> None:
    folder.write("agent.yaml", AGENT + "inputs:\n  who: {}\n")
    folder.write("agent.xml", folder.template("{{{who}}}"))
    command.thread.start()
    command.until("serving demo")
    folder.write("agent.xml", folder.template("Dear {{{who}}}"))
    command.until("agent.xml")

    assert command.lines[1].startswith("agent.xml  (no token counts: ")


def test_warnings_are_shown_once_as_check_has_them(folder: Folder, command: Command) -> None:
    folder.write("agent.yaml", AGENT + "inputs:\n  who: {default: friend}\n")
    command.thread.start()
    command.until("unused-input")
    command.until("serving demo")
    folder.write("tools/search.yaml", instructions("tool_search", "after the first search, and then some"))
    command.until("search.yaml")
    folder.write("agent.xml", folder.template("Dear {{{who}}}"))
    command.until("agent.xml")

    assert command.err.count("warning[") == 1


def test_nothing_that_was_typed_reaches_the_terminal_raw(command: Command) -> None:
    command.example = Example(discovered="\x1b]0;evil\x07")
    command.thread.start()
    command.until("no token counts")

    assert "\x1b" not in command.out + command.err
    assert "‹U+001B›]0;evil" in command.out


def test_the_example_is_what_render_would_print(folder: Folder, command: Command) -> None:
    folder.write("agent.yaml", AGENT + "inputs:\n  who: {}\n")
    folder.write("agent.xml", folder.template("{{{who}}}"))
    folder.write("tools/pages.yaml", instructions("get_page"))
    command.example = Example(discovered="get_page", values=["who=World"])
    command.thread.start()
    command.until("serving demo")
    folder.write("agent.xml", folder.template("Hello, {{{who}}}"))
    command.until("agent.xml")

    assert command.lines[1].startswith("agent.xml  role +2  ")


def test_differences_are_those_that_count() -> None:
    assert differences({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4}) == {"b": 3, "c": -3, "d": 4}


def test_an_agent_with_turns_is_counted_as_its_tests_count_it(folder: Folder, command: Command) -> None:
    folder.write("turns/later.yaml", "discovered: [tool_search]\n")
    folder.write("turns/first.yaml", "turns:\n  - inputs: {}\n    expect: {max_tokens: 100}\n  - inputs: {}\n")
    command.thread.start()
    command.until("serving demo")

    assert command.lines[0].endswith(f"54 tokens in {folder.root}/turns/first.yaml turn 1")
    assert "54 tokens" in run("test", folder.root).stdout
