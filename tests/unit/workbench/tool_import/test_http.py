"""Tool servers behind an address: one that works, and every way in which one does not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from unit.loopback_server import Handler, serving
from unit.workbench.run.talking import cuecard, write

AGENT = "agent: helper\nsections: [{id: role, text: Hello.}]\ntools: {instructions: tools}\n"
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "web", "version": "1"},
    "instructions": "Be nice.",
}
TOOLS = {"tools": [{"name": "get-page", "description": "Gets a page.", "inputSchema": {"type": "object"}}]}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUECARD_MCP_TOKEN", raising=False)
    write(tmp_path, {"agent.yaml": AGENT})


class OddHandler(Handler):
    """Answers as the test's `odd` says: a status, a body, or silence."""

    odd: dict[str, Any]
    tokens: list[str | None]

    @override
    def post(self) -> None:
        asked = json.loads(self.body())
        self.tokens.append(self.headers.get("Authorization"))
        if "status" in self.odd:
            self.answer(b"{}", status=self.odd["status"])
        elif "id" not in asked:
            self.answer(b"", status=202)
        elif asked["method"] == self.odd.get("silent"):
            self.odd["waits"].wait(20)
        elif asked["method"] == self.odd.get("body_of"):
            self.answer(self.odd["body"])
        else:
            result = HELLO if asked["method"] == "initialize" else TOOLS
            self.answer(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())


@contextmanager
def served(**odd: Any) -> Iterator[tuple[str, list[str | None]]]:
    tokens: list[str | None] = []
    waits = threading.Event()
    handler = type("Odd", (OddHandler,), {"odd": {**odd, "waits": waits}, "tokens": tokens})
    with serving(handler) as url:
        try:
            yield f"{url}/mcp", tokens
        finally:
            waits.set()


def test_the_tools_of_an_address_are_imported_with_the_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUECARD_MCP_TOKEN", "s3cret")
    with served() as (url, tokens):
        ran = cuecard(monkeypatch, "tools", "import", ".", "--mcp-url", url)

    assert ran.code == 0, ran.err
    assert ran.out.startswith("web: 1 tool listed, 1 new\n  new      get-page\n")
    assert set(tokens) == {"Bearer s3cret"}
    assert json.loads(Path("tools/web.lock.json").read_text(encoding="utf-8"))["instructions"] == "Be nice."


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"status": 401}, "error[server-start]: the tool server cannot be reached: status 401"),
        ({"status": 404}, "error[server-start]: the tool server cannot be reached: status 404"),
        ({"status": 500}, "error[server-start]: the tool server cannot be reached: status 500"),
        ({"silent": "initialize"}, "error[server-timeout]: the tool server did not answer within 1 s"),
        ({"silent": "tools/list"}, "error[server-timeout]: the tool server did not answer within 1 s"),
        ({"body_of": "initialize", "body": b"<html>"}, "error[server-"),
        ({"body_of": "tools/list", "body": b"{}"}, "error[server-"),
        ({"body_of": "tools/list", "body": b'{"a": "' + b"x" * 9_000_000 + b'"}'}, "answered with more than 8,388,608"),
    ],
)
def test_what_goes_wrong_there_is_one_clear_error(
    odd: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = "1" if "silent" in odd else "60"  # the limit of the whole list, however much of it there is
    with served(**odd) as (url, _):
        ran = cuecard(monkeypatch, "tools", "import", ".", "--mcp-url", f"{url}?key=s3cret", "--timeout", seconds)

    assert ran.code == 1
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert "s3cret" not in ran.err
    assert not Path("tools").exists()


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as (url, _):
        pass
    ran = cuecard(monkeypatch, "tools", "import", ".", "--mcp-url", url)

    assert "--mcp-url: error[server-start]: the tool server cannot be reached:" in ran.err
    assert f"it is at: {url}" in ran.err
