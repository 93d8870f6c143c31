"""`cuecard mcp`, asked by the official client, in both kinds of MCP, and by the client of fastmcp."""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import b64decode
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from cuecard import Engine
from cuecard.adapters.mcp_server import agent_server
from cuecard.workbench.mcp import packages_of
from unit.adapters.mcp_server.alone import run
from unit.workbench.run.address import at_an_address
from unit.workbench.run.talking import write

Result = TypeVar("Result")
ROOT = Path(__file__).parents[4]
AGENT = """\
agent: helper
sections:
  - {id: role, text: "You help {{name}}, {{age}} years old."}
  - {id: tools, text: "{{{activeProtocols}}}"}
  - {id: skills, skills: {roots: skills}}
inputs:
  name: {type: string, description: who is helped}
  age: {type: integer, default: 1}
tools: {instructions: tools.yaml, core: [tool_search]}
"""
TOOLS = """\
category: Weather & more
described: {tool_search: {description: Finds tools}}
tools:
  get-weather:
    description: Tells the weather
    phrases: [will it rain]
    before: Ask for the city
    after: Say it
    next: None
    gotcha: It is slow
"""
WEATHER = "<get-weather>\nBEFORE: Ask for the city\nAFTER: Say it\nNEXT: None\nGOTCHA: It is slow\n</get-weather>"
MISSING = (
    "turn.inputs: error[missing-input]: `name` has no value and no default\n  = supply `name` (string) - who is helped"
)
NO_INTEGER = "arguments: error[wrong-input]: `age` is not of type integer\n  = write it as JSON"
SKILL = "---\nname: pdf-forms\ndescription: Fills forms.\nmetadata: {a: b}\n---\n\nFill them.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, {"agent.yaml": AGENT, "tools.yaml": TOOLS, "skills/pdf-forms/SKILL.md": SKILL})
    write(tmp_path, {"skills/pdf-forms/references/a b.md": "More.\n", "skills/Odd_Name/SKILL.md": SKILL})
    (tmp_path / "skills/pdf-forms/form.bin").write_bytes(b"\x00\xff")
    return tmp_path


def server(folder: Path) -> Any:
    engine = Engine.open(folder)
    return agent_server(engine, packages_of(engine, folder), "1")


def ask(folder: Path, mode: str, work: Callable[[Client], Awaitable[Result]]) -> Result:
    async def talk() -> Result:
        async with Client(server(folder), mode=mode) as client:
            return await work(client)

    return run(talk())


def said(contents: Any) -> list[str]:
    return [each.text for each in contents if isinstance(each, (TextContent, TextResourceContents))]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_prompt_has_the_inputs_as_arguments(folder: Path, mode: str) -> None:
    (prompt,) = ask(folder, mode, lambda client: client.list_prompts()).prompts

    assert (server(folder).version, agent_server(Engine.open(folder)).version) == ("1", "")
    assert (prompt.name, prompt.description) == ("helper", "The system prompt of the agent helper")
    assert [(a.name, a.description, a.required) for a in prompt.arguments or []] == [
        ("name", "who is helped", True),
        ("age", "integer", False),
        ("discovered", "names of the tools whose instructions to include, separated by commas", False),
    ]


def test_profiles_and_variants_are_arguments_unless_inputs_have_their_names(folder: Path) -> None:
    chosen = """\
variants: {warm: {}, cold: {}}
profiles: {short: {include: [role]}, long: {include: [role, tools]}}
inputs:
  discovered: {type: string, default: ''}
"""
    text = AGENT.replace("inputs:\n", chosen).replace("description: who is helped", "default: Ann")
    write(folder, {"agent.yaml": text.replace("You help", "{{discovered}}: You help")})
    (prompt,) = ask(folder, "legacy", lambda client: client.list_prompts()).prompts
    given = {"discovered": "a, b", "profile": "short", "variant": "warm"}
    answer = ask(folder, "legacy", lambda client: client.get_prompt("helper", given))

    assert [(a.name, a.description, a.required) for a in prompt.arguments or []] == [
        ("discovered", "string", False),
        ("name", "string", False),
        ("age", "integer", False),
        ("profile", "one of short, long", False),
        ("variant", "one of warm, cold", False),
    ]
    assert said([message.content for message in answer.messages]) == ["a, b: You help Ann, 1 years old."]


