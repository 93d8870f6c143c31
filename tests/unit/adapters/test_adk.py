"""What a model receives from the agents of an ADK app with the plugin: seen by a model that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from google.adk.agents import LiveRequestQueue, LlmAgent, ParallelAgent
from google.adk.agents.run_config import RunConfig, StreamingMode  # type: ignore[attr-defined]  # its documentation imports it so
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic import BaseModel, Field, PrivateAttr
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Call, Entity, InputError, Memory, Problem, Step, ToolCard, Turn
from cuecard.adapters import adk
from cuecard.adapters.adk import Cuecard
from cuecard.errors import did_you_mean
from cuecard.types import Delivery

NOW = datetime(2026, 11, 20, tzinfo=UTC)
PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
IMAGES: dict[str, Any] = {"query": "search images", "limit": 1}
ABOUT: dict[str, Any] = {"title": "About"}
Batch = Sequence[tuple[str, dict[str, Any]]]


def snapshot(request: LlmRequest) -> LlmRequest:
    """What was sent, without the tools that would run."""
    return request.model_copy(update={"tools_dict": {}}).model_copy(deep=True)


class Scripted(BaseLlm):
    """Calls what it is told to, batch by batch, then answers; remembers what it was sent."""

    model: str = "scripted"
    batches: list[Batch] = Field(default_factory=list)
    ids: bool = False
    _sent: list[LlmRequest] = PrivateAttr(default_factory=list)

    @property
    def sent(self) -> list[LlmRequest]:
        return self._sent

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        number = len(self._sent)
        self._sent.append(snapshot(llm_request))
        calls = self.batches[number] if number < len(self.batches) else ()
        parts = [
            types.Part(
                function_call=types.FunctionCall(name=name, args=args, id=f"call-{number}-{i}" if self.ids else None)
            )
            for i, (name, args) in enumerate(calls)
        ]
        if stream and not parts:
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="do")]), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text="done")]))


def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    return {"success": True, "page": {"id": "page-1", "title": title}}


def cms_searchImages(query: str) -> list[dict[str, Any]]:  # noqa: N802 - the same
    return [{"id": "image-1", "name": query}]


def cms_listPages() -> dict[str, Any]:  # noqa: N802 - the same
    return {"error": "the disk is full"}


TOOLS: list[Any] = [cms_createPage, cms_searchImages, cms_listPages]


@dataclass
class Host:
    """An app of one agent with the plugin, and what was told of it."""

    batches: Sequence[Batch]
    delivery: Delivery = "append"
    tools: Sequence[Any] = field(default_factory=lambda: TOOLS)
    sessions: BaseSessionService = field(default_factory=InMemorySessionService)
    plugins: Sequence[BasePlugin] = ()
    turn: Any = field(default_factory=lambda: Turn(now=NOW))
    agents: Sequence[str] = ()
    steps: list[Step] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.card = Cuecard(
            engine(self.delivery),
            turn=self.turn,
            agents=self.agents,
            on_call=self.calls.append,
            on_step=self.steps.append,
        )
        self.model = Scripted(batches=list(self.batches))
        self.agent = LlmAgent(name="cms", model=self.model, tools=list(self.tools), **self.options)
        self.runner = runner(self.agent, self.card, *self.plugins, sessions=self.sessions)

    def run(self, words: str = "hello", *, session: str = "one", streamed: bool = False) -> list[str]:
        return asyncio.run(talk(self.runner, words, session=session, streamed=streamed))

    @property
    def sent(self) -> list[LlmRequest]:
        return self.model.sent


def runner(agent: Any, *plugins: BasePlugin, sessions: BaseSessionService | None = None) -> Runner:
    app = App(name="site", root_agent=agent, plugins=list(plugins))
    return Runner(app=app, session_service=sessions or InMemorySessionService())


async def talk(run: Runner, words: str, *, session: str = "one", streamed: bool = False) -> list[str]:
    at: dict[str, Any] = {"app_name": "site", "user_id": "ann", "session_id": session}
    if await run.session_service.get_session(**at) is None:
        await run.session_service.create_session(**at)
    said = []
    message = types.Content(role="user", parts=[types.Part(text=words)])
    config = RunConfig(streaming_mode=StreamingMode.SSE) if streamed else None
    async for event in run.run_async(user_id="ann", session_id=session, new_message=message, run_config=config):
        said += [part.text for part in (event.content and event.content.parts) or () if part.text]
    return said


def system(request: LlmRequest) -> str:
    held = request.config.system_instruction
    assert isinstance(held, str)
    return held


def names(request: LlmRequest) -> list[str]:
    tools: Any = request.config.tools or []
    return [each.name for tool in tools for each in tool.function_declarations]


def texts(request: LlmRequest) -> list[str]:
    return [part.text for content in request.contents for part in content.parts or () if part.text]


def blocks(request: LlmRequest) -> list[str]:
    return [text for text in texts(request) if "<tool-usage-instructions>" in text]


def results(request: LlmRequest) -> list[Any]:
    return [
        part.function_response.response
        for content in request.contents
        for part in content.parts or ()
        if part.function_response
    ]


def kinds(request: LlmRequest) -> list[str]:
    def kind(part: types.Part) -> str:
        return "call" if part.function_call else "result" if part.function_response else "text"

    return [f"{content.role}: {' '.join(map(kind, content.parts or ()))}" for content in request.contents]


def wire(request: LlmRequest) -> list[Any]:
    return [content.model_dump(exclude_none=True) for content in request.contents]


def test_append_keeps_instructions_and_tools_and_adds_a_block_after_the_search_result() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]])

    host.run()

    first, second, third = host.sent
    assert system(first) == system(second) == system(third)
    assert names(first) == names(third) == ["cms_createPage", "cms_searchImages", "cms_listPages", "tool_search"]
    assert sorted(host.calls[0].tools.available) == sorted(names(first))
    assert [step.call and step.call.host.front for step in host.steps] == [tuple(names(first))] * 3
    assert kinds(second) == ["user: text", "model: call", "user: result", "user: text"]
    assert blocks(second)[0].startswith("<system-reminder>\n<tool-usage-instructions>\n<cms_createPage>")
    assert wire(third)[: len(wire(second))] == wire(second)


def test_rewrite_puts_the_instructions_into_the_system_prompt_and_declares_tools_once_they_are_found() -> None:
    host = Host([[("tool_search", IMAGES)], [("tool_search", PAGES)]], "rewrite")

    host.run()

    assert all(system(r).startswith(s.system.strip()) for r, s in zip(host.sent, host.steps, strict=True))
    assert [names(request) for request in host.sent] == [
        ["tool_search"],
        ["cms_searchImages", "tool_search"],
        ["cms_createPage", "cms_searchImages", "tool_search"],
    ]
    assert [blocks(request) for request in host.sent] == [[], [], []]


def test_a_streamed_run_is_sent_the_same_and_its_conversation_is_kept() -> None:
    batches: list[Batch] = [[("tool_search", PAGES), ("tool_search", IMAGES)], [("cms_createPage", ABOUT)]]
    plain, streamed = Host(batches), Host(batches)

    plain.run()
    said = streamed.run(streamed=True)
    streamed.run("go on", streamed=True)

    assert said == ["do", "done"]
    assert [system(r) for r in streamed.sent[:3]] == [system(r) for r in plain.sent]
    assert [wire(r) for r in streamed.sent[:3]] == [wire(r) for r in plain.sent]
    assert [call.turn for call in streamed.calls] == [0, 1]


def test_blocks_come_after_the_last_result_of_a_parallel_batch() -> None:
    host = Host([[("tool_search", PAGES), ("tool_search", IMAGES)]])

    host.run()

    assert kinds(host.sent[1]) == ["user: text", "model: call call", "user: result result", "user: text", "user: text"]
    assert ["cms_createPage" in block for block in blocks(host.sent[1])] == [True, False]


def test_a_tool_that_is_not_active_is_refused_with_what_to_do_and_the_run_continues() -> None:
    host = Host([[("cms_createPage", ABOUT)], [("tool_search", PAGES), ("cms_createPage", ABOUT)]])

    said = host.run()

    refusal = "`cms_createPage` is not active. Call `tool_search` with what you want to do, then use what it finds."
    assert results(host.sent[1]) == [{"error": refusal}]
    assert results(host.sent[2])[2] == {"error": refusal}
    assert said[-1] == "done"
    assert host.calls[0].turn == 0


def test_searches_answer_with_names_and_a_message_and_wrong_ones_with_an_error() -> None:
    wrong: list[dict[str, Any]] = [{"query": "pages", "limit": 99}, {"query": "pages", "limit": "many"}, {}]
    host = Host([[("tool_search", PAGES)], *[[("tool_search", each)] for each in wrong]])

    host.run()

    assert results(host.sent[1]) == [engine().search_tools(**PAGES).to_json()]
    assert results(host.sent[2])[1] == {"error": "a search cannot return 99 tools: ask for 1 to 50 tools; 8 are usual"}
    assert results(host.sent[4])[3]["tools"] == []


def test_the_next_message_keeps_the_prompt_and_its_requests_begin_with_those_before() -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)], [], [("tool_search", IMAGES)]])

    host.run()
    host.run("now an image")

    assert len({system(request) for request in host.sent}) == 1
    for shorter, longer in pairwise(host.sent):
        assert wire(longer)[: len(wire(shorter))] == wire(shorter)
    assert [len(blocks(request)) for request in host.sent] == [0, 1, 1, 1, 2]


class Summary(BaseLlm):
    """Summarizes what is compacted."""

    model: str = "summary"

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="SUMMARY")]))


@pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL")  # ADK's own word for both ways
@pytest.mark.parametrize("how", ["compacted", "filtered"])
def test_what_the_last_message_before_a_compaction_has_found_stays(how: str) -> None:
    host = Host([[("tool_search", PAGES)], [], [("tool_search", IMAGES)]])
    summarizer = LlmEventSummarizer(llm=Summary())
    compaction = EventsCompactionConfig(compaction_interval=2, overlap_size=0, summarizer=summarizer)
    filters = [ContextFilterPlugin(num_invocations_to_keep=1)] if how == "filtered" else []
    app = App(
        name="site",
        root_agent=host.agent,
        plugins=[*filters, host.card],
        events_compaction_config=compaction if how == "compacted" else None,
    )
    host.runner = Runner(app=app, session_service=host.sessions)

    host.run()
    host.run("now an image")
    host.run("go on")

    assert {"cms_createPage", "cms_searchImages"} <= {*host.steps[-1].active_tools}
    sent = " ".join((system(host.sent[-1]), *texts(host.sent[-1])))
    assert [sent.count(f"<{name}>") for name in ("cms_createPage", "cms_searchImages")] == [1, 1]


def test_a_filter_that_would_take_instructions_out_is_refused_before_anything_is_sent() -> None:
    host = Host([[("tool_search", PAGES)]], plugins=[ContextFilterPlugin(num_invocations_to_keep=1)])

    told = "`context_filter_plugin` stands behind this plugin and would take instructions out of the contents"
    assert refused(host.run) == (Problem("wrong-argument", told, "put it in front of `cuecard`", "plugins"),)
    assert host.sent == []


def shorten(callback_context: Any, llm_request: LlmRequest) -> None:
    llm_request.contents = llm_request.contents[-2:]


def say_something_else(callback_context: Any, llm_request: LlmRequest) -> None:
    llm_request.config.system_instruction = "Be brief."


class Changing(BasePlugin):
    """Changes requests behind other plugins."""

    def __init__(self, change: Callable[..., None]) -> None:
        super().__init__("changing")
        self.change = change

    @override
    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        self.change(callback_context, llm_request)


@pytest.mark.parametrize("how", ["a plugin", "a callback of the agent"])
@pytest.mark.parametrize(
    ("change", "lost", "sent"),
    [
        (shorten, "instructions out of the contents", 3),  # the first two had them still
        (say_something_else, "the prompt out of the system instruction", 1),
    ],
)
def test_what_somebody_behind_the_plugin_takes_out_is_one_error_that_says_which_order_works(
    change: Callable[..., None], lost: str, sent: int, how: str
) -> None:
    """No plugin sees what callbacks of agents change before it is sent, so it is told before anything else is."""
    behind: Any = (
        {"plugins": [Changing(change)]} if how == "a plugin" else {"options": {"before_model_callback": change}}
    )
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], **behind)

    told = f"a callback or plugin behind `cuecard` takes {lost}"
    hint = "change requests in a plugin in front of `cuecard`, or add to what is there"
    assert refused(host.run) == (Problem("wrong-argument", told, hint, "before_model_callback"),)
    assert len(host.sent) == sent


def add(callback_context: Any, llm_request: LlmRequest) -> None:
    """As ADK's own examples do."""
    said = str(llm_request.config.system_instruction)
    llm_request.config.system_instruction = types.Content(role="system", parts=[types.Part(text=f"Be brief. {said}")])


