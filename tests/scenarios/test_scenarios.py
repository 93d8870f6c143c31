"""All scenarios of the CMS, played against its real tools under both deliveries: what the model was sent at each step,
and what stands in the database in the end.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp.client.client import Client
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, SystemPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cms.database import Database
from cms.seed import open_site
from cms.snapshot import Snapshot, changes, snapshot
from cms_agent import cms
from cuecard import Engine
from cuecard.adapters.mcp_client.client import ToolServer
from cuecard.adapters.mcp_lines import LastWords
from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.config.scenario_file import Scenario
from cuecard.types import Delivery
from cuecard.workbench.run.assistant_file import read_assistant
from cuecard.workbench.run.chat import assistant_on
from cuecard.workbench.run.events import StepEvent
from cuecard.workbench.run.script_model import PROFILE, Script, check_outcomes, shown_names
from cuecard.workbench.run.turn import Talk, take_turn
from server import build_server

ASSISTANT = read_assistant(Path(__file__).parents[2] / "examples" / "cms" / "assistant.yaml")
SCENARIOS = {scenario.name: scenario for scenario in ASSISTANT.scenarios}
TOURS = sorted(name for name in SCENARIOS if name.startswith("every-tool-of-"))
"""Scenarios in which each tool of a category is found by a search of its own."""
CORE = ["tool_search", "final_answer", "acknowledge"]


@dataclass(frozen=True)
class Request:
    """What the model was sent."""

    turn: int
    instructions: str
    tools: list[str]
    messages: list[ModelMessage]

    @property
    def appended(self) -> str:
        """The instructions among the messages."""
        parts = (part for message in self.messages for part in message.parts)
        return "".join(f"{part.content}\n" for part in parts if isinstance(part, SystemPromptPart))

    @property
    def wire(self) -> str:
        """The system prompt and the messages as a provider would get them: no timestamps, no ids of runs."""
        plain = json.loads(ModelMessagesTypeAdapter.dump_json(self.messages))
        parts = [{**part, "timestamp": None} for message in plain for part in message["parts"]]
        return "\n".join([self.instructions, *map(json.dumps, parts)])


@dataclass(frozen=True)
class Played:
    """A scenario after it was played."""

    delivery: Delivery
    requests: list[Request]
    talk: Talk
    before: Snapshot
    database: Database

    @property
    def steps(self) -> tuple[StepEvent, ...]:
        return self.talk.steps

    @property
    def differences(self) -> list[str]:
        """What is different in the database: kind, table and id."""
        return [f"{c.kind} {c.table} {c.id}" for c in changes(self.before, snapshot(self.database))]


def play(scenario: Scenario, delivery: Delivery, folder: Path) -> Played:
    """The scenario with its own script, recorded, against the real tools in this process."""
    database = open_site(folder, clock=lambda: scenario.file.now)
    before, requests = snapshot(database), list[Request]()

    async def play_all() -> Talk:
        async with Client(build_server(database), mode="legacy") as client:
            server = ToolServer(client, ASSISTANT.server(folder, scenario.file.now), LastWords())
            running = await assistant_on(server, scenario.name, ASSISTANT.file, cms(delivery))
            talk = Talk(running.engine.conversation())
            for number, turn in enumerate(scenario.file.turns):
                model = recorded(Script(scenario, number), requests)
                talk = await take_turn(running, talk, turn.user, model, lambda _event: None, scenario.file.now)
        return talk

    return Played(delivery, requests, asyncio.run(play_all()), before, database)


def recorded(script: Script, requests: list[Request]) -> FunctionModel:
    async def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tools = shown_names(info)
        requests.append(Request(script.turn, info.instructions or "", tools, messages))
        return await script.decide(messages, info)

    return FunctionModel(decide, profile=PROFILE)


@pytest.fixture(scope="module", params=["append", "rewrite"])
def delivery(request: pytest.FixtureRequest) -> Delivery:
    chosen: Delivery = request.param
    return chosen


@pytest.fixture(scope="module")
def played(delivery: Delivery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Played]]:
    plays = {name: play(s, delivery, tmp_path_factory.mktemp(name)) for name, s in SCENARIOS.items()}
    yield plays
    for one in plays.values():
        one.database.connection.close()


def found_in(messages: list[ModelMessage]) -> list[str]:
    """Promise 1 told a second time: what the results of the search tool name, in order of first discovery."""
    named = [name for r in tool_results(messages) if r.tool == "tool_search" for name in r.result["tools"]]
    return [name for name in dict.fromkeys(named) if name not in CORE]


def test_promise_1_only_what_was_discovered(played: dict[str, Played]) -> None:
    """A tool's instructions are in the prompt if and only if the tool is a core tool or was named by a result of the
    search tool in this conversation. Order of first discovery, never re-ordered.
    """
    for one in played.values():
        for request in one.requests:
            prompt = f"{request.instructions}\n{request.appended}"
            shown = re.findall(r"^<(\w+)>\nBEFORE: ", prompt, re.MULTILINE)

            assert shown == [*CORE, *found_in(request.messages)]


def test_the_tools_that_are_shown_are_those_whose_instructions_are(played: dict[str, Played]) -> None:
    for one in played.values():
        for request in one.requests:
            assert request.tools[:2] == ["tool_search", "acknowledge"]
            assert sorted(request.tools[2:]) == sorted([*found_in(request.messages), "final_answer"])


def test_every_scenario_discovers_and_no_step_is_left_out(played: dict[str, Played]) -> None:
    for name, one in played.items():
        planned = sum(len(turn.steps) + 1 for turn in SCENARIOS[name].file.turns)

        assert len(one.requests) == len(one.steps) == planned
        assert one.steps[-1].manifest.discovered


def test_every_call_ends_as_its_scenario_says(played: dict[str, Played]) -> None:
    for name, one in played.items():
        check_outcomes(SCENARIOS[name], tool_results(one.talk.messages))


def test_no_scenario_searches_twice_for_a_tool_that_it_has(played: dict[str, Played]) -> None:
    for one in (one for name, one in played.items() if name not in TOURS):
        had: set[str] = set()
        for result in tool_results(one.requests[-1].messages):
            if result.tool == "tool_search":
                assert set(result.result["tools"]) - had
                had.update(result.result["tools"])


def test_promise_5_append_only(played: dict[str, Played]) -> None:
    """Under `append` delivery, the serialized request n starts with the serialized request n-1."""
    for one in played.values():
        for before, after in zip(one.requests, one.requests[1:], strict=False):
            if one.delivery == "append" and before.turn == after.turn:
                assert after.wire.startswith(before.wire)


def test_under_append_nothing_changes_the_system_prompt_of_a_conversation(played: dict[str, Played]) -> None:
    for one in played.values():
        if one.delivery == "append":
            assert len({request.instructions for request in one.requests}) == 1


def test_under_rewrite_nothing_is_appended(played: dict[str, Played]) -> None:
    for one in played.values():
        if one.delivery == "rewrite":
            assert {step.manifest.tokens.appended for step in one.steps} == {0}
            assert "BEFORE: " not in "".join(request.appended for request in one.requests)


def test_the_prompt_is_far_smaller_than_with_every_instruction_in_it(played: dict[str, Played]) -> None:
    for name, one in played.items():
        share = 0.6 if name in TOURS else 0.5
        assert all(step.manifest.total_tokens < share * step.everything for step in one.steps)


def test_the_about_page_exists_with_its_hero_and_image(played: dict[str, Played]) -> None:
    content = snapshot(played["about-page"].database)

    assert played["about-page"].differences == ["created pages page-4", "created sections sec-9"]
    assert (content["pages"]["page-4"]["title"], content["pages"]["page-4"]["slug"]) == ("About Us", "about")
    assert content["sections"]["sec-9"]["pageId"] == "page-4"
    assert content["sections"]["sec-9"]["content"] == {
        "heading": "About Us",
        "backgroundImage": {
            "id": "img-3",
            "url": "/uploads/studio-team.png",
            "alt": "Our team of five at the studio",
        },
    }


def test_the_page_is_deleted_with_its_section_but_only_after_the_yes(played: dict[str, Played]) -> None:
    one = played["delete-page"]
    deletions = [call for step in one.steps for call in step.calls if call.tool == "cms_deletePage"]

    assert one.differences == []
    assert [call.result.get("requiresConfirmation", False) for call in deletions] == [True, False]
    assert [call.result.get("deleted") for call in deletions] == [None, ["page-4"]]


def test_the_deletion_knows_the_page_from_the_working_memory(played: dict[str, Played]) -> None:
    requests = played["delete-page"].requests
    memory = {r.turn: '"About Us" (page-4)' in r.instructions + r.appended for r in requests}

    assert memory == {0: False, 1: True, 2: True}


def test_what_was_deleted_is_in_no_working_memory(played: dict[str, Played]) -> None:
    kept = {entity.id for entity in played["delete-page"].talk.chat.memory.entities}

    assert "page-4" not in kept
    assert kept


def test_a_post_is_remembered_by_the_slug_that_tools_take(played: dict[str, Played]) -> None:
    shown = [r.instructions + r.appended for r in played["blog-post"].requests if r.turn == 1]
    remembered = [re.findall(r'- "Working from anywhere" \([^)]*\)', text) for text in shown]

    assert remembered
    assert all(remembered)
    assert {line for lines in remembered for line in lines} == {'- "Working from anywhere" (working-from-anywhere)'}


def test_the_post_is_published_with_the_cover_in_both_places(played: dict[str, Played]) -> None:
    one = played["blog-post"]
    post = snapshot(one.database)["posts"]["post-5"]

    assert one.differences == ["created posts post-5", "created images img-13"]
    assert (post["slug"], post["status"], post["publishedAt"]) == (
        "working-from-anywhere",
        "published",
        "2026-11-20T09:00:00Z",
    )
    assert post["content"]["cover"]["url"] == post["featuredImage"] == "/uploads/pexels-2104.png"
    assert (one.database.uploads / "pexels-2104.png").read_bytes().startswith(b"\x89PNG")


def test_the_taken_slug_is_replaced_by_the_one_that_the_error_suggests(played: dict[str, Played]) -> None:
    one = played["slug-taken"]
    attempts = [call for step in one.steps for call in step.calls if call.tool == "cms_createPage"]

    assert one.differences == ["created pages page-4"]
    assert [call.is_error for call in attempts] == [True, False]
    assert snapshot(one.database)["pages"]["page-4"]["slug"] == "contact-2"


def test_every_answer_is_what_the_results_say(played: dict[str, Played]) -> None:
    answers = {name: one.talk.turns[-1].answer for name, one in played.items()}

    assert "![Our team of five at the studio](/uploads/studio-team.png)" in answers.pop("about-page")
    assert answers == {
        "delete-page": "The page About Us has been deleted.",
        "blog-post": '"Working from anywhere" is published.',
        "slug-taken": "The page Contact is at `contact-2`.",
        **dict.fromkeys(TOURS, "Here is what the site has. I can change all of it; what shall it be?"),
    }


def test_every_turn_that_needs_tools_begins_with_one_acknowledgement() -> None:
    for scenario in SCENARIOS.values():
        for turn in scenario.file.turns:
            first, *later = [[call.tool for call in step.calls] for step in turn.steps]

            assert first[0] == "acknowledge"
            assert not any("acknowledge" in tools for tools in later)


def test_all_scenarios_are_covered_here() -> None:
    assert sorted(SCENARIOS) == sorted(("about-page", "blog-post", "delete-page", "slug-taken", *TOURS))


def test_together_they_find_each_tool_by_a_search_and_read_its_gotcha(played: dict[str, Played]) -> None:
    """All but the three core tools, which a search cannot find, since they are active from the first request."""
    entries = Engine.open(ASSISTANT.agent).tools
    reads = [
        text for name in TOURS for turn in SCENARIOS[name].file.turns for step in turn.steps for text in step.reads
    ]
    found = {name for tour in TOURS for name in found_in(played[tour].requests[-1].messages)}

    assert found == entries.keys() - {*CORE}
    assert len(found) == 45
    for name in found:
        gotcha = getattr(entries[name].instructions, "gotcha", "")
        assert any(text in gotcha for text in reads), name
