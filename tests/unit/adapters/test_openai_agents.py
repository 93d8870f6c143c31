"""What a model receives from agents of the OpenAI Agents SDK: seen by the SDK's own scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from runpy import run_path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    GuardrailFunctionOutput,
    InputGuardrail,
    Model,
    ModelResponse,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    SQLiteSession,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolOutputGuardrail,
    ToolOutputText,
    Usage,
    UserError,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.extensions.handoff_filters import remove_all_tools
from agents.mcp import MCPServer
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from mcp.types import CallToolResult
from mcp.types import Tool as McpTool
from openai import AsyncOpenAI
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Call, Conversation, Engine, Entity, InputError, Memory, Problem, Step, ToolCard, Turn
from cuecard.adapters import openai_agents
from cuecard.adapters.bodies import reminder
from cuecard.adapters.function_tools import search_card
from cuecard.adapters.openai_agents import Cuecard, Run, run_in
from cuecard.types import Delivery, RunLimits
from unit.adapters.alike import shop

NOW = datetime(2026, 11, 20, tzinfo=UTC)
QUIET = RunConfig(tracing_disabled=True)
PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
IMAGES: dict[str, Any] = {"query": "search images", "limit": 1}
ABOUT: dict[str, Any] = {"title": "About"}
Batch = Sequence[tuple[str, dict[str, Any]]]


@function_tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    return {"success": True, "page": {"id": "page-1", "title": title}}


@function_tool
def cms_searchImages(query: str) -> list[dict[str, Any]]:  # noqa: N802 - the same
    return [{"id": "image-1", "name": query}]


@function_tool
def cms_listPages() -> str:  # noqa: N802 - the same
    raise OSError("the disk is full")


TOOLS: list[Tool] = [cms_createPage, cms_searchImages, cms_listPages]


def script(batches: Sequence[Batch], name: str = "", ends: int = 1) -> ScriptedModel:
    steps: list[Any] = [
        [function_call(tool, args, call_id=f"{name}call-{n}-{i}") for i, (tool, args) in enumerate(batch)]
        for n, batch in enumerate(batches)
    ]
    return ScriptedModel([*steps, *[[assistant_message("done")]] * ends])


@dataclass
class Host:
    """One agent with a card, and what was told of it."""

    batches: Sequence[Batch]
    delivery: Delivery = "append"
    tools: Sequence[Tool] = field(default_factory=lambda: TOOLS)
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        self.card = Cuecard(engine(self.delivery), on_call=self.calls.append, on_step=self.steps.append)
        self.model = script(self.batches, self.name)
        self.agent: Agent[Any] = Agent("cms", model=self.model, tools=self.card.tools(self.tools), **self.options)

    def run(
        self, turn: Turn | None = None, chat: Conversation | None = None, says: Any = "hello", **kwargs: Any
    ) -> Any:
        options = self.card.options(turn or Turn(now=NOW), chat, config=QUIET)
        return asyncio.run(Runner.run(self.agent, says, **options, **kwargs))

    @property
    def sent(self) -> tuple[ModelCall, ...]:
        return self.model.calls


def names(call: ModelCall) -> list[str]:
    return [tool.name for tool in call.tools]


def blocks(call: ModelCall) -> list[str]:
    contents = [item.get("content") for item in call.input]
    return [text for text in contents if isinstance(text, str) and "<tool-usage-instructions>" in text]


def outputs(call: ModelCall) -> list[Any]:
    return [item["output"] for item in call.input if item.get("type") == "function_call_output"]


def test_append_keeps_instructions_and_tools_and_adds_a_block_after_the_search_result() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]])

    host.run()

    first, second, third = host.sent
    assert first.system_instructions == second.system_instructions == third.system_instructions
    assert names(first) == names(third)
    assert [item.get("type") or item["role"] for item in second.input] == [
        *("user", "function_call", "function_call_output"),
        "user",
    ]
    assert outputs(second) == [json.dumps(engine().search_tools(**PAGES).to_json(), ensure_ascii=False)]
    (block,) = (block.text for block in host.steps[1].appended)
    assert "<cms_createPage>" in block
    assert second.input[3] == {"role": "user", "content": reminder(block)}
    assert third.input[: len(second.input)] == second.input


def test_rewrite_puts_the_instructions_into_the_system_prompt_and_enables_tools_once_they_are_found() -> None:
    host = Host([[("tool_search", IMAGES)], [("tool_search", PAGES)], [("cms_createPage", ABOUT)]], "rewrite")

    host.run()

    assert [call.system_instructions for call in host.sent] == [step.system.strip() for step in host.steps]
    assert "<cms_createPage>" in (host.sent[2].system_instructions or "")
    assert [names(call) for call in host.sent] == [
        ["tool_search"],
        ["tool_search", "cms_searchImages"],
        ["tool_search", "cms_createPage", "cms_searchImages"],
        ["tool_search", "cms_createPage", "cms_searchImages"],
    ]
    assert [blocks(call) for call in host.sent] == [[], [], [], []]


def test_under_rewrite_what_was_found_at_once_is_shown_while_there_is_room_for_its_instructions(tmp_path: Path) -> None:
    path = shop(tmp_path, "handover", "refund_order", more="budget: {protocols: 60}\n")
    card = Cuecard(Engine.open(path, delivery="rewrite"))
    tools: list[Tool] = [function_tool(lambda: "ok", name_override=name) for name in ("handover", "refund_order")]
    searches = [("tool_search", {"query": query}) for query in ("handover", "refund order")]
    model = script([searches, [("handover", {})]])
    agent: Agent[Any] = Agent("shop", model=model, tools=card.tools(tools))

    asyncio.run(Runner.run(agent, "go", **card.options(config=QUIET)))

    found = ["tool_search", "handover"]
    assert [names(call) for call in model.calls] == [["tool_search"], [*found, "refund_order"], found]


def shape(call: ModelCall) -> list[tuple[Any, Any]]:
    """What was sent of a request, without ids of items."""
    return [(item.get("type") or item["role"], item.get("output") or item.get("content")) for item in call.input]


def test_blocks_come_after_the_last_result_of_a_parallel_batch() -> None:
    host = Host([[("tool_search", PAGES), ("tool_search", IMAGES)]])

    host.run()

    kinds = [item.get("type") or item["role"] for item in host.sent[1].input]
    assert kinds == ["user", *["function_call"] * 2, *["function_call_output"] * 2, "user", "user"]
    assert ["cms_createPage" in block for block in blocks(host.sent[1])] == [True, False]


def test_a_tool_that_is_not_active_is_refused_with_what_to_do_and_the_run_continues() -> None:
    called = []

    @function_tool
    def cms_createPage(title: str) -> str:  # noqa: N802 - the same
        called.append(title)
        return title

    host = Host(
        [[("cms_createPage", ABOUT)], [("tool_search", PAGES), ("cms_createPage", ABOUT)]], tools=[cms_createPage]
    )
    chat = engine().conversation()

    result = host.run(chat=chat)

    refusal = "`cms_createPage` is not active. Call `tool_search` with what you want to do, then use what it finds."
    assert outputs(host.sent[1]) == [refusal]
    assert outputs(host.sent[2])[2] == refusal
    assert [record.is_error for record in chat.state.results] == [True, False, True]
    assert called == []
    assert result.final_output == "done"


def test_the_search_tool_is_described_in_the_words_of_the_agent_file_and_a_query_comes_back_as_it_was() -> None:
    host, words = Host([[("tool_search", {"query": "stránku"})]]), engine().words.search
    search = host.agent.tools[0]
    assert isinstance(search, FunctionTool)

    host.run()

    assert (search.name, search.description) == ("tool_search", search_card(engine()).description)
    query = {"title": "Query", "type": "string", "description": words.query_description}
    limit = {"title": "Limit", "anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert search.params_json_schema["properties"] == {
        "query": query,
        "limit": {**limit, "description": words.limit_description},
    }
    assert search.params_json_schema["required"] == ["query"]
    assert 'No tool found for \\"stránku\\"' in outputs(host.sent[1])[0]


def test_a_search_that_asks_for_too_much_is_an_error_to_the_model() -> None:
    host = Host([[("tool_search", {"query": "pages", "limit": 99})], [("tool_search", {"query": 5})]])
    chat = engine().conversation()

    host.run(chat=chat)

    first, second = outputs(host.sent[2])
    assert first == "a search cannot return 99 tools: ask for 1 to 50 tools; 8 are usual"
    assert second.startswith("An error occurred while running the tool. Please try again.")
    assert [step.discovered for step in host.steps] == [(), (), ()]
    assert [record.is_error for record in chat.state.results] == [True, True]


def fail() -> None:
    raise KeyError


async def wait() -> None:
    await asyncio.sleep(9)


async def fail_raw(_context: Any, _arguments: str) -> None:
    raise KeyError


async def wait_raw(_context: Any, _arguments: str) -> None:
    await asyncio.sleep(9)


def told(_context: Any, error: Exception) -> str:
    return f"own {type(error).__name__}"


async def told_later(context: Any, error: Exception) -> str:
    return told(context, error)


SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
ENDS, OWN = "Error running tool work: ", "own KeyError"
SLOW, LATE = "An error occurred while running the tool. Please try again.", "Tool 'work' timed out after 0.01 seconds."
FAILING: list[tuple[Any, str, str, bool]] = [
    (function_tool(fail, name_override="work"), SLOW, "Try later.", True),
    (function_tool(fail, name_override="work", failure_error_function=None), ENDS, "Try later.", True),
    (function_tool(fail, name_override="work", failure_error_function=told), OWN, OWN, True),
    (
        function_tool(fail, name_override="work", failure_error_function=told_later),
        "own KeyError",
        "own KeyError",
        True,
    ),
    (FunctionTool("work", "", SCHEMA, fail_raw), ENDS, "Try later.", True),
    (FunctionTool("work", "", SCHEMA, wait_raw, timeout_seconds=0.01), LATE, LATE, True),
    (FunctionTool("work", "", SCHEMA, wait_raw, timeout_seconds=0.01, output_json_schema=SCHEMA), LATE, LATE, False),
    (function_tool(wait, name_override="work", timeout=0.01), LATE, LATE, True),
    (
        function_tool(wait, name_override="work", timeout=0.01, timeout_error_function=told),
        "own ToolTimeoutError",
        "own ToolTimeoutError",
        True,
    ),
    (function_tool(wait, name_override="work", timeout=0.01, timeout_behavior="raise_exception"), LATE, LATE, True),
]


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
@pytest.mark.parametrize(("tool", "plain", "handled", "noted"), FAILING, ids=map(str, range(len(FAILING))))
def test_a_call_that_fails_is_told_as_the_sdk_does_or_as_the_host_wants_and_is_no_result(
    tool: Any, plain: str, handled: str, *, noted: bool
) -> None:
    for handling, said in ((False, plain), ("Try later.", handled)):
        card, model = Cuecard(engine(), handle_tool_errors=handling), script([[("work", {})]])
        agent: Agent[Any] = Agent("cms", model=model, tools=card.tools([tool]))
        chat, ended = engine().conversation(), ""
        try:
            asyncio.run(Runner.run(agent, "go", **card.options(Turn(now=NOW), chat, config=QUIET)))
        except AgentsException as error:
            ended = str(error)

        assert (outputs(model.calls[-1]) or [ended]) == [said]
        assert [record.is_error for record in chat.state.results] == ([] if ended else [noted])


def test_what_the_tool_that_ends_a_run_gave_is_remembered_with_the_next_message() -> None:
    host = Host(
        [[("tool_search", PAGES)], [("cms_createPage", ABOUT)]],
        options={"tool_use_behavior": {"stop_at_tool_names": ["cms_createPage"]}},
    )
    chat = engine().conversation()

    session = SQLiteSession("ends")
    host.run(chat=chat, session=session)
    before = chat.memory.entities
    host.model.enqueue([assistant_message("done")])
    host.run(chat=chat, session=session)

    assert before == ()
    assert chat.memory.entities == (Entity("page", "page-1", "About"),)


def test_entities_are_read_out_of_the_parts_that_a_tool_gives() -> None:
    page = function_tool(lambda: ToolOutputText(text='{"id": "page-3", "name": "Home"}'), name_override="cms_listPages")
    host = Host([[("tool_search", {"query": "list all pages", "limit": 1})], [("cms_listPages", {})]], tools=[page])
    chat = engine().conversation()

    host.run(chat=chat)

    assert chat.memory.entities == (Entity("page", "page-3", "Home"),)


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_tools_that_the_catalogue_does_not_know_are_left_to_the_host() -> None:
    @function_tool
    def send_email() -> str:
        return "sent"

    host = Host([[("send_email", {})]], "rewrite", tools=[send_email, *TOOLS])

    host.run()

    assert [names(call) for call in host.sent] == [["tool_search", "send_email"]] * 2
    assert outputs(host.sent[1]) == ["sent"]


def test_a_host_keeps_its_own_instructions_filter_and_conditions() -> None:
    seen = []

    async def shorter(data: CallModelData[Any]) -> ModelInputData:
        seen.append(len(data.model_data.input))
        return data.model_data

    off = function_tool(lambda: "x", name_override="cms_listPages", is_enabled=lambda _context, _agent: False)
    card = Cuecard(engine())
    model = script([[("tool_search", PAGES)]])
    agent: Agent[Any] = Agent("cms", instructions="Speak French.", model=model, tools=card.tools([cms_createPage, off]))
    config = RunConfig(tracing_disabled=True, call_model_input_filter=shorter)

    asyncio.run(Runner.run(agent, "hello", **card.options(Turn(now=NOW), config=config)))

    assert seen == [1, 3]
    assert all((call.system_instructions or "").endswith("\n\nSpeak French.") for call in model.calls)
    assert names(model.calls[0]) == ["tool_search", "cms_createPage"]


@pytest.mark.parametrize("awaited", [True, False], ids=["awaited", "plain"])
def test_a_tool_that_the_host_switches_off_is_withdrawn_with_a_notice_and_its_definition_stays(
    *, awaited: bool
) -> None:
    on = [True]

    async def later(_context: Any, _agent: Any) -> bool:
        await asyncio.sleep(0)
        return on[0]

    tool = function_tool(
        lambda: "x",
        name_override="cms_createPage",
        is_enabled=later if awaited else lambda _context, _agent: on[0],
    )
    host = Host([[("tool_search", PAGES)]], tools=[cms_searchImages, tool])
    session, chat = SQLiteSession("one"), engine().conversation()
    host.run(Turn(now=NOW), chat, session=session)
    on[0] = False
    host.model.enqueue([function_call("cms_createPage", ABOUT, call_id="later")])
    host.model.enqueue([assistant_message("done")])

    host.run(Turn(now=NOW), chat, session=session, says="more")

    assert [("cms_createPage" in step.active_tools) for step in host.steps] == [False, True, False, False]
    assert [names(call) for call in host.sent] == [names(host.sent[0])] * 4
    assert "cms_createPage" in str(host.sent[2].input).partition("withdrawn-tools")[2]
    assert list(host.sent[2].input)[: len(host.sent[1].input)] == list(host.sent[1].input)
    assert outputs(host.sent[3])[-1] != "x"


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_a_tool_that_the_host_switches_off_while_the_model_calls_it_is_refused_and_the_run_goes_on(
    delivery: Delivery,
) -> None:
    ran, steps = list[str](), list[Step]()
    tool = function_tool(
        lambda: ran.append("x"), name_override="cms_createPage", is_enabled=lambda _context, _agent: len(steps) < 2
    )
    batches: list[Batch] = [[("tool_search", PAGES)], [("cms_createPage", {})]]
    host = Host(batches, delivery, tools=[cms_searchImages, tool], steps=steps)

    host.run()

    assert ran == []
    assert [("cms_createPage" in step.active_tools) for step in host.steps] == [False, True, False]
    told = "`cms_createPage` is no longer there. Use other tools, or tell the user what cannot be done."
    assert outputs(host.sent[2])[-1] == told
    assert ("cms_createPage" in names(host.sent[2])) == (delivery == "append")


@pytest.mark.parametrize("at_once", [False, True], ids=["after a request", "at once"])
def test_history_that_a_handoff_has_folded_keeps_the_instructions_of_what_it_found(at_once: bool) -> None:  # noqa: FBT001 - a parameter of the test
    card, chat = Cuecard(engine()), engine().conversation()
    found: Batch = [("tool_search", PAGES)]
    handed_over: Batch = [("transfer_to_other", {})]
    batches = [[*found, *handed_over]] if at_once else [found, handed_over]
    model = script([*batches, [("cms_createPage", ABOUT)]])
    other: Agent[Any] = Agent("other", model=model, tools=card.tools(TOOLS))
    first: Agent[Any] = Agent("cms", model=model, tools=card.tools(TOOLS), handoffs=[other])
    config = RunConfig(tracing_disabled=True, nest_handoff_history=True)

    result = asyncio.run(Runner.run(first, "hello", **card.options(Turn(now=NOW), chat, config=config)))

    assert result.final_output == "done"
    assert [str(call.input).count("<cms_createPage>") for call in model.calls] == [0, *[1] * len(batches), 1]
    assert list(model.calls[-1].input)[: len(model.calls[-2].input)] == list(model.calls[-2].input)
    assert chat.memory.entities == (Entity("page", "page-1", "About"),)


def test_a_call_of_a_tool_that_the_request_did_not_have_is_answered_and_the_run_goes_on() -> None:
    host = Host([[("nothing", {})], [("cms_createPage", ABOUT)]], delivery="rewrite")
    chat = engine().conversation()

    assert host.run(chat=chat).final_output == "done"
    assert len(host.sent) == 3
    told = [(record.tool, record.call_id, record.is_error) for record in chat.state.results]
    assert told == [("nothing", "call-0-0", True), ("cms_createPage", "call-1-0", True)]


def test_what_the_host_says_of_a_call_that_has_failed_reaches_the_model() -> None:
    host = Host([[("nothing", {})]], delivery="rewrite")
    config = replace(QUIET, tool_error_formatter=lambda error: f"no {error.tool_name} here")
    asyncio.run(Runner.run(host.agent, "hello", **host.card.options(Turn(now=NOW), config=config)))

    assert outputs(host.sent[1]) == ["no nothing here"]


def test_sessions_hold_the_messages_and_the_conversation_holds_the_prompt() -> None:
    session, chat = SQLiteSession("one"), engine().conversation()
    first = Host([[("tool_search", PAGES)]])
    first.run(Turn(now=NOW), chat, session=session)
    stored = engine().dump(chat)
    second = Host([[("cms_createPage", ABOUT)]], name="second-")
    chat = engine().load(stored)

    second.run(Turn(now=NOW), chat, session=session, says="now create it")

    assert second.sent[0].system_instructions == first.sent[0].system_instructions
    assert shape(second.sent[0])[: len(shape(first.sent[-1]))] == shape(first.sent[-1])
    assert json.loads(json.dumps(outputs(second.sent[1])[1])) == str(
        {"success": True, "page": {"id": "page-1", "title": "About"}}
    )
    assert chat.memory.entities == (Entity("page", "page-1", "About"),)


def test_a_session_without_a_conversation_still_knows_what_it_has_found() -> None:
    session = SQLiteSession("two")
    Host([[("tool_search", PAGES)]]).run(session=session)
    second = Host([[("cms_createPage", ABOUT)]], name="second-")

    second.run(session=session)

    assert [len(blocks(call)) for call in second.sent] == [1, 1]
    assert "page-1" in outputs(second.sent[1])[1]


def test_only_agents_with_the_tools_of_the_card_get_its_prompt_however_often_they_hand_over() -> None:
    card = Cuecard(engine())
    cms: Agent[Any] = Agent("cms", tools=card.tools(TOOLS), instructions="You are the CMS agent.")
    front: Agent[Any] = Agent("front", instructions="You greet.", handoffs=[cms])
    cms.handoffs = [handoff(front)]
    front.model = ScriptedModel(
        [
            [function_call("transfer_to_cms", {}, call_id="go-1")],
            [function_call("transfer_to_cms", {}, call_id="go-2")],
        ]
    )
    cms.model = ScriptedModel(
        [
            [function_call("tool_search", PAGES, call_id="search")],
            [function_call("transfer_to_front", {}, call_id="back")],
            [function_call("cms_createPage", ABOUT, call_id="create")],
            [assistant_message("done")],
        ]
    )
    chat = engine().conversation()

    result = asyncio.run(Runner.run(front, "hello", **card.options(Turn(now=NOW), chat, config=QUIET)))

    assert result.final_output == "done"
    assert [call.system_instructions for call in front.model.calls] == ["You greet."] * 2
    assert len({call.system_instructions for call in cms.model.calls}) == 1
    assert [len(blocks(call)) for call in cms.model.calls] == [0, 1, 1, 1]
    assert [len(blocks(call)) for call in front.model.calls] == [0, 0]
    assert "page-1" in outputs(cms.model.calls[-1])[-1]
    assert chat.memory.entities == (Entity("page", "page-1", "About"),)
    for shorter, longer in zip(cms.model.calls, cms.model.calls[1:], strict=False):
        assert shape(longer)[: len(shape(shorter))] == shape(shorter)


def test_thirty_runs_at_once_do_not_see_each_other() -> None:
    """One agent, one card: each run has its own memory, and every other one its own discovery."""
    card = Cuecard(engine("rewrite"))
    seen: dict[str, list[tuple[str, list[str]]]] = {}

    async def decide(call: ModelCall) -> Any:
        name = str(call.input[0]["content"])
        seen.setdefault(name, []).append((call.system_instructions or "", names(call)))
        await asyncio.sleep(0)
        if outputs(call):
            return [assistant_message(name)]
        return [function_call("tool_search", PAGES if int(name) % 2 else IMAGES, call_id="search")]

    model = ScriptedModel([ModelStep.respond(decide) for _ in range(60)])
    agent: Agent[Any] = Agent("cms", model=model, tools=card.tools(TOOLS))
    turns = {str(n): Turn(memory=Memory((Entity("page", f"page-{n}", f"Page {n}"),)), now=NOW) for n in range(30)}

    async def run_all() -> list[str]:
        runs = [Runner.run(agent, name, **card.options(turn, config=QUIET)) for name, turn in turns.items()]
        return [result.final_output for result in await asyncio.gather(*runs)]

    assert asyncio.run(run_all()) == list(turns)
    for name, requests in seen.items():
        assert [f'"Page {n}"' in text for text, _ in requests for n in turns] == [n == name for n in turns] * 2
        assert requests[1][1] == ["tool_search", "cms_createPage" if int(name) % 2 else "cms_searchImages"]


@dataclass
class Deps:
    user: str
    cuecard: Run


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_a_host_with_a_context_of_its_own_holds_the_run_in_it() -> None:
    asked = []

    @function_tool
    def whoami(context: RunContextWrapper[Deps]) -> str:
        asked.append(context.context.user)
        return context.context.user

    card = Cuecard(engine())
    model = script([[("whoami", {})]])
    agent: Agent[Any] = Agent("cms", model=model, tools=card.tools([whoami]))
    deps = Deps("Ada", card.run(Turn(now=NOW)))

    asyncio.run(Runner.run(agent, "hello", context=deps, run_config=card.config(QUIET)))

    assert asked == ["Ada"]
    assert deps.cuecard.step is not None
    assert model.calls[0].system_instructions == deps.cuecard.step.system.strip()


def test_a_run_without_the_context_is_refused_before_any_request() -> None:
    host = Host([])

    with pytest.raises(InputError) as caught:
        asyncio.run(Runner.run(host.agent, "hello", run_config=host.card.config(QUIET)))
    way_out = "pass `**card.options()` to the runner"
    told = "the run's context does not contain this card"
    assert caught.value.problems == (Problem("wrong-argument", told, way_out, "context"),)

    assert host.sent == ()


def test_a_run_without_the_settings_is_refused_with_its_first_call() -> None:
    host = Host([[("tool_search", PAGES)]])

    with pytest.raises(UserError) as caught:
        asyncio.run(Runner.run(host.agent, "hello", context=host.card.run(), run_config=QUIET))
    told = "a request was sent without the prompt, because the run does not use this adapter's settings"
    assert isinstance(caught.value.__cause__, InputError)
    assert caught.value.__cause__.problems == (
        Problem("wrong-argument", told, "pass `**card.options()` to the runner", "run_config"),
    )


def test_a_wrong_turn_is_refused_before_any_request() -> None:
    host = Host([])

    with pytest.raises(InputError, match="`nobody` is not an input of this agent"):
        host.run(Turn(inputs={"nobody": 1}, now=NOW))

    assert host.sent == ()


def test_arguments_are_refused_with_all_that_is_wrong() -> None:
    with pytest.raises(InputError, match=r"(?s)engine.*on_step"):
        Cuecard("prompts/cms", on_step=3)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(InputError, match=r"(?s)turn.*conversation"):
        Cuecard(engine()).options({}, 3)  # type: ignore[arg-type]  # the same


def test_results_without_their_calls_are_refused_with_the_reason() -> None:
    host = Host([])
    items: list[Any] = [{"type": "function_call_output", "call_id": call, "output": "x"} for call in ("gone", "lost")]

    with pytest.raises(InputError) as caught:
        host.run(says=[*items, {"role": "user", "content": "hello"}])
    way_out = "send the whole conversation, for example with a session; if the server keeps it, use "
    assert caught.value.problems == tuple(
        Problem("unknown-call", f"the items contain no call '{call}'", f"{way_out}Turn(host='system-only')", "input")
        for call in ("gone", "lost")
    )


def test_guardrails_that_run_alongside_the_first_request_change_nothing() -> None:
    async def slow(_context: Any, _agent: Any, _items: Any) -> GuardrailFunctionOutput:
        await asyncio.sleep(0.01)
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    host = Host([[("tool_search", PAGES)]], "rewrite", options={"input_guardrails": [InputGuardrail(slow)]})

    host.run()

    assert [names(call) for call in host.sent] == [["tool_search"], ["tool_search", "cms_createPage"]]


def confirmed() -> Tool:
    return function_tool(
        lambda title: {"id": "page-9", "name": title}, name_override="cms_createPage", needs_approval=True
    )


def test_a_run_continues_after_an_approval() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], tools=[confirmed()])
    result = host.run()
    state = result.to_state()
    state.approve(result.interruptions[0])

    ended = asyncio.run(Runner.run(host.agent, state, run_config=host.card.config(QUIET)))

    assert ended.final_output == "done"
    assert [call.turn for call in host.calls] == [0]
    assert outputs(host.sent[-1])[-1] == "{'id': 'page-9', 'name': 'About'}"


def test_a_run_continues_after_an_approval_in_another_process() -> None:
    first = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], tools=[confirmed()])
    second, chat = Host([[("tool_search", IMAGES)]], tools=[confirmed()], name="later-"), engine().conversation()
    for host in (first, second):
        host.agent.handoffs = [Agent("other", tools=host.card.tools([cms_searchImages]))]
    result = first.run(chat=chat)
    state = result.to_state()
    state.approve(result.interruptions[0])
    waiting, stored = state.to_string(context_serializer=lambda _run: {}), engine().dump(chat)
    run = second.card.run(conversation=engine().load(stored), resumed=True)

    async def go_on() -> Any:
        resumed = await RunState.from_string(second.agent, waiting, context_override=RunContextWrapper(run))
        return await Runner.run(second.agent, resumed, run_config=second.card.config(QUIET))

    assert asyncio.run(go_on()).final_output == "done"
    assert second.calls == []
    assert second.sent[0].system_instructions == first.sent[0].system_instructions
    assert shape(second.sent[0])[: len(shape(first.sent[-1]))] == shape(first.sent[-1])
    assert '"tools": []' in outputs(second.sent[1])[-1]  # what another agent has, it does not tell
    assert run.chat.memory.entities == (Entity("page", "page-9", "About"),)


def test_a_run_is_resumed_only_where_there_is_one() -> None:
    with pytest.raises(InputError) as caught:
        Cuecard(engine()).run(conversation=engine().conversation(), resumed=True)
    told = "the conversation has no user message yet, so there is no run to resume"
    assert caught.value.problems == (Problem("no-call", told, "pass the conversation of the run", "conversation"),)


def test_a_run_that_is_resumed_after_a_change_of_the_tools_gets_a_new_prompt() -> None:
    chat = engine().conversation()
    Host([[("tool_search", PAGES)]]).run(chat=chat)
    changed = engine().with_tools([ToolCard("cms_newTool", "does something new")])
    card = Cuecard(changed)

    run = card.run(Turn(now=NOW), changed.load(engine().dump(chat)), resumed=True)
    agent: Agent[Any] = Agent("cms", model=ScriptedModel([[assistant_message("done")]]), tools=card.tools(TOOLS))
    asyncio.run(Runner.run(agent, "hello", context=run, run_config=card.config(QUIET)))

    assert run.call is not None
    assert run.call.turn == 1


def test_agents_that_share_a_card_each_hear_of_their_own_tools() -> None:
    calls = list[Call]()
    card = Cuecard(engine(), on_call=calls.append)
    second: Agent[Any] = Agent("second", tools=card.tools([cms_searchImages]))
    third: Agent[Any] = Agent("third", tools=card.tools([cms_listPages]), handoffs=[second])
    second.handoffs = [handoff(third)]
    own: Agent[Any] = Agent("own", tools=[function_tool(lambda: "x", name_override="cms_getPage")])
    first: Agent[Any] = Agent("first", tools=card.tools([cms_createPage]), handoffs=[handoff(second), own])
    first.model = ScriptedModel(
        [
            [function_call("tool_search", {"query": "search images"}, call_id="1")],
            [function_call("transfer_to_second", {}, call_id="2")],
        ]
    )
    second.model = model = ScriptedModel(
        [
            [function_call("tool_search", IMAGES, call_id="3")],
            [function_call("cms_searchImages", {"query": "sea"}, call_id="4")],
            [assistant_message("done")],
        ]
    )

    asyncio.run(Runner.run(first, "hello", **card.options(Turn(now=NOW), config=QUIET)))

    assert sorted(calls[0].tools.available) == ["cms_createPage", "cms_listPages", "cms_searchImages", "tool_search"]
    said = [json.loads(text)["tools"] for text in outputs(model.calls[-1]) if '"tools"' in text]
    assert "cms_searchImages" not in said[0]
    assert said[1] == ["cms_searchImages"]
    assert outputs(model.calls[-1])[-1] == "[{'id': 'image-1', 'name': 'sea'}]"


def test_a_run_of_another_card_is_refused() -> None:
    host = Host([])

    with pytest.raises(InputError, match="does not contain this card"):
        asyncio.run(Runner.run(host.agent, "hello", context=Cuecard(engine("rewrite")).run()))


def test_where_the_server_keeps_the_conversation_nothing_is_appended_and_the_manifest_says_so() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]])
    options = host.card.options(Turn(now=NOW, host="system-only"), config=QUIET)

    asyncio.run(Runner.run(host.agent, "hello", auto_previous_response_id=True, **options))

    assert [len(call.input) for call in host.sent] == [1, 1, 1]
    assert "<cms_createPage>" in (host.sent[2].system_instructions or "")
    assert names(host.sent[1]) == ["tool_search", "cms_createPage"]
    assert host.steps[0].manifest.delivery.reason.startswith("instead of append: the host can only set the system")


def test_where_the_server_keeps_the_conversation_a_frozen_prompt_hears_of_results_too() -> None:
    host = Host([[("cms_createPage", ABOUT)], [("cms_createPage", ABOUT)]], "frozen")
    options = host.card.options(Turn(now=NOW, host="system-only"), config=QUIET)

    asyncio.run(Runner.run(host.agent, "hello", auto_previous_response_id=True, **options))

    assert [len(call.input) for call in host.sent] == [1, 1, 1]
    assert len({call.system_instructions for call in host.sent}) == 1
    assert "cms_createPage" in host.steps[-1].active_tools


def test_images_and_lists_of_parts_are_the_users_words() -> None:
    parts = [
        {"type": "input_text", "text": "like this"},
        {"type": "input_image", "image_url": "data:image/png;base64,"},
    ]
    host = Host([[("tool_search", PAGES)]])

    host.run(says=[{"role": "user", "content": parts}])

    assert host.sent[1].input[0]["content"] == parts
    assert len(blocks(host.sent[1])) == 1


def test_a_request_that_failed_leaves_the_conversation_as_it_was_to_the_next_one() -> None:
    host = Host([])
    host.agent.model = host.model = ScriptedModel(
        [
            ModelStep.raise_error(OSError("down")),
            [function_call("tool_search", PAGES, call_id="search")],
            [assistant_message("done")],
        ]
    )
    chat = engine().conversation()
    with pytest.raises(OSError, match="down"):
        host.run(chat=chat)

    host.run(chat=chat)

    assert [call.turn for call in host.calls] == [0, 1]
    assert len(blocks(host.sent[-1])) == 1


@pytest.mark.parametrize("keeps", [True, False], ids=["nested", "removed"])
def test_a_handoff_may_shorten_what_was_said(keeps: bool) -> None:  # noqa: FBT001 - a parameter of the test
    card = Cuecard(engine())
    cms: Agent[Any] = Agent("cms", tools=card.tools(TOOLS), model=script([[("tool_search", PAGES)]]))
    to_cms: Any = cms if keeps else handoff(cms, input_filter=remove_all_tools)
    front: Agent[Any] = Agent("front", handoffs=[to_cms])
    front.model = ScriptedModel([[function_call("transfer_to_cms", {}, call_id="go")]])
    config = RunConfig(tracing_disabled=True, nest_handoff_history=keeps)

    result = asyncio.run(Runner.run(front, "hello", **card.options(Turn(now=NOW), config=config)))

    assert result.final_output == "done"
    assert isinstance(cms.model, ScriptedModel)
    assert len(blocks(cms.model.calls[1])) == 1


FOUND: list[tuple[Any, bool]] = [
    (["cms_createPage"], True),
    ({"tools": ["cms_createPage"]}, True),
    ('{"tools": ["cms_createPage"]}', True),
    ({"result": [{"name": "cms_createPage"}]}, True),
    ([{"tool_name": "cms_createPage"}], True),
    (ToolOutputText(text='{"tools": ["cms_createPage"]}'), True),
    ([ToolOutputText(text='["cms_createPage"]')], True),
    ({"tools": [f"tool_{number}" for number in range(5000)] + ["cms_createPage"]}, True),
    ("cms_createPage", False),
    ({"isError": True, "tools": ["cms_createPage"]}, False),
    ({"error": "no such index"}, False),
    (None, False),
    (7, False),
]


@pytest.mark.parametrize(("result", "found"), FOUND, ids=[str(number) for number in range(len(FOUND))])
def test_a_search_tool_of_the_hosts_own_is_read_whatever_it_gives(result: Any, found: bool) -> None:  # noqa: FBT001 - the same
    own = function_tool(lambda query: result, name_override="tool_search", strict_mode=False)  # noqa: ARG005 - searched
    host = Host([[("tool_search", {"query": "create a page"})]], tools=[own, *TOOLS])

    host.run()

    assert names(host.sent[0]) == ["tool_search", "cms_createPage", "cms_searchImages", "cms_listPages"]
    assert ("cms_createPage" in host.steps[-1].active_tools) is found


def test_a_version_of_the_sdk_that_lacks_something_is_refused_with_the_versions_that_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("agents.ToolErrorFormatterArgs")

    with pytest.raises(InputError) as caught:
        run_path(openai_agents.__file__)
    assert "the adapter needs openai-agents>=0.24" in str(caught.value)
    assert 'pip install "cuecard[openai-agents]"' in str(caught.value)


def test_a_stream_that_is_abandoned_leaves_a_conversation_that_continues() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]])
    chat = engine().conversation()

    async def work() -> Any:
        options = host.card.options(Turn(now=NOW), chat, config=QUIET)
        begun = Runner.run_streamed(host.agent, "hello", **options)
        async for _ in begun.stream_events():
            if len(host.sent) == 2:
                begun.cancel()
                break
        said: list[Any] = [*begun.to_input_list(), {"role": "user", "content": "go on"}]
        return await Runner.run(host.agent, said, **host.card.options(Turn(now=NOW), chat, config=QUIET))

    asyncio.run(work())

    first, last = host.sent[1], host.sent[-1]
    assert last.system_instructions == first.system_instructions
    assert len(blocks(last)) == 1
    assert list(last.input[: len(first.input)]) == list(first.input)


def boss(model: ScriptedModel, writer: Agent[Any], tools: Sequence[Tool]) -> Agent[Any]:
    return Agent("boss", model=model, tools=[*tools, writer.as_tool("write", "Writes pages.")])


@pytest.mark.parametrize("deeper", [False, True])
def test_an_agent_as_a_tool_with_tools_of_the_same_card_is_refused_before_any_request(deeper: bool) -> None:  # noqa: FBT001 - a parameter
    """Its run has the context of the one that calls it, and would take part in that one's conversation."""
    card, model = Cuecard(engine()), script([])
    writer = Agent("writer", model=script([]), tools=card.tools(TOOLS))
    writer = Agent("middle", tools=[writer.as_tool("deep", "Writes.")]) if deeper else writer

    with pytest.raises(InputError) as caught:
        asyncio.run(Runner.run(boss(model, writer, card.tools(TOOLS)), "Hello", **card.options(config=QUIET)))
    told = "the tool `write` of agent `boss` is an agent with tools of the same card"
    way_out = "hand over to that agent (`handoffs`), or give it tools that come from no card"
    assert caught.value.problems == (Problem("wrong-argument", told, way_out, "boss.tools"),)
    assert not model.calls


