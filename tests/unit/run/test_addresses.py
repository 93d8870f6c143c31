"""Tools and skills of real servers behind an address: fastmcp, over streamable HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo

from unit.run.address import at_an_address
from unit.run.talking import AGENT, cuecard, deciding, write


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


def test_nobody_at_the_address_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, lambda *_: ModelResponse([TextPart("")]))
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp-url", "http://127.0.0.1:9/mcp", "--message", "?")

    assert ran.code == 1
    assert "--mcp-url: error[server-start]: the tool server cannot be reached" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("url", ["weather", "ftp://x/mcp", "http://"])
def test_anything_but_an_address_is_reported(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deciding(monkeypatch, lambda *_: ModelResponse([TextPart("")]))
    ran = cuecard(monkeypatch, "run", ".", "--model", "test", "--mcp-url", url, "--message", "?")

    assert ran.code == 2
    assert "--mcp-url: error[wrong-option]" in ran.err


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
