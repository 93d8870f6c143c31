"""What a model receives from an agent with the `Cuecard` capability: seen by a model that is a Python function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability, ProcessHistory
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Entity, InputError, Memory, Problem, Step, Turn
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.types import Delivery, ToolServerError

NOW = datetime(2026, 11, 20, tzinfo=UTC)
PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
IMAGES: dict[str, Any] = {"query": "search images", "limit": 1}


@dataclass
class Model:
    """Calls what it is told to, batch by batch, then answers; remembers what it was sent."""

    batches: Sequence[Sequence[tuple[str, dict[str, Any]]]]
    instructions: list[str | None] = field(default_factory=list)
    tools: list[list[str]] = field(default_factory=list)
    requests: list[list[ModelMessage]] = field(default_factory=list)

    async def decide(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = len(self.requests)
        self.instructions.append(info.instructions)
        self.tools.append([tool.name for tool in info.function_tools])
        self.requests.append(messages)
        if step == len(self.batches):
            return ModelResponse([TextPart("done")])
        calls = enumerate(self.batches[step])
        return ModelResponse([ToolCallPart(tool, args, f"call-{step}-{i}") for i, (tool, args) in calls])

    @property
    def last(self) -> list[tuple[str, Any, bool]]:
        """Tool, content and whether it failed, of every result in the last request."""
        return [(r.tool, r.result, r.is_error) for r in tool_results(self.requests[-1])]


def make_agent(
    model: Model,
    delivery: Delivery = "append",
    tools: Sequence[Callable[..., Any] | Tool[Any]] = (),
    capabilities: Sequence[AbstractCapability[Any]] = (),
    **options: Any,
) -> Agent[Turn, str]:
    profile = ModelProfile(supports_inline_system_prompts=True)
    return Agent(
        FunctionModel(model.decide, profile=profile),
        deps_type=Turn,
        tools=[*tools, cms_createPage, cms_searchImages, cms_listPages],
        capabilities=[*capabilities, Cuecard(engine=engine(delivery), turn=lambda ctx: ctx.deps, **options)],
    )


def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    return {"success": True, "page": {"id": "page-1", "title": title}}


def cms_searchImages(query: str) -> dict[str, Any]:  # noqa: N802 - the same
    return {"matches": [], "query": query}


def cms_listPages() -> dict[str, Any]:  # noqa: N802 - the same
    raise OSError("the disk is full")


def run(model: Model, *, turn: Turn | None = None, history: Sequence[ModelMessage] = (), **options: Any) -> Any:
    agent = make_agent(model, **options)
    return asyncio.run(agent.run("hello", deps=turn or Turn(now=NOW), message_history=history))


def blocks(messages: Sequence[ModelMessage]) -> list[str]:
    """The instructions that were appended; pydantic-ai's own notes about new tools begin otherwise."""
    prompts = [part.content for m in messages for part in m.parts if isinstance(part, SystemPromptPart)]
    return [text for text in prompts if text.startswith("<tool-usage-instructions>")]


def kinds(message: ModelMessage) -> list[str]:
    return [part.part_kind for part in message.parts]


def wire(messages: Sequence[ModelMessage]) -> list[tuple[str, Any]]:
    """What a provider would be sent: no timestamps, no ids of runs."""
    return [(p.part_kind, getattr(p, "content", None) or getattr(p, "args", None)) for m in messages for p in m.parts]


def test_the_first_request_holds_the_prompt_of_the_engine_and_the_core_tools() -> None:
    model, steps = Model([]), list[Step]()

    run(model, delivery="rewrite", on_step=steps.append)

    assert model.instructions == [steps[0].system.strip()]
    assert model.tools == [["tool_search"]]


def test_append_keeps_the_system_prompt_and_adds_instructions_after_the_search_result() -> None:
    model, steps = Model([[("tool_search", PAGES)]]), list[Step]()

    run(model, on_step=steps.append)

    assert model.instructions[0] == model.instructions[1]
    assert blocks(model.requests[1]) == [block.text for block in steps[1].appended]
    assert "<cms_createPage" in blocks(model.requests[1])[0]
    assert kinds(model.requests[1][-1])[:2] == ["tool-return", "system-prompt"]


def test_rewrite_puts_the_instructions_into_the_system_prompt_and_nowhere_else() -> None:
    model, steps = Model([[("tool_search", PAGES)]]), list[Step]()

    run(model, delivery="rewrite", on_step=steps.append)

    assert model.instructions == [step.system.strip() for step in steps]
    assert "<cms_createPage" in (model.instructions[1] or "")
    assert blocks(model.requests[1]) == []


def test_blocks_come_after_the_last_result_of_a_parallel_batch_in_order_of_discovery() -> None:
    model = Model([[("tool_search", PAGES), ("tool_search", IMAGES)]])

    run(model)

    assert kinds(model.requests[1][-1])[:4] == ["tool-return", "tool-return", "system-prompt", "system-prompt"]
    assert ["cms_createPage" in block for block in blocks(model.requests[1])] == [True, False]