@pytest.mark.parametrize("delivery", ["append", "rewrite", "frozen"])
def test_an_agent_with_a_card_can_be_the_tool_of_one_without(delivery: Delivery) -> None:
    card = Cuecard(engine())
    found = [("tool_search", PAGES)], [("cms_createPage", ABOUT)]
    asked = script([*found] if delivery != "frozen" else [found[1]], ends=2)
    writer = Agent("writer", model=asked, tools=card.tools(TOOLS))
    model = script([[("write", {"input": "one"})], [("write", {"input": "two"})]])
    options = card.options(Turn(delivery=delivery), config=QUIET)
    ended = asyncio.run(Runner.run(boss(model, writer, []), "Hello", **options))

    assert ended.final_output == "done"
    assert model.calls[0].system_instructions is None
    assert len({call.system_instructions for call in asked.calls}) == (2 if delivery == "rewrite" else 1)
    assert all(call.system_instructions for call in asked.calls)


class Errands(Model):
    """Two errands at once, each by the text it begins with: it searches, calls what was found, and ends."""

    def __init__(self) -> None:
        self.sent: dict[str, list[Any]] = {"one": [], "two": []}

    @override
    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        await asyncio.sleep(0)
        who = input[0]["content"]
        self.sent[who].append([system_instructions, *input])
        first, wanted = (
            (PAGES, ("cms_createPage", ABOUT)) if who == "one" else (IMAGES, ("cms_searchImages", {"query": "x"}))
        )
        errand: list[tuple[str, dict[str, Any]]] = [("tool_search", first), wanted]
        done = sum(item.get("type") == "function_call_output" for item in input)
        now: Any = (
            function_call(*errand[done], call_id=f"{who}-{done}") if done < 2 else assistant_message(f"{who} is done")
        )
        return ModelResponse(output=[now], usage=Usage(), response_id=None)

    @override
    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_calls_of_an_agent_as_a_tool_beside_each_other_end_with_what_each_has_found(delivery: Delivery) -> None:
    card, asked = Cuecard(engine()), Errands()
    writer = Agent("writer", model=asked, tools=card.tools(TOOLS))
    model = script([[("write", {"input": "one"}), ("write", {"input": "two"})]])
    asyncio.run(Runner.run(boss(model, writer, []), "Hello", **card.options(Turn(delivery=delivery), config=QUIET)))

    assert outputs(model.calls[-1]) == ["one is done", "two is done"]
    for who, tool in (("one", "<cms_createPage>"), ("two", "<cms_searchImages>")):
        assert tool in str(asked.sent[who][-1])
        assert "was not called" not in str(asked.sent[who])


