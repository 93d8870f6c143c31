"""Every example of docs/checks is run: the bad text gives its code, the good one nothing at all.

What is said of the bad text, with its place and its remedy, is kept beside the examples; `make golden` writes it anew.
"""

from __future__ import annotations

import collections
import functools
import gzip
import json
import os
import re
import shlex
import socket
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import cuecard
from command_line import main
from cuecard import CuecardError, Engine, Library, SpecError, Watcher, compare_manifests, watch
from cuecard.adapters import bedrock
from cuecard.adapters.anthropic import request
from cuecard.adapters.functions import Functions
from cuecard.adapters.one_turn import refuse_kept_history
from cuecard.agent.checks.codes import CODES
from cuecard.files.atomic_write import rewrite
from cuecard.files.content import read_models
from cuecard.files.tokens import bundled_counter, read_table
from cuecard.server.agents import open_agents
from cuecard.server.door import listen
from cuecard.server.guard import App
from cuecard.server.options import ServiceOptions
from cuecard.server.service import Envelopes
from cuecard.template.backends.pybars_backend import pybars3
from cuecard.types import RunLimits, messages_from_json
from cuecard.workbench.check.command import check
from cuecard.workbench.diff.revision import read_revision
from unit.agent.checks.examples import FOLDER, Example, examples, pages
from unit.server.served import ask_at_once, in_thread, raw_requests

PATIENCE = 10


def wait_for(watcher: Watcher[Engine]) -> None:
    """Until the watcher has taken or refused a change; what it refused is raised."""
    end = time.monotonic() + PATIENCE
    while watcher.status.number == 0 and time.monotonic() < end:
        time.sleep(0.01)
    if watcher.status.refused:
        raise SpecError(watcher.status.refused.problems)


NAMES = {
    **{name: getattr(cuecard, name) for name in cuecard.__all__},
    **{each.__name__: each for each in (Path, datetime, collections, functools, gzip, json, sqlite3, subprocess)},
    **{
        each.__name__: each
        for each in (
            bundled_counter,
            check,
            compare_manifests,
            read_revision,
            rewrite,
            messages_from_json,
            pybars3,
            read_models,
            refuse_kept_history,
            RunLimits,
            read_table,
            request,
            wait_for,
            watch,
            Envelopes,
            Functions,
            open_agents,
            listen,
        )
    },
    "UTC": UTC,
    "bedrock": bedrock,
}
"""What a Python example may use."""

DIFFER = {
    *("bad-conversation", "cannot-listen", "library-away", "unknown-locale", "wrong-tool"),  # others say it
    *("damaged-state", "old-conversation"),  # a folder and a time are in it
}
"""Codes of which not the same is said everywhere, always, and with each version of what is installed."""


def test_every_code_has_an_example_and_no_other_has() -> None:
    assert set(examples()) == set(CODES)


@pytest.mark.parametrize("code", examples())
def test_the_bad_text_gives_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = examples()[code]
    example.write(tmp_path, example.bad, example.bad_saved_as)
    if example.bad_without:
        monkeypatch.setitem(sys.modules, example.bad_without, None)

    said = told(example, example.bad, tmp_path, monkeypatch, capsys)

    assert code in codes(said)
    if code not in DIFFER:
        hold(code, passage(code, said).replace(str(tmp_path), "FOLDER").replace(sys.executable, "python"))


def with_good_texts() -> list[str]:
    """The codes, without those whose good text an earlier one has with the same files and the same command."""
    files_and_command = {"place", "good", "whole", "also", "run"}
    first = {each.model_dump_json(include=files_and_command): code for code, each in reversed([*examples().items()])}
    return [code for code in examples() if code in first.values()]


@pytest.mark.repeats
@pytest.mark.parametrize("code", with_good_texts())
def test_the_good_text_gives_nothing(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = examples()[code]
    example.write(tmp_path, example.good)

    assert codes(told(example, example.good, tmp_path, monkeypatch, capsys)) == []


def codes(said: str) -> list[str]:
    """The codes of all problems that are told."""
    return re.findall(r"(?:error|warning|note)\[([a-z0-9-]+)\]", said) + re.findall(r'"code": ?"([a-z0-9-]+)"', said)


def passage(code: str, said: str) -> str:
    """What is told under a code: its lines, and those below that are set in; or its line of JSON."""
    return "".join(re.findall(rf'^(?:.*\[{code}\]: .*\n(?: .*\n)*|.*"code": ?"{code}".*\n)', said, re.MULTILINE))


def hold(code: str, said: str) -> None:
    """Compare with what is kept of a code in the file of its page."""
    (page,) = (name for name, of_page in pages().items() if code in of_page)
    path = FOLDER / "told" / f"{page}.txt"
    found = re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    kept = {name: text for name, text in found if name in pages()[page]}
    if os.environ.get("CUECARD_GOLDEN"):
        kept[code] = said
        texts = (f"## {name}\n{kept[name]}" for name in pages()[page] if name in kept)
        path.write_text("".join(texts), encoding="utf-8")

    assert kept.get(code) == said, "run `make golden` and read the difference"


def told(
    example: Example, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What is said of a text."""
    monkeypatch.chdir(folder)
    if example.place == "Python":
        return executed(text)
    if example.place == "HTTP":
        return asked(text, folder, monkeypatch, capsys)
    command = text if example.place == "command line" else example.run or "cuecard check ."
    return ran(command, monkeypatch, capsys)


def executed(text: str) -> str:
    names = dict(NAMES)
    try:
        exec(compile(text, "example", "exec"), names)  # noqa: S102 - running the example is the test
    except CuecardError as error:
        return f"{error}\n"
    finally:
        for watcher in (value for value in names.values() if isinstance(value, Watcher)):
            watcher.stop()
        for library in (value for value in names.values() if isinstance(value, Library)):
            library.close()
    return ""


def asked(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What a service answers: its command is run, and its socket is real."""
    command, *lines = text.splitlines()
    refused: list[str] = []

    def run_app(app: App, listening: socket.socket, options: ServiceOptions) -> None:
        with in_thread(app, options, listening) as address:
            for answer in ask_at_once(address, raw_requests(lines)):
                refused.extend(re.findall(r'"problems":\[{"code":.*', answer.decode()))

    monkeypatch.setenv("CUECARD_STATES", str(folder / "states"))
    monkeypatch.setattr("cuecard.server.process.run_app", run_app)
    monkeypatch.setattr("cuecard.server.door.listen", lambda host, _: listen(host, 0))
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    return "".join(f"{line}\n" for line in (ran(command, monkeypatch, capsys), *refused))


def ran(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    words = shlex.split(command)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    said = shown.err + shown.out

    assert codes(said) or not ended.value.code, shown
    return said