def move(callback_context: Any, llm_request: LlmRequest) -> None:
    """As for models that take no system prompt."""
    said = types.Part(text=str(llm_request.config.system_instruction))
    llm_request.contents, llm_request.config.system_instruction = (
        [types.Content(role="user", parts=[said]), *llm_request.contents],
        None,
    )


def add_as_json(callback_context: Any, llm_request: LlmRequest) -> None:
    """As Google's client takes it, too."""
    said = str(llm_request.config.system_instruction)
    config: Any = llm_request.config
    config.system_instruction = {"role": "system", "parts": [{"text": "Be brief."}, {"text": said}]}


def move_and_empty(callback_context: Any, llm_request: LlmRequest) -> None:
    move(callback_context, llm_request)
    llm_request.config.system_instruction = ""


@pytest.mark.parametrize("change", [add, add_as_json, move, move_and_empty])
def test_who_stands_behind_the_plugin_may_say_more_or_move_the_prompt(change: Callable[..., None]) -> None:
    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], plugins=[Changing(change)])

    assert host.run() == ["done"]


def test_what_the_service_has_cached_is_not_taken_for_instructions_that_were_taken_out() -> None:
    class Caching(Scripted):
        @override
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            llm_request.contents, llm_request.config.cached_content = llm_request.contents[-1:], "caches/1"
            async for each in super().generate_content_async(llm_request, stream):
                yield each

    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]])
    host.agent.model = Caching(batches=list(host.batches))

    assert host.run() == ["done"]