def test_where_there_is_nothing_to_find_there_is_no_tool(folder: Path) -> None:
    write(folder, {"agent.yaml": "agent: helper\nsections: [{id: role, text: Hello.}]\n"})

    assert ask(folder, "legacy", lambda client: client.list_tools()).tools == []
    assert [each.name for each in ask(folder, "legacy", lambda client: client.list_prompts()).prompts] == ["helper"]
    with pytest.raises(MCPError, match=r"^there is no tool `tool_search`$"):
        ask(folder, "legacy", lambda client: client.call_tool("tool_search", {"query": "x"}))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_prompt_is_rendered_with_its_arguments(folder: Path, mode: str) -> None:
    arguments = {"name": "Eve", "age": "7", "discovered": "get-weather"}
    answer = ask(folder, mode, lambda client: client.get_prompt("helper", arguments))
    (text,) = said([message.content for message in answer.messages])

    assert (answer.description, answer.messages[0].role) == ("The system prompt of helper", "user")
    assert text.startswith(f"You help Eve, 7 years old.\n\n{WEATHER}\n\n- pdf-forms")


def test_thirty_questions_at_once_get_their_own_answers(folder: Path) -> None:
    async def all_at_once(client: Client) -> list[str]:
        asked = (
            {"name": f"#{n}", "age": str(n), **({"discovered": "get-weather"} if n % 2 else {})} for n in range(30)
        )
        answers = await asyncio.gather(*(client.get_prompt("helper", arguments) for arguments in asked))
        return said([message.content for answer in answers for message in answer.messages])

    texts = ask(folder, "auto", all_at_once)

    assert [f"You help #{n}, {n} years old." in text for n, text in enumerate(texts)] == [True] * 30
    assert ["BEFORE: Ask for the city" in text for text in texts] == [False, True] * 15


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("nobody", {}, "there is no prompt `nobody`; there is `helper`"),
        ("helper", {}, MISSING),
        ("helper", {"name": "x", "age": "old"}, NO_INTEGER),
        (
            "helper",
            {"name": "x", "age": '"7"'},
            "turn.inputs: error[wrong-input]: `age` should be of type integer, not str\n  = supply `age` (integer)",
        ),
        ("helper", {"name": "x", "age": "[" * 50_000}, NO_INTEGER),
        (
            "helper",
            {"name": "x", "nmae": "y"},
            "turn.inputs: error[unknown-input]: `nmae` is not an input of this agent\n  = did you mean `name`?",
        ),
        (
            "helper",
            {"name": "x", "discovered": "get-wether, get-weather ,,rm"},
            "\n\n".join(
                f"discovered: error[unknown-tool]: `{n}` is not a tool of this agent" for n in ("get-wether", "rm")
            ),
        ),
    ],
)
def test_a_wrong_question_is_answered_with_the_error(
    folder: Path, name: str, arguments: dict[str, str], told: str
) -> None:
    with pytest.raises(MCPError) as caught:
        ask(folder, "legacy", lambda client: client.get_prompt(name, arguments))

    assert (caught.value.code, caught.value.message) == (-32602, told)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_search_tool_finds_and_brings_the_instructions(folder: Path, mode: str) -> None:
    words = Engine.open(folder).words.search

    async def search(client: Client) -> Any:
        (tool,) = (await client.list_tools()).tools
        assert tool.model_dump(exclude_none=True) == {
            "name": "tool_search",
            "description": "Finds tools",
            "input_schema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": words.query_description},
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 50,
                        "description": words.limit_description,
                    },
                },
                "required": ["query"],
            },
        }
        return await client.call_tool("tool_search", {"query": "will it rain"})

    answer = ask(folder, mode, search)
    texts = said(answer.content)

    assert answer.structured_content["tools"] == ["get-weather"]
    assert (json.loads(texts[0]), texts[1:]) == (answer.structured_content, [WEATHER])
    assert answer.meta["cuecard/instructions"] == {
        "get-weather": {
            "before": "Ask for the city",
            "after": "Say it",
            "next": "None",
            "gotcha": "It is slow",
            "phrases": ["will it rain"],
        }
    }


