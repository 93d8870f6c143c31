"""Skills from one side to the other: served and read again, and every way in which a server may lie about them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.server import Server
from mcp.types import (
    BlobResourceContents,
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceResult,
    Result,
    TextResourceContents,
)

from cuecard import Engine, Problem
from cuecard.adapters.mcp_client.client import ToolServer, offered
from cuecard.adapters.mcp_client.skills import EXTENSION, served_skills
from cuecard.adapters.mcp_lines import LastWords
from cuecard.adapters.mcp_server import agent_server
from cuecard.config.skills.packages import digest
from cuecard.files.server_process import ServerCommand
from cuecard.types import ToolServerError
from cuecard.workbench.mcp import packages_of
from unit.adapters.mcp_server.alone import run
from unit.workbench.run.address import at_an_address
from unit.workbench.run.talking import cuecard, write

CMS = Path(__file__).parents[4] / "prompts" / "cms"
MAIN = "---\nname: forms\ndescription: Fills forms.\n---\n\nFill them.\n"
URI = "skill://x/forms/SKILL.md"
FILES = {URI: MAIN, "skill://x/forms/refs/a.md": "More.\n"}
ENTRY = {
    "uri": URI,
    "frontmatter": {"name": "forms", "description": "Fills forms."},
    "resources": [{"uri": uri, "digest": digest(text.encode()), "size": len(text)} for uri, text in FILES.items()],
}


class _Listed(Result):
    skills: list[Any]
    nextCursor: str | None = None  # noqa: N815 - as it is on the wire


class _Unlisted(Result):
    skills: str


def lying_server(
    skills: list[Any], files: Mapping[str, str | bytes], cursor: Callable[[], str | None] = lambda: None
) -> Any:
    """A server that lists these skills, whatever its files are."""

    async def read(_context: Any, params: Any) -> ReadResourceResult:
        held = files[str(params.uri)]
        if isinstance(held, bytes):
            return ReadResourceResult(contents=[BlobResourceContents(uri=params.uri, blob=held.decode())])
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, text=held)])

    async def resources(_context: Any, _params: Any) -> ListResourcesResult:
        return ListResourcesResult(resources=[])

    async def listed(_context: Any, params: Any) -> _Listed:
        assert params.cursor != ""  # the first page has none
        return _Listed(skills=skills, nextCursor=cursor())

    server: Server[Any] = Server("liar", on_read_resource=read, on_list_resources=resources)
    server.add_request_handler("skills/list", PaginatedRequestParams, listed)
    server.extensions[EXTENSION] = {}
    return server


def read_from(server: Any) -> tuple[dict[str, Any], list[Problem]]:
    async def talk() -> tuple[dict[str, Any], list[Problem]]:
        async with Client(server, mode="auto", extensions=offered()) as client:
            tools = ToolServer(client, ServerCommand([], {}, Path(), name="--mcp"), LastWords())
            packages, problems = await served_skills(tools)
            return {package.name: package for package in packages}, list(problems)

    return run(talk())


def test_a_skill_is_read_with_all_of_its_files() -> None:
    picture = {"uri": "skill://x/forms/a.png", "digest": digest(b"\x00\xff"), "size": 2}
    own: Any = ENTRY["resources"]
    entry = {**ENTRY, "resources": [*own, picture]}
    packages, problems = read_from(lying_server([entry], {**FILES, "skill://x/forms/a.png": b"AP8="}))

    assert problems == []
    assert packages["forms"].files == {"SKILL.md": MAIN.encode(), "refs/a.md": b"More.\n", "a.png": b"\x00\xff"}
    for spoilt in (b"AP8", b"AP8=!", b"A-P8="):
        packages, (problem,) = read_from(lying_server([entry], {**FILES, "skill://x/forms/a.png": spoilt}))
        assert (packages, problem.message) == ({}, "`skill://x/forms/a.png` does not match its digest")


def changed(**other: Any) -> dict[str, Any]:
    return {**ENTRY, **other}


def outside(uri: str) -> dict[str, Any]:
    own = ENTRY["resources"]
    assert isinstance(own, list)
    return changed(resources=[*own, {"uri": uri, "digest": digest(b"x"), "size": 1}])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (changed(resources="dynamic"), "the skill `forms` lists no files"),
        (changed(resources=[]), "the skill has no `SKILL.md`"),
        (changed(resources=[{"uri": URI, "digest": digest(b"other")}]), "does not match its digest"),
        (changed(resources=[{"uri": URI}]), "does not match its digest"),
        (changed(resources=[7]), "a file of `forms` lies outside of the skill"),
        (changed(resources=[{"uri": URI}] * 600), "has more than 512 files"),
        (changed(frontmatter={"name": "forms", "description": "Other."}), "differs from its SKILL"),
        (changed(frontmatter=None), "is not a skill entry"),
        (changed(uri=7), "is not a skill entry"),
        (changed(uri="skill://x/forms/other.md"), "is not a skill entry"),
        (changed(uri="skill://x/../SKILL.md"), "is not a skill entry"),
        (outside("skill://x/forms/../../etc/passwd"), "lies outside of the skill"),
        (outside("skill://x/forms/%2e%2e/passwd"), "lies outside of the skill"),
        (outside("skill://x/forms/a%2Fb"), "lies outside of the skill"),
        (outside("skill://x/forms/.git/config"), "lies outside of the skill"),
        (outside("skill://x/forms/c:%5Cx"), "lies outside of the skill"),
        (outside("skill://x/forms/a%00b"), "lies outside of the skill"),
        (outside("skill://y/forms/a"), "lies outside of the skill"),
        (outside("file:///etc/passwd"), "lies outside of the skill"),
        (outside("skill://x/forms/gone.md"), "`skill://x/forms/gone.md`: Internal"),
        (outside(f"skill://x/forms/{'x' * 200}"), f"`skill://x/forms/{'x' * 104}`: Internal"),
        (changed(uri="y" * 200), f"`{'y' * 120}` is not a skill entry"),
        (changed(uri=f"skill://{'z' * 200}/SKILL.md", resources=[7]), f"a file of `{'z' * 64}` lies outside"),
    ],
)
def test_false_claims_of_a_server_are_left_out_with_the_reason(entry: dict[str, Any], told: str) -> None:
    packages, problems = read_from(lying_server([entry], FILES))

    (problem,) = problems

    assert packages == {}
    assert told in problem.message
    assert (problem.code, problem.severity) in {("server-tool", "warning"), ("missing-file", "error")}
    assert problem.name == ("--mcp: forms" if problem.code == "missing-file" else "--mcp")
    assert problem.hint == ("every skill has one" if problem.code == "missing-file" else "the skill is skipped")


def test_of_a_skill_that_is_listed_twice_the_first_is_used() -> None:
    """And one that is left out keeps nobody from reading the next one."""
    packages, (skipped, *problems) = read_from(lying_server([changed(resources=[7]), ENTRY, ENTRY], FILES))

    assert [*packages] == ["forms"]
    assert skipped.message == "a file of `forms` lies outside of the skill"
    assert problems == [
        Problem("server-tool", "the skill `forms` is listed twice", "the first is used", "--mcp", severity="warning")
    ]


def test_a_list_without_end_is_one_clear_error() -> None:
    asked: list[str] = []

    def another(cursor: str) -> str:
        asked.append(cursor.format(len(asked)))
        return asked[-1]

    for cursor, pages in {"same": 2, "{}": 200, "x" * 4097: 1}.items():
        asked.clear()
        with pytest.raises(ToolServerError, match="the server's list of skills is endless"):
            read_from(lying_server([], FILES, partial(another, cursor)))
        assert len(asked) == pages


def test_a_list_of_skills_that_fills_memory_is_one_clear_error() -> None:
    numbers = iter(range(10**9))
    large = {
        "uri": "skill://a/b/SKILL.md",
        "frontmatter": {"name": "b", "description": "x" * 3_000_000},
        "resources": [],
    }

    with pytest.raises(ToolServerError, match="the server's list of skills is endless") as caught:
        read_from(lying_server([large], FILES, lambda: str(next(numbers))))

    assert next(numbers) == 3
    assert caught.value.problems[0].name == "--mcp"
    assert caught.value.problems[0].hint == (
        "report it to the server's authors: at most 1,000 skills and 8,388,608 characters, "
        "and each cursor must lead to a new page"
    )


def test_a_list_that_is_none_is_one_clear_error() -> None:
    server = lying_server([], FILES)

    async def listed(_context: Any, _params: Any) -> Result:
        return _Unlisted(skills="all")

    server.add_request_handler("skills/list", PaginatedRequestParams, listed)
    with pytest.raises(ToolServerError) as caught:
        read_from(server)

    told = "its list of skills is not valid", "report it to the server's authors"
    assert caught.value.problems == (Problem("server-output", *told, "--mcp"),)


def test_a_server_without_skills_says_so() -> None:
    with pytest.raises(ToolServerError) as caught:
        read_from(Server("plain"))

    assert caught.value.problems == (
        Problem(
            "server-error",
            "the server serves no skills",
            f"it does not declare the extension `{EXTENSION}`, which newer versions of MCP define",
            "--mcp",
        ),
    )


def test_what_one_agent_serves_another_can_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = f"{sys.executable} -c 'from cuecard.cli.main import main; main()' mcp cms"
    first = cuecard(monkeypatch, "skills", "import", "theirs", "--mcp", command, "--json")
    theirs = Engine.open(CMS)
    served = agent_server(theirs, packages_of(theirs, CMS), "1")
    with at_an_address(served.streamable_http_app()) as url:
        again = cuecard(monkeypatch, "skills", "import", "theirs", "--mcp-url", url, "--check")
    write(tmp_path, {"agent.yaml": "agent: a\nsections: [{id: s, skills: {roots: theirs, trust: data}}]\n"})

    assert first.code == again.code == 0, first.err
    assert "cms-pages" in json.loads(first.out)["skills"]
    assert "allowed-tools" in Path("theirs/cms-pages/SKILL.md").read_text(encoding="utf-8")
    engine = Engine.open(".")
    assert "How to use the pages tools" in engine.prepare_step(engine.prepare_call()).system
    assert engine.read_skill("cms-pages").found


def test_what_is_there_and_another_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cuecard(monkeypatch, "skills", "export", "cms", "out").code == 0
    mine = Path("out/cms-pages/SKILL.md")
    text = mine.read_text(encoding="utf-8")
    mine.write_text("mine", encoding="utf-8")
    refused = cuecard(monkeypatch, "skills", "export", "cms", "out")

    assert refused.code == 2
    assert "out/cms-pages/SKILL.md: error[file-exists]: the file already exists with different content" in refused.err
    assert mine.read_text(encoding="utf-8") == "mine"
    assert cuecard(monkeypatch, "skills", "export", "cms", "out", "--check").code == 1
    assert cuecard(monkeypatch, "skills", "export", "cms", "out", "--update").code == 0
    assert mine.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "words", [["x"], ["x", "--mcp", "a", "--mcp-url", "http://b"], ["x", "--mcp", "no-such-program"]]
)
def test_wrong_commands_have_their_error(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ran = cuecard(monkeypatch, "skills", "import", *words)

    assert ran.code in {1, 2}
    assert "error[" in ran.err
    assert "Traceback" not in ran.err


def test_the_skill_of_a_category_has_the_instructions_of_its_tools_and_what_they_are(tmp_path: Path) -> None:
    entries = "sell_loaf: {description: Sell  a loaf., before: Ask.}\n  wrap: {gotcha: Warm.}\n"
    tools = f"category: Baked goods\ntools:\n  {entries}"
    (tmp_path / "tools.yaml").write_text(tools, encoding="utf-8")
    agent = "agent: shop\nsections: [{id: role, text: '{{{activeProtocols}}}'}]\ntools: {instructions: tools.yaml}\n"
    (tmp_path / "agent.yaml").write_text(agent, encoding="utf-8")

    (package,) = packages_of(Engine.open(tmp_path), tmp_path)

    assert package.files["SKILL.md"].decode() == (
        '---\nname: "shop-baked-goods"\ndescription: "How to use the Baked goods tools: sell_loaf, wrap"\n'
        'allowed-tools: "sell_loaf wrap"\n---\n\n# Baked goods\n\n'
        "## sell_loaf\n\nSell a loaf.\n\n<sell_loaf>\nBEFORE: Ask.\n</sell_loaf>\n\n"
        "## wrap\n\n<wrap>\nGOTCHA: Warm.\n</wrap>\n"
    )
