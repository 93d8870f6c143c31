"""Tools and skills of real servers behind an address: fastmcp, over streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_http_headers
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo

from cuecard import Problem, ToolResult
from cuecard.adapters.mcp_client import http
from cuecard.adapters.mcp_client.http import open_http_server
from cuecard.types import ToolServerError
from unit.loopback_server import Handler, serving
from unit.workbench.run.address import at_an_address
from unit.workbench.run.talking import AGENT, cuecard, deciding, write


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUECARD_MCP_TOKEN", raising=False)
    write(tmp_path, {"agent.yaml": AGENT + "delivery: frozen\n"})


def test_a_chat_calls_the_tools_of_a_server_at_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    server: FastMCP = FastMCP("weather")

    @server.tool
    def forecast(city: str) -> str:
        """Tells the weather of a city."""
        return f"rain in {city}"

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = [part.content for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        if said:
            return ModelResponse([TextPart(f"It says: {said[-1]}")])
        assert "forecast" in [tool.name for tool in info.function_tools]
        return ModelResponse([ToolCallPart("forecast", {"city": "Ulm"})])

    deciding(monkeypatch, decide)
    with at_an_address(server.http_app()) as url:
        ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp-url", url, "--message", "Weather?")

    assert ran.code == 0, ran.err
    assert "rain in Ulm" in ran.out


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nobody_at_the_address_is_one_clear_error(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, lambda *_: ModelResponse([TextPart("")]))
    url = f"{scheme}://ann:secret@127.0.0.1:9/mcp?token=secret#secret"
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp-url", url, "--message", "?")

    assert ran.code == 1
    assert ran.err == (
        "--mcp-url: error[server-start]: the tool server cannot be reached: All connection attempts failed\n"
        f"  = it is at: {scheme}://127.0.0.1:9/mcp\n"
        "  = check the address; a bearer token is read from CUECARD_MCP_TOKEN\n"
    )


@pytest.mark.parametrize("url", ["weather", "ftp://x/mcp", "http://", "http://x:0/mcp", "http://[/mcp", "x" * 201])
def test_anything_but_an_address_is_reported(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, lambda *_: ModelResponse([TextPart("")]))
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp-url", url, "--message", "?")

    assert ran.code == 2
    assert ran.err == (
        f"--mcp-url: error[wrong-option]: `{url[:200]}` is not a server address\n"
        "  = write http:// or https://, a host, and a path\n"
    )


def test_skills_of_a_server_at_an_address_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = "---\nname: baking\ndescription: Bakes bread.\n---\n\nKnead it well.\n"
    write(tmp_path, {"served/baking/SKILL.md": skill, "served/baking/times.md": "Forty minutes.\n"})
    provider = SkillsDirectoryProvider(tmp_path / "served", experimental_skills=True)
    server: FastMCP = FastMCP("bakery", providers=[provider])
    server.add_extension(SkillsExtension(providers=[provider]))
    with at_an_address(server.http_app()) as url:
        first = cuecard(monkeypatch, "skills", "import", "theirs", "--mcp-url", url, "--json")
        again = cuecard(monkeypatch, "skills", "import", "theirs", "--mcp-url", url, "--check")

    assert first.code == 0, first.err + first.out
    assert again.code == 0
    assert json.loads(first.out)["skills"] == ["baking"]
    assert Path("theirs/baking/SKILL.md").read_text(encoding="utf-8") == skill
    assert Path("theirs/baking/times.md").read_text(encoding="utf-8") == "Forty minutes.\n"


def error_at(url: str, seconds: float = 20.0) -> Problem:
    """What the client says of a server that it cannot use."""

    async def use() -> None:
        async with open_http_server(url, seconds) as server:
            await server.tools()

    with pytest.raises(ToolServerError) as caught:
        asyncio.run(use())
    (problem,) = caught.value.problems
    return problem


def test_what_a_server_at_an_address_asks_meanwhile_is_answered_and_who_asks_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tool that pings the client before it answers."""
    server: FastMCP = FastMCP("weather")
    monkeypatch.setenv("CUECARD_MCP_TOKEN", "geheim")

    @server.tool
    async def forecast(city: str, context: Context) -> str:
        await context.session.send_ping()
        return f"rain in {city} for {get_http_headers(include_all=True)['authorization']}"

    async def use(url: str) -> ToolResult:
        async with open_http_server(url, 20.0) as opened:
            return await opened.call("forecast", {"city": "Ulm"})

    with at_an_address(server.http_app()) as url:
        found = asyncio.run(use(url))

    assert (found.result, found.is_error) == ({"result": "rain in Ulm for Bearer geheim"}, False)


@pytest.mark.parametrize(
    ("status", "body", "seconds", "code", "message", "hint"),
    [
        (
            *(404, b"", 20.0, "server-start", "the tool server cannot be reached: status 404 Not Found"),
            "check the address; a bearer token is read from CUECARD_MCP_TOKEN",
        ),
        (
            *(200, b"x" * 1_001, 20.0, "server-output", "the tool server answered with more than 1,000 bytes"),
            "report it to the server's authors",
        ),
        (
            *(200, None, 0.3, "server-timeout", "the tool server did not answer within 0.3 s"),
            "find out what it waits for, or raise `--timeout`",
        ),
    ],
)
def test_a_server_at_an_address_that_is_of_no_use_is_one_clear_error(
    status: int, body: bytes | None, seconds: float, code: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_LINE", 1_000)
    over = threading.Event()

    class Server(Handler):
        def post(self) -> None:
            self.body()
            if body is None:
                over.wait(20)
            self.answer(body or b"", "application/json; a=text/event-stream", status=status)

    with serving(Server) as address:
        problem = error_at(f"{address}/mcp", seconds)
        over.set()

    assert problem == Problem(code, message, f"it is at: {address}/mcp\n{hint}", "--mcp-url")
