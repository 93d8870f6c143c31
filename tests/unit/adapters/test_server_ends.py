"""Whatever ends the client, the tool server ends as well, and so does everything that it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuecard.adapters.mcp_client.client import ToolServer, open_server
from cuecard.files.server_process import ServerCommand
from cuecard.types import ToolServerError
from cuecard.workbench.run.play import read_snapshot
from forked import Process, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows ends the tree with taskkill")
FOLDER = Path(__file__).parent
PATIENCE = 60.0
LINUX = Path("/proc/self/stat").exists()
AGENT = "agent: shop\nsections: [{id: role, text: You help.}]\n"


def runs(pid: int) -> bool:
    """Whether a process runs; one that is only waited for does not."""
    if LINUX:
        try:
            return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
        except FileNotFoundError:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Path]:
    """The file with the numbers of the server, its child and its grandchild; none of them outlives the test."""
    file = tmp_path / "family"
    yield file
    for pid in map(int, file.read_text(encoding="utf-8").split() if file.exists() else ()):
        if runs(pid):
            os.kill(pid, signal.SIGKILL)


def members(family: Path) -> list[int]:
    until(family.exists, "the server never started")
    return [*map(int, family.read_text(encoding="utf-8").split())]


def chat(family: Path, *more: str) -> Process:
    """`cuecard run`, which waits for the user's words with this server."""
    agent = family.with_name("agent.yaml")
    agent.write_text(AGENT, encoding="utf-8")
    server = f"{sys.executable} {FOLDER / 'family_server.py'} {family}"
    words = ["run", str(agent), "--model", "test", "--mcp", server, *more]
    return start(*words, pipes="stdin")


WAYS = ("end of input", "SIGTERM", "SIGHUP", "SIGINT", "SIGKILL")


@pytest.mark.parametrize("way", WAYS)
def test_a_server_and_everything_it_started_end_with_the_command(family: Path, way: str) -> None:
    process = chat(family)
    pids = members(family)
    assert process.stdin
    if way == "end of input":
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, way))
    process.wait(PATIENCE)
    process.stdin.close()

    until(lambda: not any(map(runs, pids)), f"after {way}, of {pids} still run {[*filter(runs, pids)]}")


def test_a_server_and_everything_it_started_end_when_the_command_fails(family: Path) -> None:
    """The second server cannot be started, after the first one has been."""
    process = chat(family, "--mcp", "no-such-program")
    pids = members(family)

    assert process.wait(PATIENCE) == 1
    assert process.stdin
    process.stdin.close()
    until(lambda: not any(map(runs, pids)), f"of {pids} still run {[*filter(runs, pids)]}")


def test_what_a_server_leaves_behind_when_it_exits_ends_as_well(family: Path) -> None:
    program = (
        f"import os, sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "import hostile_server\n"
        f"pid = os.fork()\nif pid == 0:\n    os.setsid()\n    import time\n    time.sleep(600)\n"
        f"open({str(family)!r}, 'w').write(str(pid))\n"
        "hostile_server.serve()"
    )

    async def use() -> None:
        async with open_server(ServerCommand([sys.executable, "-c", program], {}, FOLDER, PATIENCE)) as server:
            await server.tools()

    asyncio.run(use())
    [pid] = members(family)

    assert not runs(pid)


def test_a_guard_that_is_killed_takes_the_server_along(family: Path) -> None:
    """Somebody kills the process in between; nobody is left to wait for the server then."""
    if not LINUX:
        pytest.skip("only Linux can tell")
    process = chat(family)
    pids = members(family)
    parent = int(Path(f"/proc/{pids[0]}/stat").read_bytes().rpartition(b")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)

    until(lambda: not runs(pids[0]), "the server outlived its guard")
    process.kill()
    process.communicate()


def test_a_snapshot_that_takes_too_long_ends_with_everything_it_started(family: Path) -> None:
    command = [sys.executable, str(FOLDER / "family_server.py"), str(family)]

    with pytest.raises(ToolServerError, match="it did not finish within 2 s"):
        read_snapshot(ServerCommand(command, {}, FOLDER, 2.0))
    pids = members(family)
    assert [*filter(runs, pids)] == []


def test_a_snapshot_is_the_json_that_its_command_prints() -> None:
    def take(program: str) -> object:
        return read_snapshot(ServerCommand([sys.executable, "-c", program], {"A": "b"}, FOLDER, PATIENCE))

    assert take("import os; print('{\"a\": \"' + os.environ['A'] + '\"}')") == {"a": "b"}
    for program, told in {"import sys; sys.exit('no')": "exited with code 1", "print(1)": "not an object"}.items():
        with pytest.raises(ToolServerError, match=told):
            take(program)
    with pytest.raises(ToolServerError, match="it cannot be started: no such file"):
        read_snapshot(ServerCommand(["no-such-program"], {}, FOLDER, PATIENCE))


def test_a_list_of_many_slow_pages_has_one_limit() -> None:
    """Each page comes in time, and there is always another one."""
    start = ServerCommand([sys.executable, str(FOLDER / "hostile_server.py"), "slow pages"], {}, FOLDER, 2.0)

    async def use() -> None:
        async with open_server(start) as server:
            assert isinstance(server, ToolServer)
            await server.tools()

    before = time.monotonic()
    with pytest.raises(ToolServerError) as caught:
        asyncio.run(use())

    assert caught.value.problems[0].code == "server-timeout"
    assert time.monotonic() - before < 20  # 200 pages, half a second each, would take 100