def refused(work: Callable[[], Any]) -> tuple[Problem, ...]:
    """What is wrong, of which ADK makes an error of its own."""
    with pytest.raises(RuntimeError) as caught:
        work()
    assert isinstance(caught.value.__cause__, InputError)
    return caught.value.__cause__.problems


def test_another_process_continues_with_the_session(tmp_path: Path) -> None:
    path = str(tmp_path / "sessions.db")
    first = Host([[("tool_search", PAGES)]], sessions=SqliteSessionService(path))
    first.run()
    second = Host([[("cms_createPage", ABOUT)]], sessions=SqliteSessionService(path))

    second.run("now create it")

    assert [call.turn for call in second.calls] == [1]
    assert system(second.sent[0]) == system(first.sent[0])
    assert wire(second.sent[0])[: len(wire(first.sent[-1]))] == wire(first.sent[-1])
    assert results(second.sent[1])[1] == cms_createPage("About")


def test_a_tool_that_waits_for_a_person_runs_in_another_process_and_the_call_continues() -> None:
    confirmed = FunctionTool(cms_createPage, require_confirmation=True)
    sessions = InMemorySessionService()
    first = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], tools=[confirmed], sessions=sessions)
    first.run()
    second = Host([], tools=[confirmed], sessions=sessions)

    async def confirm() -> list[Any]:
        session = await sessions.get_session(app_name="site", user_id="ann", session_id="one")
        assert session is not None
        asked = next(
            call
            for event in session.events
            for call in event.get_function_calls()
            if call.name == "adk_request_confirmation"
        )
        answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
        message = types.Content(role="user", parts=[types.Part(function_response=answer)])
        return [e async for e in second.runner.run_async(user_id="ann", session_id="one", new_message=message)]

    asyncio.run(confirm())

    assert second.calls == []
    assert [step.active_tools for step in second.steps] == [("tool_search", "cms_createPage")]
    assert results(second.sent[0])[-1] == cms_createPage("About")


