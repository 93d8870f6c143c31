"""Servers and clients of others: three public servers, and the client of the official inspector."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo

from command_line import COMMAND
from cuecard import Engine
from public_servers.servers import HERE, Unavailable, install, script
from unit.workbench.run.talking import cuecard, deciding, write

AGENT = "agent: helper\nsections: [{id: role, text: Hello.}]\ntools: {instructions: tools}\n"
SERVERS = {
    "everything": ("server-everything", ["echo", "get-sum", "get-tiny-image"]),
    "memory": ("server-memory", ["create_entities", "read_graph", "search_nodes"]),
    "filesystem": ("server-filesystem", ["read_text_file", "list_directory", "write_file"]),
}

ASKED: list[tuple[list[Any], str]] = [
    (["prompts/list"], "The system prompt of the agent cms"),
    (["tools/call", "tool_search", {"query": "create a page"}], "cms_createPage"),
    (["resources/list"], "skill://cms/cms-pages/SKILL.md"),
    (["resources/read", "skill://cms/cms-pages/SKILL.md"], "allowed-tools"),
    (["prompts/get", "cms", {"discovered": "cms_createPage"}], "BEFORE: cms_listPages"),
]
"""What the inspector calls with which arguments, and what stands in the answer."""


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    try:
        install()
    except Unavailable as reason:
        pytest.skip(f"public servers: {reason}")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"agent.yaml": AGENT, "files/note.txt": "Buy tea.\n"})


def command(server: str, folder: Path) -> str:
    words = ["node", script(SERVERS[server][0], "dist/index.js")]
    return shlex.join([*words, str(folder / "files")] if server == "filesystem" else words)


@pytest.mark.parametrize("server", SERVERS)
def test_the_tools_of_a_public_server_are_imported_and_stay_the_same(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = command(server, tmp_path)
    ran = cuecard(monkeypatch, "tools", "import", ".", "--mcp", start, "--json")
    report = json.loads(ran.out)

    assert ran.code == 0, ran.err
    assert report["dropped"] == []
    assert set(SERVERS[server][1]) <= set(report["new"])
    tools = Engine.open(".").tools
    assert [*tools] == report["new"]
    assert all(card.description for card in tools.values())
    assert cuecard(monkeypatch, "tools", "import", ".", "--mcp", start, "--check").code == 0


def test_a_chat_uses_a_public_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = {"path": str(tmp_path / "files" / "note.txt")}
    calls = [
        ToolCallPart("tool_search", {"query": "read a text file"}),
        ToolCallPart("read_text_file", note),
    ]

    def decide(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        results = [part for m in messages for part in m.parts if isinstance(part, ToolReturnPart)]
        said = str(results[-1].content) if results else ""
        return ModelResponse([calls[len(results)]] if len(results) < len(calls) else [TextPart(said)])

    deciding(monkeypatch, decide)
    start = command("filesystem", tmp_path)
    write(tmp_path, {"agent.yaml": "agent: helper\nsections: [{id: role, text: Hello.}]\n"})
    ran = cuecard(
        monkeypatch, "run", ".", "--model", "test", "--mcp", start, "--message", "What is in the note?", "--json"
    )

    assert ran.code == 0, ran.err
    assert "Buy tea." in ran.of("turn")[0]["answer"]


@pytest.fixture(scope="module")
def inspected(_installed: None, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What the inspector gets from `cuecard mcp` in one connection."""
    own = [COMMAND, "mcp", "cms"]
    done = subprocess.run(
        ["node", str(HERE / "inspect.mjs"), *own],
        input=json.dumps([method for method, _ in ASKED]),
        cwd=tmp_path_factory.mktemp("inspected"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize(("method", "told"), ASKED)
def test_the_official_inspector_reads_what_cuecard_serves(inspected: list[Any], method: list[Any], told: str) -> None:
    answer = inspected[ASKED.index((method, told))]

    assert told in json.dumps(answer)