def test_the_card_watches_copies_of_tools_and_leaves_the_hosts_own_guardrails_behind_its_own() -> None:
    allows: Any = lambda _: ToolGuardrailFunctionOutput.allow()  # noqa: E731 - for both
    before: ToolInputGuardrail[Any] = ToolInputGuardrail(allows, "mine")
    after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(allows, "mine")
    own = replace(cms_createPage, tool_input_guardrails=[before], tool_output_guardrails=[after])
    off, hosted = replace(cms_listPages, is_enabled=False), WebSearchTool()
    search, watched, switched_off, other = Cuecard(engine()).tools([own, off, hosted])

    names = [
        [guard.get_name() for guard in each.tool_input_guardrails or []]
        + [guard.get_name() for guard in each.tool_output_guardrails or []]
        for each in (search, watched, switched_off, own)
        if isinstance(each, FunctionTool)
    ]
    assert names == [["cuecard"], ["cuecard", "mine"] * 2, ["cuecard"] * 2, ["mine"] * 2]
    assert other is hosted
    assert isinstance(switched_off, FunctionTool)
    assert switched_off.is_enabled is False


@pytest.mark.parametrize("awaited", [True, False])
def test_a_host_asks_a_person_about_the_calls_that_it_wants_to_be_asked_about(*, awaited: bool) -> None:
    asked = list[Any]()

    async def asks(_context: Any, args: dict[str, Any], call: str) -> bool:
        asked.append((args, call))
        return bool(args["title"] == "About")

    titles = ["About", "Home"]
    calls = [("cms_createPage", {"title": title}) for title in titles]
    tool = replace(cms_createPage, needs_approval=asks if awaited else True)
    host = Host([[("tool_search", PAGES), calls[0]], calls], tools=[tool])

    interrupted = [each.arguments for each in host.run().interruptions]

    assert [json.loads(each or "")["title"] for each in interrupted] == titles[: 1 if awaited else 2]
    assert [call for _, call in asked] == (["call-1-0", "call-1-1"] if awaited else [])
    assert [args["title"] for args, _ in asked] == (titles if awaited else [])
    assert outputs(host.sent[1])[1].startswith("`cms_createPage` is not active.")


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_the_manifest_knows_the_definitions_of_each_request_in_their_order() -> None:
    on = list[bool]()
    switched = function_tool(lambda: "x", name_override="cms_listPages", is_enabled=lambda _context, _agent: bool(on))
    ours: list[Tool] = [cms_createPage, replace(cms_searchImages, is_enabled=False), switched, WebSearchTool()]
    host, chat = Host([[("tool_search", PAGES)]], tools=ours), engine().conversation()
    other = function_tool(lambda: "x", name_override="other", is_enabled=lambda _context, _agent: False)
    host.agent.tools += [other, function_tool(lambda: "x", name_override="another")]

    host.run(chat=chat)
    on.append(True)
    host.model.enqueue([assistant_message("done")])
    host.run(chat=chat)

    first = ["tool_search", "cms_createPage", "web_search", "another"]
    later = ["tool_search", "cms_createPage", "cms_listPages", "web_search", "another"]
    assert [names(call) for call in host.sent] == [first, first, later]
    fronts = [step.call.host.front for step in host.steps if step.call]
    assert fronts == [tuple(first), tuple(first), tuple(later)]
    (cut,) = (cut for cut in host.steps[-1].manifest.cuts if cut.what == "baseline")
    assert cut.reason == "the definitions in front of the request changed: `cms_listPages` came"