def test_agents_that_are_not_named_keep_their_own_prompt_and_transfers_go_back_and_forth() -> None:
    front_model = Scripted(batches=[[("transfer_to_agent", {"agent_name": "cms"})]])
    model = Scripted(
        batches=[
            [("tool_search", PAGES)],
            [("transfer_to_agent", {"agent_name": "front"})],
            [("cms_createPage", ABOUT)],
        ]
    )
    front_model.batches.append([("transfer_to_agent", {"agent_name": "cms"})])
    cms = LlmAgent(name="cms", model=model, tools=TOOLS, instruction="You are the CMS agent.")
    front = LlmAgent(name="front", model=front_model, instruction="You greet.", sub_agents=[cms])
    run = runner(front, Cuecard(engine(), turn=Turn(now=NOW), agents=["cms"]))

    said = asyncio.run(talk(run, "hello"))

    assert said == ["done"]
    assert all(system(request).startswith("You greet.") for request in front_model.sent)
    assert ["tool_search" in names(request) for request in front_model.sent] == [False, False]
    assert len({system(request) for request in model.sent}) == 1
    assert [len(blocks(request)) for request in model.sent] == [0, 1, 1, 1]
    assert results(model.sent[-1])[-1] == cms_createPage("About")
    assert wire(model.sent[1])[: len(wire(model.sent[0]))] == wire(model.sent[0])
    assert wire(model.sent[3])[: len(wire(model.sent[2]))] == wire(model.sent[2])


