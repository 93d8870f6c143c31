"""What recorded conversations tell tool authors."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from cuecard import Engine, ToolResult, Turn
from cuecard.recording.records import read_records
from cuecard.workbench.field.findings import FieldReport, field_report

Calls = list[dict[str, Any]]
TALK: list[Calls] = [
    [{"tool": "tool_search", "arguments": {"query": "new landing"}, "result": {"tools": []}}],
    [{"tool": "tool_search", "arguments": {"query": "create page"}, "result": {"tools": ["cms_createPage"]}}],
    [{"tool": "cms_createPage", "arguments": {}, "result": "the slug `about` is taken by a page", "is_error": True}],
    [{"tool": "cms_createPage", "arguments": {}, "result": {"success": True}}],
]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open("prompts/cms")


def lines(engine: Engine, talk: list[Calls]) -> str:
    """The records of one conversation, as a host writes them."""
    chat = engine.conversation()
    results: list[ToolResult] = []
    written: list[str] = []
    chat.user(Turn())
    for calls in talk:
        step = chat.step(results)
        written.append(json.dumps({"manifest": step.manifest.to_json(), "calls": calls}))
        results = [ToolResult(call["tool"], call["result"], is_error=call.get("is_error", False)) for call in calls]
    return "\n".join(written) + "\n"


def told(engine: Engine, *talks: list[Calls]) -> FieldReport:
    requests, problems = read_records((f"{number}.jsonl", lines(engine, talk)) for number, talk in enumerate(talks))
    assert not problems
    return field_report(requests, engine.search_tool, engine.tools)


def test_searches_that_found_nothing_name_the_tool_that_was_meant(engine: Engine) -> None:
    [search] = told(engine, TALK, TALK).searches
    assert (search.query, search.times, search.found, search.meant) == ("new landing", 2, (), "cms_createPage")


def test_a_search_that_found_the_wrong_tool_names_the_tool_that_was_meant(engine: Engine) -> None:
    wrong = [{"tool": "tool_search", "arguments": {"query": "landing"}, "result": {"tools": ["cms_deletePage"]}}]
    report = told(engine, [wrong, *TALK[1:]])
    [search] = report.searches
    assert (search.found, search.meant) == (("cms_deletePage",), "cms_createPage")
    uses = {use.name: use for use in report.tools}
    assert (uses["cms_deletePage"].found, uses["cms_deletePage"].called) == (1, 0)


def test_tools_searched_side_by_side_and_called_later_were_found_well(engine: Engine) -> None:
    page, post = (
        {"tool": "tool_search", "arguments": {"query": word}, "result": {"tools": [tool]}}
        for word, tool in (("create page", "cms_createPage"), ("publish post", "cms_publishPost"))
    )
    calls: Calls = [{"tool": tool, "arguments": {}, "result": "done"} for tool in ("cms_createPage", "cms_publishPost")]
    assert told(engine, [[page, post], calls]).searches == ()


def test_calls_and_errors_are_counted_and_those_that_the_gotcha_speaks_of_are_told_apart(engine: Engine) -> None:
    use = next(use for use in told(engine, TALK).tools if use.name == "cms_createPage")
    assert (use.found, use.called, use.calls, use.errors, use.foretold, use.unread) == (1, 1, 2, 1, 1, 0)
    assert use.tokens > 0
    other: Calls = [{"tool": "cms_createPage", "arguments": {}, "result": "connection refused", "is_error": True}]
    use = next(use for use in told(engine, [TALK[1], other]).tools if use.name == "cms_createPage")
    assert (use.errors, use.foretold) == (1, 0)


def test_without_the_agent_nothing_is_said_of_its_gotcha(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(lines(engine, TALK))
    told = run("tools", "report", str(tmp_path), "--json")
    use = next(use for use in json.loads(told.stdout)["tools"] if use["name"] == "cms_createPage")
    assert (use["errors"], use["foretold"]) == (1, None)
    assert use["advice"] == ["1 error: with `--agent`, the report says whether its GOTCHA warns about them"]


def test_a_call_without_the_tools_instructions_is_unread(engine: Engine) -> None:
    blind: Calls = [{"tool": "cms_publishPost", "arguments": {}, "result": "done"}]
    use = next(use for use in told(engine, [blind]).tools if use.name == "cms_publishPost")
    assert (use.found, use.unread) == (0, 1)


def test_manifests_alone_tell_costs_and_say_that_no_calls_are_known(engine: Engine, tmp_path: Path) -> None:
    chat = engine.conversation()
    chat.user(Turn(discovered=("cms_createPage",)))
    (tmp_path / "1.json").write_text(json.dumps(chat.step().manifest.to_json()))
    result = run("tools", "report", str(tmp_path))
    assert result.exit_code == 0
    assert "no calls were recorded" in result.stdout
    assert "never called" not in result.stdout


def test_a_bad_line_costs_only_that_line(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    good = lines(engine, TALK[:1])
    newer = json.dumps({"manifest": {**json.loads(good)["manifest"], "format": 99}})
    shapes = ("no JSON", "[]", '{"manifest": 7}', '{"calls": 7}', "[" * 100_000, newer)
    log.write_text(good + "\n".join(shapes) + "\n" + good)
    result = run("tools", "report", str(log), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["requests"] == 2
    assert [f"log.jsonl:{number}" in result.stderr for number in range(2, 8)] == [True] * len(shapes)


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("")
    result = run("tools", "report", str(tmp_path))
    assert result.exit_code == 2
    assert "error[no-records]" in result.stderr


def test_a_page_shows_what_the_table_shows_and_escapes_what_models_wrote(engine: Engine, tmp_path: Path) -> None:
    search: Calls = [{"tool": "tool_search", "arguments": {"query": "<script>x"}, "result": {"tools": []}}]
    (tmp_path / "log.jsonl").write_text(lines(engine, [search, *TALK]))
    page = tmp_path / "report.html"
    result = run("tools", "report", str(tmp_path), "--html", str(page))
    assert result.exit_code == 0
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;x" in text
    assert "add the phrase to cms_createPage" in text


def test_a_page_that_cannot_be_written_is_an_error(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(lines(engine, TALK))
    result = run("tools", "report", str(tmp_path), "--html", str(tmp_path / "no" / "x.html"))
    assert result.exit_code == 2
    assert "--html: error[wrong-option]" in result.stderr