def test_another_process_keeps_the_definitions_that_were_sent_also_of_tools_that_are_gone() -> None:
    chat, sent = engine().conversation(), list[list[str]]()
    for on in (True, False, False):
        enabled: Any = lambda _context, _agent, on=on: on  # noqa: E731 - a value for the one below
        tool = replace(cms_createPage, is_enabled=enabled)
        host = Host([[("tool_search", PAGES)]], tools=[cms_searchImages, tool], name=f"{len(sent)}")
        chat = engine().load(engine().dump(chat))
        host.run(chat=chat)
        sent += [names(call) for call in host.sent]

    assert sent == [["tool_search", "cms_searchImages", "cms_createPage"]] * 6


class Server(MCPServer):
    """A server that has a tool of the catalogue."""

    @property
    def name(self) -> str:
        return "pages"

    async def list_tools(self, *_: Any) -> list[McpTool]:
        return [McpTool(name="cms_createPage", input_schema=SCHEMA)]

    async def call_tool(self, *_: Any, **__: Any) -> CallToolResult:
        return CallToolResult(content=[])

    async def connect(self) -> None: ...
    async def cleanup(self) -> None: ...
    async def list_prompts(self) -> Any: ...
    async def get_prompt(self, *_: Any) -> Any: ...


@pytest.mark.parametrize("handed", [False, True])
def test_where_servers_have_tools_nobody_says_which_there_are(*, handed: bool) -> None:
    chat = engine().conversation()
    host = Host([[("tool_search", PAGES), ("tool_search", {"query": "delete a page", "limit": 1})]], tools=[])
    serving: Agent[Any] = Agent("other", tools=host.card.tools([]), mcp_servers=[Server()])
    if handed:
        host.agent.handoffs = [serving]
    else:
        host.agent.mcp_servers = serving.mcp_servers

    host.run(chat=chat)

    assert {*host.calls[0].tools.available} > {"cms_createPage", "cms_deletePage"}
    assert [json.loads(told)["tools"] for told in outputs(host.sent[1])] == [["cms_createPage"], ["cms_deletePage"]]
    assert names(host.sent[0]) == (["tool_search"] if handed else ["cms_createPage", "tool_search"])
    assert host.steps[-1].call is not None
    assert host.steps[-1].call.host.front == (("tool_search",) if handed else ())