@pytest.mark.filterwarnings("ignore:ParallelAgent is deprecated")  # it is what people have
def test_agents_that_run_side_by_side_have_conversations_of_their_own() -> None:
    one, two = Scripted(batches=[[("tool_search", PAGES)]]), Scripted(batches=[[("tool_search", IMAGES)]])
    both = ParallelAgent(
        name="both",
        sub_agents=[LlmAgent(name="one", model=one, tools=TOOLS), LlmAgent(name="two", model=two, tools=TOOLS)],
    )

    asyncio.run(talk(runner(both, Cuecard(engine(), turn=Turn(now=NOW))), "hello"))

    assert ["cms_createPage" in block for block in blocks(one.sent[1])] == [True]
    assert ["cms_searchImages" in block for block in blocks(two.sent[1])] == [True]


def test_an_agent_that_sees_one_turn_at_a_time_has_a_conversation_for_each() -> None:
    host = Host([[("tool_search", PAGES)], [], [("cms_createPage", ABOUT)]], options={"include_contents": "none"})

    host.run()
    host.run("now create it")

    assert [call.turn for call in host.calls] == [0, 0]
    assert "is not active" in results(host.sent[-1])[0]["error"]


def test_where_the_service_keeps_the_conversation_nothing_is_appended_and_the_manifest_says_so() -> None:
    class Interactions(Scripted):
        use_interactions_api: bool = True

    model, steps = Interactions(batches=[[("tool_search", PAGES)]]), list[Step]()
    agent = LlmAgent(name="cms", model=model, tools=TOOLS)

    asyncio.run(talk(runner(agent, Cuecard(engine(), turn=Turn(now=NOW), on_step=steps.append)), "hello"))

    assert [names(request) for request in model.sent] == [["tool_search"], ["cms_createPage", "tool_search"]]
    assert "<cms_createPage>" in system(model.sent[1])
    delivery = steps[0].manifest.delivery
    assert (delivery.name, delivery.host) == ("rewrite", "system-only")
    assert delivery.reason.startswith("instead of append: the host can only set the system prompt")


def test_a_session_continues_after_the_tools_have_changed() -> None:
    sessions = InMemorySessionService()
    Host([[("tool_search", PAGES)]], sessions=sessions).run()
    second = Host([[("cms_createPage", ABOUT)]], sessions=sessions)
    second.card.engine = engine().with_tools([ToolCard("cms_newTool", "does something new")])

    second.run("go on")

    assert [call.turn for call in second.calls] == [1]
    assert results(second.sent[1])[1] == cms_createPage("About")


