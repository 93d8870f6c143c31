"""Nothing that goes to a model is said by anything but a word: an agent with foreign words says no English one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition

from cuecard import Engine, Entity, Memory, Step, ToolCard, ToolResult, Turn
from cuecard.adapters import anthropic, gemini, openai
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.files.safe_read import MAX_BYTES
from cuecard.files.skill_answers import read_skill
from cuecard.model.tools import Skill
from cuecard.types import Json, ModelProfile, WordsSpec
from cuecard.workbench.run.assistant import make_assistant
from unit.config.words.foreign import AGENT, engine, english, translated, words

NOW = datetime(2026, 11, 20, tzinfo=UTC)
APPLE = Entity("т", "1", "яблоко")
QUERIES = ["искать яблоко", "груша", "облако над морем", "", " ", "ч" * 3000]


@pytest.fixture
def foreign(tmp_path: Path) -> Engine:
    return engine(tmp_path, words=words())


@dataclass(frozen=True)
class Talk:
    steps: list[Step]
    said: list[str]


def talk(engine: Engine) -> Talk:
    """Two searches, then calls in which a value, a section and a tool go and come back, the memory changes."""
    steps, said = [], []
    memory = Memory((APPLE,))
    call = engine.prepare_call(Turn({"i": "есть"}, memory, NOW))
    history: list[ToolResult] = []
    for number, query in enumerate(QUERIES):
        found = engine.search_tools(query)
        history.append(ToolResult("s_1", found.to_json(), f"{number}"))
        said.append(found.message)
        steps.append(engine.prepare_step(call, history))
    memory = engine.remember(memory, [ToolResult("t_1", {"x": {"id": "2"}}, "9")])
    for inputs, tools in (({}, ("s_1", "t_2")), ({"i": "снова"}, None)):
        call = engine.prepare_call(Turn(inputs, memory, NOW, tools=tools), history, previous=call)
        steps.append(engine.prepare_step(call, history))
    return Talk(steps, said)


def test_search_and_prompt_say_nothing_but_words(foreign: Engine) -> None:
    told = talk(foreign)
    blocks = [block.text for step in told.steps for block in step.appended]

    assert [english(text) for text in (*told.said, told.steps[0].system, *blocks) if english(text)] == []


def test_that_talk_says_everything_that_the_english_words_say(tmp_path: Path) -> None:
    """Else the test above could pass because nothing was said."""
    told = talk(engine(tmp_path))
    everything = "\n".join([*told.said, told.steps[0].system, *(b.text for b in told.steps[-1].appended)])
    spec = WordsSpec()
    expected = {
        *(spec.search.found_one, "Read its instructions in `Луг`", "No tool found", "for example"),
        *(spec.search.empty_query, "The query is longer than 2000 characters."),
        *("<context-update", "<withdrawn-sections>", "<withdrawn-tools>", "<restored-tools>"),
        *("[WORKING MEMORY]", "тs:", "Unnamed т", "BEFORE: б", "AFTER: п", "NEXT: д", "GOTCHA: о"),
    }

    assert {text for text in expected if text not in everything} == set()


def test_without_a_section_for_instructions_and_without_examples(tmp_path: Path) -> None:
    other = {"other": {"sections": [{"id": "a", "text": "{{{activeProtocols}}}"}]}}
    agent = {**AGENT, "sections": AGENT["sections"][:2], "profiles": other}
    tools = {"tools": {"t_3": {"before": "б"}}, "described": {"s_1": {}}}
    bare = engine(tmp_path, agent, tools, words=words())
    said = [bare.search_tools(query).message for query in ("t_3", "облако")]

    assert translated(WordsSpec().search.prompt) in said[0]
    assert translated(WordsSpec().search.advice) in said[1]
    assert [text for text in said if english(text)] == []


def texts(body: Json) -> Iterator[str]:
    """What the model reads of a request: no keys, no names of roles and kinds."""
    if isinstance(body, dict):
        for key, value in body.items():
            if key in {"text", "content", "instructions"} and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(body, list):
        for item in body:
            yield from texts(item)


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_bodies_of_all_providers_say_nothing_but_words(foreign: Engine, role: Any) -> None:
    step, model = talk(foreign).steps[-1], ModelProfile("m", mid_conversation=role)
    said = {"role": "user", "content": "да"}
    bodies = [
        anthropic.request(step, [said], model=model),
        openai.chat_request(step, [said], model=model),
        openai.responses_request(step, [said], model=model),
        gemini.request(step, [{"role": "user", "parts": [{"text": "да"}]}]),
    ]
    mark = translated("<system-reminder>")
    found = [[*texts(body)] for body in bodies]

    assert [english(text) for body in found for text in body if english(text)] == []
    assert [any(mark in text for text in body) for body in found] == [*[role == "user"] * 3, True]


@pytest.mark.parametrize("role", ["user", "system"])
def test_blocks_are_recognised_in_the_next_request(foreign: Engine, role: Any) -> None:
    step, model = talk(foreign).steps[-1], ModelProfile("m", mid_conversation=role)
    said = [{"role": "user", "content": "да"}]
    again = anthropic.request(step, said, model=model)["messages"]
    contents = gemini.request(step, [{"role": "user", "parts": [{"text": "да"}]}])["contents"]
    chat = openai.chat_request(step, said, model=model)["messages"]

    assert anthropic.request(step, again, model=model)["messages"] == again
    assert gemini.request(step, contents)["contents"] == contents
    assert openai.chat_request(step, chat[1:], model=model)["messages"] == chat


@pytest.fixture
def skill(tmp_path: Path) -> Skill:
    folder = tmp_path / "skills" / "n-1"
    folder.mkdir(parents=True)
    (folder / "big").write_bytes(b" " * (MAX_BYTES + 1))
    (folder / "blob").write_bytes(b"\xff")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(tmp_path)
    return Skill("n-1", "яблоня", "сад", path="skills/n-1/x", body="сад " * 3000)


FILES = ["big", "blob", "folder", "link/agent.yaml", "folder/none", "/a", "../a", "big/inside", "a\0b"]


def test_reading_skills_says_nothing_but_words(tmp_path: Path, skill: Skill) -> None:
    spec = WordsSpec.model_validate(words())
    many = [Skill(f"{n}", f"{n}", "") for n in range(20)]
    read = [
        *(read_skill([skill], "n-1", file=file, base=tmp_path, words=spec) for file in FILES),
        *(read_skill(skills, name, words=spec) for skills in ([], [skill], many) for name in ("n-2", "я")),
        *(read_skill([skill], "n-1", limit=1200, unit=unit, words=spec) for unit in ("bytes", "characters")),
        read_skill([skill], "n-1", file="z", words=spec),
    ]
    shown = [*FILES, "`z`"]
    said = [answer.message for answer in read]
    for name in shown:
        said = [message.replace(f"`{name.replace(chr(0), '‹U+0000›')}`", "") for message in said]

    assert all(answer.message for answer in read)
    assert [message for message in said if english(message)] == []
    assert len(set(said)) >= 14


class Model:
    """Calls what it is told to, then answers; keeps what it was sent."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls = [*calls]
        self.tools: dict[str, ToolDefinition] = {}
        self.results: list[ToolResult] = []

    async def decide(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools |= {tool.name: tool for tool in (*info.function_tools, *info.output_tools)}
        self.results = [*tool_results(messages)]
        if not self.calls:
            return ModelResponse([TextPart("да")])
        tool, arguments = self.calls.pop(0)
        return ModelResponse([ToolCallPart(tool, arguments)])

    def described(self) -> Iterable[str]:
        for tool in self.tools.values():
            yield tool.description or ""
            yield from (field.get("description", "") for field in tool.parameters_json_schema["properties"].values())


def failing() -> str:
    raise ValueError("нет")


def test_an_agent_of_pydantic_ai_hears_nothing_but_words(foreign: Engine) -> None:
    found = ("s_1", {"query": "яблоко"})
    model = Model(("s_1", {"query": "всё", "limit": 99}), ("t_1", {}), found, ("t_1", {}), ("t_1", {}))
    agent = Agent(
        FunctionModel(model.decide),
        capabilities=[Cuecard(engine=foreign, turn=Turn(now=NOW), retries=1, handle_tool_errors=True)],
    )
    agent.tool_plain(name="t_1")(failing)

    asyncio.run(agent.run("да"))
    answers = [json.dumps(result.result, ensure_ascii=False) for result in model.results]
    english_words = {word for text in (*answers, *model.described()) for word in english(text)}

    assert english_words == {"tools", "message", "ValueError"}, "the keys of a search result, and the error of a tool"
    assert [result.is_error for result in model.results] == [True, True, False, True, True]


def test_the_runnable_assistant_describes_its_tools_in_words(tmp_path: Path) -> None:
    described: dict[str, Any] = {"described": {"acknowledge": {}, "final_answer": {}, "t_1": {}}}
    sections, tools = AGENT["sections"][:2], {**AGENT["tools"], "core": ["acknowledge", "final_answer"]}
    foreign = engine(tmp_path, {**AGENT, "sections": sections, "tools": tools}, described, words=words())
    foreign = foreign.with_tools([ToolCard("t_1", "", {"type": "object", "properties": {}})])  # something to find
    model = Model()

    async def refuse(tool: str, arguments: Any) -> ToolResult:
        raise AssertionError(tool)

    assistant = make_assistant(foreign, FunctionModel(model.decide), ["t_1"], refuse)
    asyncio.run(assistant.run("да", deps=Turn(now=NOW)))

    said = {name: tool.description for name, tool in model.tools.items() if name != "t_1"}
    spec = WordsSpec()
    expected = {
        "s_1": spec.search.description,
        "acknowledge": spec.tools.acknowledge,
        "final_answer": spec.tools.final_answer,
    }

    assert said == translated(expected)
    assert [text for text in model.described() if english(text)] == []