def test_a_run_is_found_in_the_context_as_a_key_a_field_or_the_context_itself() -> None:
    run = Cuecard(engine()).run()

    for context in (run, {"cuecard": run}, MappingProxyType({"cuecard": run}), SimpleNamespace(cuecard=run)):
        assert run_in(context) is run
    for other in ({}, {"cuecard": 3}, {"run": run}, SimpleNamespace(cuecard=3), None, "cuecard"):
        assert run_in(other) is None


FORCED = RunLimits(first_tool="tool_search", force_first=True)


@pytest.mark.parametrize(
    ("own", "run", "choice"),
    [
        (None, RunLimits(), None),
        (ModelSettings(temperature=0.5), RunLimits(first_tool="tool_search"), None),
        (None, FORCED, "tool_search"),
        (ModelSettings(temperature=0.5), FORCED, "tool_search"),
        (ModelSettings(temperature=0.5, tool_choice="auto"), FORCED, "auto"),
    ],
)
def test_the_first_tool_is_forced_by_the_settings_of_the_run_unless_the_host_has_its_own(
    own: ModelSettings | None, run: RunLimits, choice: str | None
) -> None:
    card, config = Cuecard(engine()), replace(QUIET, model_settings=own)

    made = card.options(Turn(run=run), config=config)["run_config"]

    wanted = replace(own or ModelSettings(), tool_choice=choice) if own or choice else None
    assert made.model_settings == wanted
    assert made.tool_not_found_behavior == "return_error_to_model"
    assert made.tracing_disabled
    assert card.config(config).model_settings == own
    assert card.options(lambda: Turn(run=run), config=config)["run_config"].model_settings == own