class Some(BaseToolset):
    """Tools of which the host takes some away."""

    there: Sequence[Any] = ()

    @override
    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        return [FunctionTool(each) for each in self.there]

    @override
    async def close(self) -> None: ...


def test_a_tool_that_the_host_takes_away_is_refused_and_its_declaration_stays_where_it_was() -> None:
    some, steps = Some(), list[Step]()
    some.there = [cms_createPage, cms_searchImages]
    plugin = Cuecard(engine(), turn=Turn(now=NOW), on_step=steps.append)
    model = Scripted(batches=[[("tool_search", PAGES)], [], [("cms_createPage", ABOUT)]])
    run = runner(LlmAgent(name="cms", model=model, tools=[some]), plugin)
    asyncio.run(talk(run, "hello"))
    some.there = [cms_searchImages]
    asyncio.run(talk(run, "more"))

    assert ["cms_createPage" in step.active_tools for step in steps] == [False, True, False, False]
    assert [names(request) for request in model.sent] == [names(model.sent[0])] * 4
    assert "cms_createPage" in str(texts(model.sent[2])).partition("withdrawn-tools")[2]
    assert "error" in results(model.sent[3])[-1]
    assert all(wire(after)[: len(wire(before))] == wire(before) for before, after in pairwise(model.sent))


def test_an_agent_that_is_none_of_the_app_is_refused() -> None:
    host = Host([], agents=["nobody", "cmss", "cms"])

    problems = [("cmss", did_you_mean("cmss", ["cms"])), ("nobody", did_you_mean("nobody", ["cms"]))]
    assert refused(host.run) == tuple(
        Problem("wrong-argument", f"the app has no agent named `{name}`", hint, "agents") for name, hint in problems
    )
    assert "cms" in problems[0][1]
    assert host.sent == []


def test_a_wrong_turn_is_refused_before_any_request() -> None:
    host = Host([], turn=Turn(inputs={"nobody": 1}, now=NOW))

    with pytest.raises(RuntimeError, match="`nobody` is not an input of this agent"):
        host.run()

    assert host.sent == []


def test_arguments_are_refused_with_all_that_is_wrong() -> None:
    with pytest.raises(InputError, match=r"(?s)engine.*turn.*on_step"):
        Cuecard("prompts/cms", turn=4, on_step=3)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("held", ["text", 5, {"conversation": 3}, {"conversation": "{"}], ids=str)
def test_a_state_that_holds_no_conversation_is_refused(held: Any) -> None:
    host = Host([])
    at: dict[str, Any] = {"app_name": "site", "user_id": "ann", "session_id": "one"}
    asyncio.run(host.sessions.create_session(**at, state={"cuecard:cms": held}))

    with pytest.raises(RuntimeError, match="bad-conversation"):
        host.run()

    assert host.sent == []


@pytest.mark.filterwarnings("ignore:agent .* has no tool")
def test_tools_that_the_catalogue_does_not_know_are_left_to_the_host() -> None:
    def send_email() -> str:
        return "sent"

    host = Host([[("send_email", {})]], "rewrite", tools=[send_email, *TOOLS])

    host.run()

    assert [names(request) for request in host.sent] == [["send_email", "tool_search"]] * 2
    assert results(host.sent[1]) == [{"result": "sent"}]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (Turn(now=NOW), ("scripted", "user", "messages")),
        (Turn(now=NOW, model="gpt-5", authority="system", host="system-only"), ("gpt-5", "system", "system-only")),
    ],
)
def test_the_manifest_says_that_instructions_have_the_authority_of_the_user(
    turn: Turn, told: tuple[str, str, str]
) -> None:
    host = Host([], turn=turn)

    host.run()

    delivery = host.steps[0].manifest.delivery
    assert (delivery.model, delivery.authority, delivery.host) == told