def test_under_rewrite_active_tools_are_shown_core_first_and_the_order_grows_at_its_end() -> None:
    model = Model([[("tool_search", IMAGES)], [("tool_search", PAGES)]])

    run(model, delivery="rewrite")

    assert model.tools == [["tool_search"], ["tool_search", "cms_searchImages"], FOUND]


FOUND = ["tool_search", "cms_searchImages", "cms_createPage"]


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_tools_that_the_catalogue_does_not_know_are_left_to_the_host() -> None:
    def send_email() -> str:
        return "sent"

    model = Model([[("tool_search", IMAGES), ("send_email", {})]])

    run(model, tools=[send_email], delivery="rewrite")

    assert model.tools == [["tool_search", "send_email"], ["tool_search", "send_email", "cms_searchImages"]]
    assert model.last[1] == ("send_email", "sent", False)


def test_a_model_without_system_messages_in_between_gets_the_instructions_as_marked_text() -> None:
    model = Model([[("tool_search", PAGES)], [("cms_createPage", {"title": "About"})]])
    agent = make_agent(model)

    asyncio.run(agent.run("hello", deps=Turn(now=NOW), model=FunctionModel(model.decide)))

    marked = [p.content for p in model.requests[1][-1].parts if p.part_kind == "user-prompt"]
    assert str(marked[0]).startswith("<system><tool-usage-instructions>\n<cms_createPage>\nBEFORE: ")
    assert wire(model.requests[2])[: len(wire(model.requests[1]))] == wire(model.requests[1])


def test_a_tool_that_is_not_active_is_refused_with_what_to_do_and_the_run_continues() -> None:
    model = Model([[("cms_createPage", {"title": "About"})]])

    result = run(model)

    refusal = "`cms_createPage` is not active. Call `tool_search` with what you want to do, then use what it finds."
    assert model.last == [("cms_createPage", refusal, True)]
    assert result.output == "done"


def test_a_tool_found_in_this_very_batch_is_not_active_yet() -> None:
    model = Model([[("tool_search", PAGES), ("cms_createPage", {"title": "About"})]])

    run(model)

    assert [failed for _, _, failed in model.last] == [False, True]


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_a_retry_that_a_tool_asks_for_counts_as_a_failure() -> None:
    asked = [0]

    def again() -> str:
        asked[0] += 1
        raise ModelRetry("once more")

    model = Model([[("again", {})]] * 3)
    tool = Tool(again, max_retries=5)

    run(model, tools=[tool], retries=1)

    assert asked == [2]
    assert model.last[-1] == (
        "again",
        "`again` has failed 2 times. Tell the user what failed and suggest another way.",
        True,
    )


def test_a_tool_that_failed_too_often_is_refused() -> None:
    calls: list[list[tuple[str, dict[str, Any]]]] = [[("cms_listPages", {})]] * 4
    model = Model([[("tool_search", {"query": "list all pages", "limit": 1})], *calls])

    run(model, retries=2, handle_tool_errors=True)

    refusal = "`cms_listPages` has failed 3 times. Tell the user what failed and suggest another way."
    assert [content for _, content, _ in model.last[1:]] == ["OSError"] * 3 + [refusal]


def test_failures_of_an_earlier_run_are_forgiven() -> None:
    first = Model([[("tool_search", {"query": "list all pages", "limit": 1})], *[[("cms_listPages", {})]] * 3])
    history = run(first, retries=2, handle_tool_errors=True).all_messages()
    second = Model([[("cms_listPages", {})]])

    run(second, retries=2, handle_tool_errors=True, history=history)

    assert second.last[-1] == ("cms_listPages", "OSError", True)


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_a_tool_server_that_is_gone_ends_the_run() -> None:
    def gone() -> None:
        raise ToolServerError(Problem("server-died", "the tool server exited"))

    with pytest.raises(ToolServerError, match="the tool server exited"):
        run(Model([[("gone", {})]]), tools=[gone], handle_tool_errors=True)


def test_a_search_that_asks_for_too_much_is_an_error_to_the_model() -> None:
    model = Model([[("tool_search", {"query": "pages", "limit": 99})]])

    run(model)

    message = "a search cannot return 99 tools: ask for 1 to 50 tools; 8 are usual"
    assert model.last == [("tool_search", message, True)]


def test_a_second_run_knows_what_the_first_has_discovered_and_places_nothing_twice() -> None:
    first = Model([[("tool_search", PAGES)]])
    history = run(first).all_messages()
    second = Model([[("cms_createPage", {"title": "About"})], [("tool_search", IMAGES)]])

    run(second, history=history)

    assert second.last[0] == ("tool_search", engine().search_tools(**PAGES).to_json(), False)
    assert second.last[1][2] is False
    assert [len(blocks(request)) for request in second.requests] == [1, 1, 2]


