"""Every example of docs/checks is run: the bad text gives its code, the good one nothing at all."""

from __future__ import annotations

import collections
import functools
import gzip
import json
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
from unit.checks.examples import Example, examples
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

    assert code in told(example, example.bad, tmp_path, monkeypatch, capsys)


@pytest.mark.repeats
@pytest.mark.parametrize("code", examples())
def test_the_good_text_gives_nothing(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = examples()[code]
    example.write(tmp_path, example.good)

    assert told(example, example.good, tmp_path, monkeypatch, capsys) == []


def told(
    example: Example, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """The codes of all problems that come of a text."""
    monkeypatch.chdir(folder)
    if example.place == "Python":
        return executed(text)
    if example.place == "HTTP":
        return asked(text, folder, monkeypatch, capsys)
    command = text if example.place == "command line" else example.run or "cuecard check ."
    return ran(command, monkeypatch, capsys)


def executed(text: str) -> list[str]:
    names = dict(NAMES)
    try:
        exec(compile(text, "example", "exec"), names)  # noqa: S102 - running the example is the test
    except CuecardError as error:
        return [problem.code for problem in error.problems]
    finally:
        for watcher in (value for value in names.values() if isinstance(value, Watcher)):
            watcher.stop()
        for library in (value for value in names.values() if isinstance(value, Library)):
            library.close()
    return []


def asked(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The codes in what a service answers: its command is run, and its socket is real."""
    command, *lines = text.splitlines()
    codes: list[str] = []

    def run_app(app: App, listening: socket.socket, options: ServiceOptions) -> None:
        with in_thread(app, options, listening) as address:
            for answer in ask_at_once(address, raw_requests(lines)):
                codes.extend(re.findall(r'"problems":\[{"code":"([a-z-]+)"', answer.decode()))

    monkeypatch.setenv("CUECARD_STATES", str(folder / "states"))
    monkeypatch.setattr("cuecard.server.process.run_app", run_app)
    monkeypatch.setattr("cuecard.server.door.listen", lambda host, _: listen(host, 0))
    monkeypatch.setattr("cuecard.server.monitoring.log_to_stderr", lambda: None)
    return [*ran(command, monkeypatch, capsys), *codes]


def ran(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    words = shlex.split(command)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    codes = re.findall(r"(?:error|warning|note)\[([a-z0-9-]+)\]", shown.err + shown.out)
    codes += re.findall(r'"code": "([a-z0-9-]+)"', shown.out)

    assert codes or not ended.value.code, shown
    return codes