def test_the_tools_of_a_turn_are_those_that_it_names() -> None:
    host = Host([], turn=Turn(now=NOW, tools=("tool_search", "cms_listPages")))

    host.run()

    assert {*host.calls[0].tools.available} == {"tool_search", "cms_listPages"}


def test_an_exception_is_told_by_agents_that_have_the_prompt_and_raised_by_others() -> None:
    def work() -> str:
        raise OSError("the disk is full")

    def run(*agents: str) -> list[LlmRequest]:
        model = Scripted(batches=[[("work", {})]])
        inner, mine = LlmAgent(name="mine"), Cuecard(engine(), agents=agents, handle_tool_errors="Try later.")
        agent = LlmAgent(name="cms", model=model, tools=[work], sub_agents=[inner])
        asyncio.run(talk(runner(agent, mine), "hello"))
        return model.sent

    with pytest.warns(UserWarning, match="no entry for the tool `work`$"):  # ADK's own `transfer_to_agent` needs none
        assert results(run("cms")[1]) == [{"error": "Try later."}]
    with pytest.raises(OSError, match="the disk is full"):
        run("mine")


def test_thirty_runs_at_once_do_not_see_each_other() -> None:
    """One app, one plugin: each session has its own memory, and every other one its own discovery."""
    seen: dict[str, list[tuple[str, list[str]]]] = {}

    class Deciding(Scripted):
        @override
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            name = texts(llm_request)[0]
            seen.setdefault(name, []).append((system(llm_request), names(llm_request)))
            await asyncio.sleep(0)
            call = types.FunctionCall(name="tool_search", args=PAGES if int(name) % 2 else IMAGES)
            part = types.Part(text=name) if results(llm_request) else types.Part(function_call=call)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def turn(context: Any) -> Turn:
        number = context.session.id
        return Turn(memory=Memory((Entity("page", f"page-{number}", f"Page {number}"),)), now=NOW)

    agent = LlmAgent(name="cms", model=Deciding(), tools=TOOLS)
    run = runner(agent, Cuecard(engine("rewrite"), turn=turn))

    async def run_all() -> list[list[str]]:
        return await asyncio.gather(*[talk(run, str(n), session=str(n)) for n in range(30)])

    assert asyncio.run(run_all()) == [[str(n)] for n in range(30)]
    for name, requests in seen.items():
        assert [f'"Page {n}"' in text for text, _ in requests for n in range(30)] == [
            n == int(name) for n in range(30)
        ] * 2
        assert requests[1][1] == ["cms_createPage" if int(name) % 2 else "cms_searchImages", "tool_search"]


FOUND: list[tuple[Any, bool]] = [
    (["cms_createPage"], True),
    ({"tools": ["cms_createPage"]}, True),
    ('{"tools": ["cms_createPage"]}', True),
    ({"result": [{"name": "cms_createPage"}]}, True),
    ([{"tool_name": "cms_createPage"}], True),
    ({"content": [{"type": "text", "text": '["cms_createPage"]'}]}, True),
    ({"tools": [f"tool_{number}" for number in range(5000)] + ["cms_createPage"]}, True),
    ("cms_createPage", False),
    ({"isError": True, "tools": ["cms_createPage"]}, False),
    ({"error": "no such index", "tools": ["cms_createPage"]}, False),
    (None, False),
    (7, False),
]


@pytest.mark.parametrize(("result", "found"), FOUND, ids=[str(number) for number in range(len(FOUND))])
def test_a_search_tool_of_the_hosts_own_is_read_whatever_it_gives(result: Any, found: bool) -> None:  # noqa: FBT001 - a parameter of the test
    def tool_search(query: str) -> Any:
        return result

    host = Host([[("tool_search", {"query": "create a page"})]], tools=[tool_search, *TOOLS])

    host.run()

    assert names(host.sent[0]) == ["tool_search", "cms_createPage", "cms_searchImages", "cms_listPages"]
    assert ("cms_createPage" in host.steps[-1].active_tools) is found