class Named(ScriptedModel):
    """A model of another provider."""

    model: Any = "claude-opus-4-8"


def client(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(api_key="k", base_url=url)


GPT = OpenAIResponsesModel("gpt-5.4", client("https://api.openai.com/v1"))
ROUTED = OpenAIChatCompletionsModel("gpt-5.4", client("https://gateway.example/v1"))


@pytest.mark.parametrize(
    ("turn", "model", "config", "delivery"),
    [
        (Turn(), GPT, QUIET, ("gpt-5.4", "api.openai.com/v1", "developer")),
        (Turn(authority="user"), GPT, QUIET, ("gpt-5.4", "api.openai.com/v1", "user")),
        (Turn(), ROUTED, QUIET, ("gpt-5.4", "gateway.example/v1", "user")),
        (Turn(), GPT, replace(QUIET, model=ROUTED), ("gpt-5.4", "gateway.example/v1", "user")),
        (Turn(), Named([]), QUIET, ("claude-opus-4-8", "", "user")),
        (Turn(authority="system"), Named([]), QUIET, ("claude-opus-4-8", "", "system")),
        (Turn(model="gpt-5"), Named([]), QUIET, ("gpt-5", "", "developer")),
        (Turn(), ScriptedModel([]), QUIET, ("", "", "unknown")),
    ],
)
def test_a_turn_that_names_no_model_is_told_the_one_that_answers(
    turn: Turn, model: Any, config: RunConfig, delivery: tuple[str, str, str]
) -> None:
    card = Cuecard(engine())
    agent: Agent[Any] = Agent("cms", model=model, tools=card.tools(TOOLS))

    told = card.run(turn, config=config).begin(agent).delivery

    assert (told.model, told.endpoint, told.authority) == delivery


def test_a_search_finds_although_an_earlier_run_had_a_call_of_its_id() -> None:
    host = Host([[("tool_search", PAGES)]])
    chat = engine().conversation()
    said = host.run(chat=chat).to_input_list()
    host.agent.model = script([[("tool_search", IMAGES)]])
    host.run(chat=chat, says=[*said, {"role": "user", "content": "and an image"}])

    assert host.steps[-1].active_tools == ("tool_search", "cms_createPage", "cms_searchImages")
    assert [told.code for told in host.steps[-1].manifest.diagnostics] == ["repeated_call_id"]
