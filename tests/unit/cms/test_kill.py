"""A tool server that is killed at any point of its work leaves a database that is whole, with all it has answered."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import IO, Any

import pytest

from forked import start
from server import __file__ as server_file

CALLS = 12
SERVER = f"""
import runpy, sys
sys.path[0] = {str(Path(server_file).parent)!r}
runpy.run_path({server_file!r}, run_name="__main__")
"""


def line(number: int | None, method: str, params: Any) -> str:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}) + "\n"


def requests(name: str) -> str:
    """A handshake, and calls that write pages of this name, all at once."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [line(0, "initialize", about), line(None, "notifications/initialized", {})]
    for number in range(1, CALLS + 1):
        page = {"title": f"Page {number}", "slug": f"{name}-{number}"}
        lines.append(line(number, "tools/call", {"name": "cms_createPage", "arguments": page}))
    return "".join(lines)


def killed(folder: Path, name: str, after: int) -> list[int]:
    """Kill the server once it has answered so often; the numbers of the calls that it has answered."""
    process = start("--data", folder, program=SERVER, pipes="stdin stdout", text=True)
    assert process.stdin
    assert process.stdout
    process.stdin.write(requests(name))
    process.stdin.flush()
    answered = [_number(process.stdout) for _ in range(after)]
    process.kill()
    rest, _ = process.communicate()
    answered += [json.loads(each)["id"] for each in rest.splitlines(keepends=True) if _whole(each)]
    return [number for number in answered if number]


def _number(answers: IO[str]) -> int:
    number: int = json.loads(answers.readline())["id"]
    return number


def _whole(text: str) -> bool:
    return text.endswith("\n")


def slugs(folder: Path) -> set[str]:
    """The pages of the site, whose database is checked."""
    with sqlite3.connect(folder / "cms.sqlite3") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        found = {slug for (slug,) in connection.execute("SELECT slug FROM pages")}
    connection.close()
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one server after the other is killed, and the next begins with what is there."""
    return tmp_path_factory.mktemp("site")


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, CALLS, CALLS + 1])
def test_a_killed_server_leaves_a_whole_database_with_all_that_it_has_answered(site: Path, after: int) -> None:
    name = f"killed-after-{after}"
    answered = killed(site, name, after)

    if after:
        assert {f"{name}-{number}" for number in answered} <= slugs(site)
    if after > CALLS:
        assert sorted(answered) == list(range(1, CALLS + 1))