def test_results_are_told_apart_by_ids_also_where_the_request_has_none_and_they_say_the_same() -> None:
    search = ("tool_search", PAGES)
    host = Host([[search, search], [("cms_createPage", ABOUT), ("cms_createPage", ABOUT)]])

    host.run()

    responses = [p.function_response for c in host.sent[2].contents for p in c.parts or () if p.function_response]
    assert [response.id for response in responses] == [None] * 4
    assert kinds(host.sent[2])[:4] == ["user: text", "model: call call", "user: result result", "user: text"]
    assert len(blocks(host.sent[2])) == 1


@pytest.mark.parametrize("ids", [["x", "y"], ["same", "same"]], ids=["own", "repeated"])
def test_call_ids_of_the_models_own_are_kept_also_where_it_repeats_them(ids: list[str]) -> None:
    class WithIds(Scripted):
        @override
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            number = len(self.sent)
            async for response in super().generate_content_async(llm_request, stream):
                for part in (response.content and response.content.parts) or ():
                    if part.function_call:
                        part.function_call.id = ids[number]
                yield response

    model, steps = WithIds(batches=[[("tool_search", PAGES)], [("tool_search", IMAGES)]]), list[Step]()
    agent = LlmAgent(name="cms", model=model, tools=TOOLS)

    asyncio.run(talk(runner(agent, Cuecard(engine(), turn=Turn(now=NOW), on_step=steps.append)), "hello"))

    assert steps[-1].active_tools == ("tool_search", "cms_createPage", "cms_searchImages")
    assert wire(model.sent[2])[: len(wire(model.sent[1]))] == wire(model.sent[1])


def test_images_are_the_users_words() -> None:
    host = Host([[("tool_search", PAGES)]])
    picture = types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png"))

    async def say() -> None:
        await host.runner.session_service.create_session(app_name="site", user_id="ann", session_id="one")
        message = types.Content(role="user", parts=[picture])
        _ = [e async for e in host.runner.run_async(user_id="ann", session_id="one", new_message=message)]

    asyncio.run(say())

    assert kinds(host.sent[1]) == ["user: text", "model: call", "user: result", "user: text"]


def test_a_tool_that_raises_ends_the_run_as_it_does_without_the_plugin_and_the_session_continues() -> None:
    def cms_createPage(title: str) -> str:  # noqa: N802 - the same
        raise OSError("the disk is full")

    host = Host([[("tool_search", PAGES)], [("cms_createPage", ABOUT)]], tools=[cms_createPage])
    with pytest.raises(OSError, match="the disk is full"):
        host.run()

    host.run("again")

    assert [call.turn for call in host.calls] == [0, 1]
    assert len(blocks(host.sent[-1])) == 1


def test_a_version_of_adk_that_lacks_something_is_refused_with_the_versions_that_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("google.adk.plugins.base_plugin.BasePlugin")

    with pytest.raises(InputError) as caught:
        run_path(adk.__file__)
    assert "the adapter needs google-adk>=2.13" in str(caught.value)
    assert 'pip install "cuecard[adk]"' in str(caught.value)


def test_a_live_session_is_refused_before_anything_is_sent() -> None:
    host = Host([])

    async def live() -> None:
        await host.runner.session_service.create_session(app_name="site", user_id="ann", session_id="one")
        queue = LiveRequestQueue()
        async for _ in host.runner.run_live(user_id="ann", session_id="one", live_request_queue=queue):
            raise AssertionError("nothing is said")

    told = "a live session (`run_live`) is one connection, so no model request could have its prompt"
    hint = "use `runner.run_async`, or run live sessions in an app without this plugin"
    assert refused(lambda: asyncio.run(live())) == (Problem("wrong-argument", told, hint, "run_live"),)
    assert host.sent == []


class Answer(BaseModel):
    """What an agent ends with."""

    number: int


def test_the_tool_by_which_adk_ends_an_agent_needs_no_entry() -> None:
    model = Scripted(batches=[[("set_model_response", {"number": 1})]])
    agent = LlmAgent(name="cms", model=model, tools=[cms_createPage, lambda: "x"], output_schema=Answer)

    with pytest.warns(UserWarning, match="no entry for the tool `<lambda>`$"):
        asyncio.run(talk(runner(agent, Cuecard(engine())), "hello"))

    assert "set_model_response" in names(model.sent[0])
