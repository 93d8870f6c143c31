"""What somebody plants in a cache or a folder of states, tried by somebody who did not write what reads them."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cuecard.files.cache import Cache
from unit.robustness.test_caches import AGENT, cuecard, large_agent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs owners and modes")
SEARCH = ("tools", "search")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def listener(file: Path) -> None:
    file.unlink()
    here = Path.cwd()
    os.chdir(file.parent)  # the path of a socket may be short only
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


def device(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


def nowhere(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.with_name("nowhere"))


def itself(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


def endless(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.truncate(1 << 40)  # takes no room on the disk


def exchanged(file: Path) -> None:
    """The value of another key, whole and with its digest."""
    cache = Cache(file.parent)
    cache.put("other", b"[]")
    [other] = [each for each in file.parent.iterdir() if each != file]
    shutil.move(other, file)


def pickled(file: Path) -> None:
    """Other bytes under the right head."""
    file.write_bytes(file.read_bytes()[:47] + b"\x80\x04cos\nsystem\n(S'true'\ntR.")


PLANTED: list[Callable[[Path], None]] = [
    pipe, folder, listener, device, nowhere, itself, endless, exchanged, pickled
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_whatever_stands_in_the_place_of_a_cached_file_changes_no_answer(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    agent = large_agent(tmp_path)
    first = cuecard(tmp_path, *SEARCH, agent, "do 17")
    [file] = (tmp_path / "kept").iterdir()
    plant(file)
    second = cuecard(tmp_path, *SEARCH, agent, "do 17")

    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert len(second.stderr.splitlines()) <= len(first.stderr.splitlines()) + 1


@pytest.mark.parametrize(
    "plant", [pipe, folder, listener, device, nowhere, itself, endless], ids=lambda each: each.__name__
)
def test_whatever_stands_in_the_place_of_a_state_is_not_served(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    assert cuecard(tmp_path, "mcp", agent).returncode == 0
    agent.write_text("agent: [\n", encoding="utf-8")
    assert cuecard(tmp_path, "mcp", agent).returncode == 0, "the last good state"
    for file in [each for each in (tmp_path / "states").iterdir() if each.is_file()]:
        plant(file)
    refused = cuecard(tmp_path, "mcp", agent)

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("mode", [0o666, 0o660, 0o602])
def test_a_state_that_others_can_write_is_not_served(tmp_path: Path, mode: int) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    cuecard(tmp_path, "mcp", agent)
    agent.write_text("agent: [\n", encoding="utf-8")
    for file in (tmp_path / "states").iterdir():
        file.chmod(mode)
    refused = cuecard(tmp_path, "mcp", agent)

    assert refused.returncode == 1
    assert "others can write to it" in refused.stderr


def test_a_pointer_leads_nowhere_else(tmp_path: Path) -> None:
    """It names a state by its fingerprint: no path, and no text that does not belong to it."""
    agent = tmp_path / "agent.yaml"
    agent.write_text(AGENT, encoding="utf-8")
    cuecard(tmp_path, "mcp", agent)
    agent.write_text("agent: [\n", encoding="utf-8")
    states = tmp_path / "states"
    whole = {file: file.read_bytes() for file in states.iterdir()}
    sizes = sorted(whole, key=lambda file: len(whole[file]))
    pointer, state = sizes[0], sizes[-1]
    for told in ('"../../agent"', '"' + "0" * 64 + '"', "[7]"):
        pointer.write_text('{"format": 1, "sha256": %s}' % told)  # noqa: UP031 - braces
        assert cuecard(tmp_path, "mcp", agent).returncode == 1
    pointer.write_bytes(whole[pointer])
    state.write_bytes(whole[state].replace(b"You help.", b"You harm."))
    assert whole[state] != state.read_bytes()
    assert cuecard(tmp_path, "mcp", agent).returncode == 1
