"""`cuecard studio` as a process: what it prints, what it says of wrong usage, how it ends, and what it keeps."""

from __future__ import annotations

import os
import signal
import socket
import stat
import urllib.request
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest

from forked import Process, ended, start
from studio.in_process import copied


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def said(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code, and what stands on standard error."""
    with chdir(folder):
        done = ended("studio", *words, "--no-browser")
    return done.returncode, done.stderr


@contextmanager
def started(folder: Path, *words: str) -> Iterator[tuple[Process, str]]:
    """A running studio, and the address that it has printed."""
    with chdir(folder):
        process = start(
            "studio", "prompts/cms", "--no-browser", "--port", "0", *words, pipes="stdout stderr", text=True
        )
    assert process.stdout
    line = process.stdout.readline()
    try:
        yield process, line.split()[-1]
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_a_port_in_use_is_one_line(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        code, told = said(folder, "prompts/cms", "--port", str(port))

    assert code == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in told
    assert "Traceback" not in told


def test_agents_that_are_not_there_are_named_all_at_once(folder: Path) -> None:
    code, told = said(folder, "no/such", "nor/this")

    assert code == 2
    assert "there is no agent at `no/such`" in told
    assert "there is no agent at `nor/this`" in told


def test_a_folder_without_agents_says_so(folder: Path) -> None:
    (folder / "empty").mkdir()

    code, told = said(folder, "empty")

    assert code == 2
    assert "there is no agent at `empty`" in told
    assert "the name of one that cuecard brings, such as `cms`" in told


@pytest.mark.parametrize(
    "template", ["javascript:alert({path})", "data:text/html,{path}", "code://file", "x://{nothing}{path}"]
)
def test_an_editor_that_would_run_in_the_page_is_refused(folder: Path, template: str) -> None:
    code, told = said(folder, "prompts/cms", "--editor", template)

    assert code == 2
    assert "no link to an editor can be made of this" in told


def test_it_says_where_it_is_and_ends_without_a_word(folder: Path) -> None:
    with started(folder) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        opened = urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address, timeout=60)
        assert "?token=" not in opened.url
        assert b"cuecard" in opened.read()

        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (0, "")


def test_an_open_tab_does_not_keep_it_alive(folder: Path) -> None:
    with started(folder) as (process, address):
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(address, timeout=60).read()
        events = browser.open(address.partition("?")[0] + "events", timeout=60)
        assert events.readline() == b"retry: 1000\n"

        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)

    assert process.returncode == 0


def test_a_tab_is_told_of_a_saved_file(folder: Path) -> None:
    with started(folder) as (_, address):
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        browser.open(address, timeout=60).read()
        events = browser.open(address.partition("?")[0] + "events", timeout=60)
        place = folder / "prompts" / "cms" / "agent.xml"
        place.write_text(place.read_text(encoding="utf-8").replace("friendly", "kind"), encoding="utf-8")

        lines = iter(events.readline, b"")
        assert b"event: files\n" in lines
        assert next(lines) == b'data: {"agent":"cms"}\n'


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_the_token_is_for_this_user_alone_and_outlives_a_restart(folder: Path) -> None:
    with started(folder) as (_, first):
        kept = folder / ".cuecard" / "studio" / "token"
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        assert (folder / ".cuecard" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    with started(folder) as (_, second):
        assert first.partition("=")[2] == second.partition("=")[2]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")
def test_a_token_that_others_could_have_written_is_not_used(folder: Path) -> None:
    place = folder / ".cuecard" / "studio"
    place.mkdir(mode=0o700, parents=True)
    (place / "token").write_text("x" * 32, encoding="utf-8")
    (place / "token").chmod(0o666)

    with started(folder) as (_, address):
        assert "x" * 32 not in address


def test_where_nothing_can_be_kept_that_is_said(folder: Path) -> None:
    (folder / ".cuecard").write_text("a file", encoding="utf-8")

    with started(folder) as (process, address):
        assert process.stdout
        assert "shows cms" in process.stdout.readline()
        assert "nothing is kept in" in process.stdout.readline()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert browser.open(address, timeout=60).status == 200