def test_blocks_join_a_history_that_never_had_them_where_they_belong() -> None:
    first = Model([[("tool_search", PAGES)], [("cms_createPage", {"title": "About"})]])
    history = run(first, delivery="rewrite").all_messages()
    second = Model([])

    run(second, history=history)

    with_block = [i for i, message in enumerate(second.requests[0]) if "system-prompt" in kinds(message)]
    assert with_block == [2]  # user, search, search result
    assert isinstance(second.requests[0][2], ModelRequest)
    assert not any("system-prompt" in kinds(message) for message in history)


def shortened(messages: list[ModelMessage]) -> list[ModelMessage]:
    """What a host might do to a long conversation: the first words of the user, and the last exchange."""
    return [messages[0], *messages[-2:]] if len(messages) > 3 else messages


def test_what_was_discovered_stays_where_the_host_shortens_the_history_for_good() -> None:
    create = ("cms_createPage", {"title": "About"})
    model = Model([[("tool_search", PAGES)], [create], [create]])
    steps = list[Step]()

    run(model, capabilities=[ProcessHistory(shortened)], on_step=steps.append)

    assert [step.active_tools for step in steps[1:]] == [("tool_search", "cms_createPage")] * 3
    assert [len(blocks(request)) for request in model.requests] == [0, 1, 1, 1]


def test_a_history_that_the_host_shortens_for_a_request_is_kept_whole() -> None:
    @dataclass
    class Shorten(AbstractCapability[Any]):
        @override
        async def before_model_request(
            self, ctx: RunContext[Any], request_context: ModelRequestContext
        ) -> ModelRequestContext:
            request_context.messages = shortened(list(request_context.messages))
            return request_context

    create = ("cms_createPage", {"title": "About"})
    model = Model([[("tool_search", PAGES)], [create], [create]])

    result = run(model, capabilities=[Shorten()])

    assert len(result.all_messages()) == 8
    assert [len(blocks(request)) for request in model.requests] == [0, 1, 1, 1]


def test_a_wrong_turn_is_refused_before_any_request() -> None:
    model = Model([])

    with pytest.raises(InputError, match="`nobody` is not an input of this agent"):
        run(model, turn=Turn(inputs={"nobody": 1}, now=NOW))

    assert model.requests == []


def test_thirty_runs_at_once_do_not_see_each_other() -> None:
    """One agent, one capability: each run has its own memory, and every other one its own discovery."""
    seen: dict[str, list[tuple[str, list[str]]]] = {}

    async def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = messages[0].parts[0]
        assert asked.part_kind == "user-prompt"
        name = str(asked.content)
        seen.setdefault(name, []).append((info.instructions or "", [tool.name for tool in info.function_tools]))
        await asyncio.sleep(0)
        if len(messages) > 1:
            return ModelResponse([TextPart(name)])
        return ModelResponse([ToolCallPart("tool_search", PAGES if int(name) % 2 else IMAGES)])

    agent = make_agent(Model([]), delivery="rewrite")
    turns = {str(n): Turn(memory=Memory((Entity("page", f"page-{n}", f"Page {n}"),)), now=NOW) for n in range(30)}

    async def run_all() -> list[str]:
        model = FunctionModel(decide)
        runs = [agent.run(name, deps=turn, model=model) for name, turn in turns.items()]
        return [result.output for result in await asyncio.gather(*runs)]

    assert asyncio.run(run_all()) == list(turns)
    for name, requests in seen.items():
        assert [f'"Page {n}"' in text for text, _ in requests for n in turns] == [n == name for n in turns] * 2
        assert requests[1][1] == ["tool_search", "cms_createPage" if int(name) % 2 else "cms_searchImages"]


def test_outside_a_run_the_capability_says_where_it_belongs() -> None:
    with pytest.raises(RuntimeError, match=r"pass it to Agent\(capabilities=\[...\]\)"):
        asyncio.run(Cuecard(engine=engine()).before_model_request(None, None))  # type: ignore[arg-type] # misused on purpose


def test_a_run_that_is_abandoned_in_the_middle_continues_from_its_messages() -> None:
    model = Model([[("tool_search", PAGES)], [("cms_createPage", {"title": "About"})]])
    agent = make_agent(model)

    async def work() -> str:
        async with agent.iter("hello", deps=Turn(now=NOW)) as begun:
            async for _ in begun:
                if len(model.requests) == 2:
                    break
        history = begun.all_messages()
        assert all(part.part_kind != "text" for message in history for part in message.parts)
        return (await agent.run(deps=Turn(now=NOW), message_history=history)).output

    assert asyncio.run(work()) == "done"
    assert ("cms_createPage", cms_createPage("About"), False) in model.last
    assert len(blocks(model.requests[-1])) == 1
    assert wire(model.requests[2])[: len(wire(model.requests[1]))] == wire(model.requests[1])