def test_instructions_come_as_they_reach_a_model_where_the_prompt_can_be_made(folder: Path) -> None:
    text = AGENT.replace("description: who is helped", "default: Ann")
    of_one_turn = "sections:\n  - {id: today, clock: {}, lifetime: turn}\n"
    write(folder, {"agent.yaml": text.replace("sections:\n", of_one_turn)})
    answer = ask(folder, "legacy", lambda client: client.call_tool("tool_search", {"query": "will it rain"}))
    none = ask(folder, "legacy", lambda client: client.call_tool("tool_search", {"query": "xyzzy"}))

    assert said(answer.content)[1:] == [f"{WEATHER}\n"]
    assert (len(none.content), none.meta) == (1, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": 7}, "query: error[wrong-argument]: `query` should be a text, not the number 7"),
        (
            {"query": "x", "limit": 0},
            "limit: error[search-limit]: a search cannot return 0 tools\n  = ask for 1 to 50 tools; 8 is the default",
        ),
        (
            {"query": "x", "limit": "many"},
            "limit: error[wrong-argument]: `limit` should be a whole number or None, not a text",
        ),
        ({}, ""),
        ({"query": "x" * 5000}, ""),
    ],
)
def test_a_wrong_search_is_a_result_that_a_model_reads(folder: Path, arguments: dict[str, Any], told: str) -> None:
    answer = ask(folder, "legacy", lambda client: client.call_tool("tool_search", arguments))

    assert answer.is_error == bool(told)
    if told:
        assert said(answer.content) == [told]
    else:
        assert (answer.structured_content or {})["tools"] == []


def test_an_unknown_tool_and_an_unknown_resource_are_refused(folder: Path) -> None:
    with pytest.raises(MCPError, match="there is no tool `rm`"):
        ask(folder, "legacy", lambda client: client.call_tool("rm", {}))
    for uri in ("skill://helper/pdf-forms/../../agent.yaml", "file:///etc/passwd", "skill://other/pdf-forms/SKILL.md"):
        with pytest.raises(MCPError, match="there is no resource"):
            ask(folder, "legacy", partial(Client.read_resource, uri=uri))


def test_every_file_of_a_skill_is_a_resource(folder: Path) -> None:
    (folder / "skills/pdf-forms/notes").write_text("As they are.\n", encoding="utf-8")

    async def talk(client: Client) -> list[tuple[Any, Any]]:
        listed = (await client.list_resources()).resources
        return [(each, (await client.read_resource(str(each.uri))).contents[0]) for each in listed][:4]

    binary = "application/octet-stream"
    assert [
        (listed.name, listed.description, listed.mime_type, listed.size, getattr(read, "text", None))
        for listed, read in ask(folder, "legacy", talk)
    ] == [
        ("pdf-forms/SKILL.md", "Fills forms.", "text/markdown", len(SKILL), SKILL),
        ("pdf-forms/form.bin", None, binary, 2, None),
        ("pdf-forms/notes", None, binary, 13, "As they are.\n"),
        ("pdf-forms/references/a b.md", None, "text/markdown", 6, "More.\n"),
    ]
    for listed, read in ask(folder, "legacy", talk):
        assert (read.uri, read.mime_type) == (listed.uri, listed.mime_type)
        assert b64decode(getattr(read, "blob", "AP8=")) == b"\x00\xff"


def test_skills_are_listed_with_the_sha_256_of_each_file_as_fastmcp_reads_them(folder: Path) -> None:
    from fastmcp.client import Client as FastClient  # noqa: PLC0415 - slow to import, and for this test alone
    from fastmcp.skills import SkillsClientExtension  # noqa: PLC0415 - the same

    async def talk(url: str) -> tuple[Any, Any, list[bytes]]:
        async with FastClient(url, extensions=[SkillsClientExtension()]) as client:
            listed = await client.list_skills()
            one = await client.get_skill("skill://helper/pdf-forms/SKILL.md")
            read = []
            assert not isinstance(one.resources, str)
            for resource in one.resources:
                (content,) = await client.read_resource(resource.uri)
                text = getattr(content, "text", None)
                read.append(text.encode() if text is not None else b64decode(content.blob))
            return listed, one, read

    with at_an_address(server(folder).streamable_http_app()) as url:
        listed, one, read = asyncio.run(talk(url))

    assert [skill.frontmatter.name for skill in listed] == ["pdf-forms", "helper-weather-more"]
    assert one.frontmatter.root == {"name": "pdf-forms", "description": "Fills forms.", "metadata": {"a": "b"}}
    assert [r.digest for r in one.resources] == [f"sha256:{hashlib.sha256(data).hexdigest()}" for data in read]
    assert [r.uri.rpartition("/")[2] for r in one.resources] == ["SKILL.md", "form.bin", "a%20b.md"]
    assert listed[1].frontmatter.allowed_tools == "get-weather"
