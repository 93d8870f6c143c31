from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from cms.tools import TOOLS
from server import __file__ as server_file
from server import build_server, main

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cms.conftest import Site


def test_the_server_speaks_mcp_on_stdio(tmp_path: Path) -> None:
    asyncio.run(drive_server(tmp_path))


async def drive_server(folder: Path) -> None:
    arguments = [server_file, "--data", str(folder), "--now", "2026-02-01T12:00:00Z"]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments))) as client:
        pages = await all_pages(client)
        tools = [tool for page in pages for tool in page]

        assert [len(page) for page in pages] == [20, 20, 5]
        assert {tool.name: tool.description for tool in tools} == {name: t.description for name, t in TOOLS.items()}
        assert all(tool.input_schema == TOOLS[tool.name].input_schema for tool in tools)

        made = await client.call_tool("cms_createPage", {"title": "About Us", "slug": "about"})

        assert not made.is_error
        assert made.structured_content == json.loads(text_of(made))
        assert made.structured_content["page"]["createdAt"] == "2026-02-01T12:00:00Z"

        refused = await client.call_tool("cms_createPage", {"title": "About Us", "slug": "about"})

        assert refused.is_error
        assert json.loads(text_of(refused)) == {
            "error": {
                "class": "constraint",
                "message": "The slug `about` is taken among the pages.",
                "suggestion": "Use the free slug `about-2`.",
                "options": ["about-2"],
            }
        }
        wrong = await client.call_tool("cms_createPage", {"name": "About Us"})

        assert wrong.is_error
        assert json.loads(text_of(wrong))["error"]["class"] == "validation"


async def all_pages(client: Client) -> list[list[Any]]:
    pages, cursor = [], None
    while True:
        answer = await client.list_tools(cursor=cursor)
        pages.append(answer.tools)
        cursor = answer.next_cursor
        if cursor is None:
            return pages


def text_of(result: Any) -> str:
    (block,) = result.content
    text: str = block.text
    return text


def test_hints_tell_reading_and_destructive_tools_apart(site: Site) -> None:
    async def hints() -> dict[str, tuple[bool, bool]]:
        async with Client(build_server(site.db)) as client:
            tools = [tool for page in await all_pages(client) for tool in page]
            return {t.name: (t.annotations.read_only_hint, t.annotations.destructive_hint) for t in tools}

    found = asyncio.run(hints())

    assert found["cms_getPage"] == (True, False)
    assert found["cms_createPage"] == (False, False)
    assert found["cms_deletePage"] == (False, True)


def test_a_cursor_of_another_server_is_refused(site: Site) -> None:
    async def ask() -> None:
        async with Client(build_server(site.db)) as client:
            with pytest.raises(MCPError, match="not a cursor"):
                await client.list_tools(cursor="elsewhere")

    asyncio.run(ask())


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_a_snapshot_is_printed_as_json_and_seeds_an_empty_folder(
    tmp_path: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(capsys, "--data", str(tmp_path / "new"), "--snapshot")

    assert json.loads(printed) == site.content()


def test_changes_since_a_snapshot_are_printed(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, data = tmp_path / "before.json", str(site.folder)
    saved.write_text(run(capsys, "--data", data, "--snapshot"), encoding="utf-8")
    nothing = run(capsys, "--data", data, "--changes", str(saved))
    site.use("cms_createPage", title="About Us")

    assert nothing == "nothing has changed\n"
    assert run(capsys, "--data", data, "--changes", str(saved)) == 'created pages page-4 "About Us"\n'


def test_fresh_rebuilds_the_site(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "other"
    seeded = json.loads(run(capsys, "--data", str(folder), "--snapshot"))
    (folder / "uploads" / "stray.png").write_bytes(b"")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")

    assert json.loads(run(capsys, "--data", str(folder), "--fresh", "--snapshot")) == seeded
    assert not (folder / "uploads" / "stray.png").exists()
    assert (folder / "notes.txt").exists()


def test_a_site_that_cannot_be_opened_is_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cms.sqlite3").write_text("this is not a database, whatever its name says", encoding="utf-8")

    assert main(["--data", str(tmp_path), "--snapshot"]) == 2
    assert capsys.readouterr().err == f"cannot open the site in {tmp_path}: file is not a database\n"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--now", "noon", "is not a time such as"), ("--changes", "missing.json", "is not a snapshot")],
)
def test_a_wrong_option_is_reported_with_the_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--data", str(tmp_path), option, value])

    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_the_clock_can_be_stopped_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CMS_NOW", "noon")
    with pytest.raises(SystemExit):
        main(["--data", str(tmp_path), "--snapshot"])

    assert "is not a time such as" in capsys.readouterr().err


def test_a_snapshot_needs_no_mcp_and_serving_says_that_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("server.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "mcp", None)

    assert run(capsys, "--data", str(tmp_path), "--snapshot")
    assert main(["--data", str(tmp_path)]) == 2
    assert "pip install" in capsys.readouterr().err
