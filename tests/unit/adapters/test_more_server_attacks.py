"""Tool servers that mean harm, by somebody who did not write the client: what they leave behind, and lists of pages."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from cuecard.adapters.mcp_client.client import open_server
from cuecard.files import server_process
from cuecard.files.server_process import ServerCommand
from cuecard.types import ToolServerError
from unit.adapters.test_server_ends import FOLDER, LINUX, PATIENCE, family, members, runs, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows ends the tree with taskkill")
__all__ = ["family"]

START = (
    f"import json, os, signal, subprocess, sys, time; sys.path.insert(0, {str(FOLDER)!r}); import hostile_server as h\n"
)


def server_of(program: str, timeout: float = PATIENCE) -> ServerCommand:
    return ServerCommand([sys.executable, "-c", START + program], {}, FOLDER, timeout)


def listed(program: str, timeout: float = PATIENCE) -> list[str]:
    async def use() -> list[str]:
        async with open_server(server_of(program, timeout)) as server:
            return [card.name for card in await server.tools()]

    return asyncio.run(use())


def told(family: Path, *lines: str) -> str:
    """A server whose child writes its number, then does these lines; the server itself serves."""
    child = "; ".join(lines)
    return (
        f"pid = os.fork()\nif pid == 0:\n    {child}\n    os._exit(0)\n"
        f"new = {str(family.with_suffix('.new'))!r}\nopen(new, 'w').write(str(pid)); os.rename(new, {str(family)!r})\n"
        "h.serve()"
    )


LEFT = {
    "stopped": ("os.setsid()", "os.kill(os.getpid(), signal.SIGSTOP)", "time.sleep(600)"),
    "deaf": ("os.setsid()", "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 13, 15)]", "time.sleep(600)"),
    "under another name": ("os.setsid()", "os.execv('/bin/sh', ['a) R 1 (b', '-c', 'sleep 600; true'])"),
    "without its pipes": ("os.setsid()", "os.closerange(0, 256)", "time.sleep(600)"),
    "with its pipes": ("os.setpgid(0, 0)", "time.sleep(600)"),
    "elsewhere": ("os.setsid()", "os.chdir('/')", "os.umask(0)", "time.sleep(600)"),
}


@pytest.mark.parametrize("way", LEFT)
def test_whatever_a_server_makes_of_its_child_the_child_ends(
    family: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "GRACE", 0.3)  # some of them never go by themselves
    if not LINUX and way != "with its pipes":
        pytest.skip("only Linux knows those who have left the group")

    assert listed(told(family, *LEFT[way])) == ["read"]
    assert [*filter(runs, members(family))] == []


@pytest.mark.skipif(not LINUX, reason="only Linux knows those who have left the group")
def test_a_child_that_is_born_when_the_server_is_told_to_go_ends_as_well(family: Path) -> None:
    """On SIGTERM, the server starts a process in a session of its own, whose parent is gone at once."""
    program = (
        "def born(*_):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"            new = {str(family.with_suffix('.new'))!r}\n"
        f"            open(new, 'w').write(str(os.getpid())); os.rename(new, {str(family)!r})\n"
        "            time.sleep(600)\n"
        "        os._exit(0)\n"
        "signal.signal(signal.SIGTERM, born)\n"
        "h.serve()\ntime.sleep(600)\ntime.sleep(600)"
    )

    assert listed(program) == ["read"]
    assert [*filter(runs, members(family))] == []


@pytest.mark.skipif(not LINUX, reason="only Linux knows those who have left the group")
def test_what_is_left_by_a_server_that_dies_while_it_is_asked_ends(family: Path) -> None:
    program = told(family, "os.setsid()", "time.sleep(600)").replace("h.serve()", "h.WAY = 'dies in list'; h.serve()")

    with pytest.raises(ToolServerError):
        listed(program, 2.0)
    pids = members(family)
    until(lambda: not any(map(runs, pids)), "it still runs")


@pytest.mark.skipif(not LINUX, reason="only Linux knows those who have left the group")
def test_a_server_that_closes_its_output_and_stays_ends(family: Path) -> None:
    program = told(family, "os.setsid()", "time.sleep(600)").replace(
        "h.serve()", "sys.stdin.readline(); os.close(1); time.sleep(600)"
    )

    with pytest.raises(ToolServerError):
        listed(program, 2.0)
    assert [*filter(runs, members(family))] == []


PAGE = """
def page(n):
    h.answer(n, {'tools': [%s], 'nextCursor': %s})
h.LISTS['pages'] = page
h.WAY = 'pages'
h.serve()
"""


def test_a_cursor_of_megabytes_leads_nowhere() -> None:
    """Two hundred of them, which have to be told apart, took more than a gigabyte."""
    with pytest.raises(ToolServerError) as caught:
        listed(PAGE % ("h.TOOL", "str(n) + 'x' * 5_000_000"))

    assert caught.value.problems[0].code == "server-pages"


@pytest.mark.parametrize("part", ["'_meta': {'a': 'x' * 5_000_000}}", "'name': 'x' * 5_000_000}"])
def test_a_tool_is_dropped_whatever_part_of_it_is_large(part: str) -> None:
    async def use() -> tuple[list[str], list[str]]:
        program = PAGE % ("{**h.TOOL, " + part + ", {**h.TOOL, 'name': 'other'}", "None")
        async with open_server(server_of(program)) as server:
            return [card.name for card in await server.tools()], [each.message for each in server.dropped]

    names, [dropped] = asyncio.run(use())

    assert names == ["other"]
    assert "has a definition of 5,000," in dropped
    assert len(dropped) < 300
