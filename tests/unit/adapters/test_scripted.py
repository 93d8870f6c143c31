"""The scripted model: it decides what a scenario says, and stops loudly where the conversation goes another way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ThinkingPart, ToolCallPart

from cms_agent import cms
from cuecard import Engine, InputError, SpecError, ToolCard, ToolResult, Turn
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.scenario_file import Scenario, ScenarioFile
from cuecard.workbench.run.assistant import make_assistant
from cuecard.workbench.run.script_model import scripted_model

HEAD = """\
title: A page
now: "2026-11-20T09:00:00+00:00"
turns:
  - user: Make a page
    steps:
      - calls: [{tool: tool_search, args: {query: create an empty page, limit: 1}}]
"""


def engine() -> Engine:
    return cms().with_tools([ToolCard("cms_createPage", input_schema={"type": "object", "properties": {}})])


def play(steps: str, answer: str = "done") -> list[ModelMessage]:
    text = f"{HEAD}{steps}    answer: {answer}\n"
    document = read_yaml(text, "page.yaml")
    scenario = Scenario("page", validate(document, ScenarioFile), document)
    agent = make_assistant(engine(), scripted_model(scenario, 0), ["cms_createPage"], create_page)
    turn = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
    return asyncio.run(agent.run("Make a page", deps=turn)).all_messages()


async def create_page(tool: str, arguments: Mapping[str, Any]) -> ToolResult:
    if arguments["slug"] == "taken":
        return ToolResult(tool, {"error": {"message": "The slug is taken.", "options": ["free"]}}, is_error=True)
    return ToolResult(tool, {"page": {"id": "page-1", "number": 7, "tags": ["a", "b"], **arguments}})


def calls(messages: list[ModelMessage]) -> list[tuple[str, Any]]:
    parts = (part for message in messages if isinstance(message, ModelResponse) for part in message.parts)
    return [(part.tool_name, part.args) for part in parts if isinstance(part, ToolCallPart)][1:]


def error_of(steps: str, answer: str = "done") -> str:
    with pytest.raises(SpecError) as caught:
        play(steps, answer)
    return str(caught.value)


def test_values_of_earlier_results_keep_their_type_alone_and_become_text_inside_a_text() -> None:
    messages = play(
        """\
      - calls: [{tool: cms_createPage, args: {slug: about}, save: {page: page, t: page.tags.1}}]
      - calls: [{tool: cms_createPage, args: {slug: x, n: "${page.number}", all: "${page}", two: "${page.number}${t}"}}]
""",
        "${page.slug} is there",
    )

    page = {"id": "page-1", "number": 7, "tags": ["a", "b"], "slug": "about"}
    arguments = {"slug": "x", "n": 7, "all": page, "two": "7b"}
    assert calls(messages)[1:] == [("cms_createPage", arguments), ("final_answer", {"answer": "about is there"})]


def test_a_thought_is_a_thought_of_the_model() -> None:
    messages = play('      - {think: Hm., calls: [{tool: acknowledge, args: {message: "Yes."}}]}\n')

    thoughts = [p.content for m in messages for p in m.parts if isinstance(p, ThinkingPart)]
    assert thoughts == ["Hm."]


def test_a_value_can_be_saved_from_an_error_that_was_expected() -> None:
    messages = play(
        """\
      - calls: [{tool: cms_createPage, args: {slug: taken}, fails: is taken, save: {free: error.options.0}}]
      - calls: [{tool: cms_createPage, args: {slug: "${free}"}}]
"""
    )

    assert calls(messages)[1] == ("cms_createPage", {"slug": "free"})


def test_a_call_of_a_tool_that_is_not_shown_stops_the_play() -> None:
    assert error_of("      - calls: [{tool: cms_deletePage}]\n") == (
        "page.yaml:7:24: error[hidden-tool]: `cms_deletePage` is not shown to the model in this step\n"
        "  7 |       - calls: [{tool: cms_deletePage}]\n"
        "    |                        ^^^^^^^^^^^^^^\n"
        "  = did you mean `cms_createPage`?\n"
        "  = let an earlier step find it with the search tool"
    )


def test_a_value_that_the_result_does_not_hold_stops_the_play() -> None:
    assert error_of("      - calls: [{tool: cms_createPage, args: {slug: about}, save: {id: page.idd}}]\n") == (
        "page.yaml:7:72: error[unresolved-value]: `page.idd` does not exist: there is no `idd`\n"
        "  7 |       - calls: [{tool: cms_createPage, args: {slug: about}, save: {id: page.idd}}]\n"
        "    |                                                                        ^^^^^^^^\n"
        "  = did you mean `id`?"
    )


def test_a_reference_that_leads_nowhere_stops_the_play() -> None:
    steps = "      - calls: [{tool: cms_createPage, args: {slug: about}, save: {page: page}}]\n"

    assert error_of(steps, "${page.tags.2} is there") == (
        "page.yaml:8:13: error[unresolved-value]: `page.tags.2` does not exist: there is no `2`\n"
        "  8 |     answer: ${page.tags.2} is there\n"
        "    |             ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  = the list has 2 items; count from 0"
    )


def test_a_list_cannot_appear_inside_a_text() -> None:
    steps = "      - calls: [{tool: cms_createPage, args: {slug: about}, save: {page: page}}]\n"

    assert "`page.tags` is of type list and cannot be put inside a text" in error_of(steps, "Tags ${page.tags}")


def test_a_call_that_fails_although_the_scenario_does_not_say_so_stops_the_play() -> None:
    assert error_of("      - calls: [{tool: cms_createPage, args: {slug: taken}}]\n") == (
        "page.yaml:7:24: error[other-outcome]: `cms_createPage` failed:"
        ' {"error": {"message": "The slug is taken.", "options": ["free"]}}\n'
        "  7 |       - calls: [{tool: cms_createPage, args: {slug: taken}}]\n"
        "    |                        ^^^^^^^^^^^^^^"
    )


def test_a_call_that_does_not_fail_although_the_scenario_says_so_stops_the_play() -> None:
    steps = "      - calls: [{tool: cms_createPage, args: {slug: about}, fails: is taken}]\n"

    assert "`cms_createPage` should have failed, but returned {" in error_of(steps)


def test_a_call_that_fails_in_another_way_stops_the_play() -> None:
    steps = "      - calls: [{tool: cms_createPage, args: {slug: taken}, fails: no such thing}]\n"

    assert "`cms_createPage` failed with a different error: {" in error_of(steps)


def test_tools_that_the_engine_does_not_know_are_named_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        make_assistant(engine(), "test", ["cms_createPage", "nope", "none"], create_page)

    assert [(problem.code, problem.name) for problem in error.value.problems] == [
        ("unknown-tool", "tools[1]"),
        ("unknown-tool", "tools[2]"),
    ]
