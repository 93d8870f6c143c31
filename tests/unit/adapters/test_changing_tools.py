"""Tools that a host takes away and gives back, in LangChain's agents and in the conversations beneath all adapters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    LLMToolSelectorMiddleware,
    ModelRequest,
    ModelResponse,
)
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import override

from cms_agent import cms as engine
from cuecard import Engine, InputError, Problem, Step, ToolResult, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.langchain import Cuecard
from cuecard.types import Delivery, Diagnostic
from unit.adapters.graph_models import Model
from unit.adapters.model_server import Calls

pytestmark = pytest.mark.filterwarnings("ignore:agent `cms`. entry:UserWarning")  # one tool is enough here

PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
CREATE: Calls = [("cms_createPage", {"title": "About"})]
RAN: list[str] = []
ORDER = "name those that change messages in front of it: middleware=[Trimming(), Cuecard(...), Permission()]"


@tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    """Create a page."""
    RAN.append(title)
    return {"success": True}


@tool
def own_tool(text: str) -> str:
    """A tool that the catalogue does not know."""
    RAN.append(text)
    return text


class Permission(AgentMiddleware[Any, Any, Any]):
    """Takes a tool away from requests, by the number of the request."""

    def __init__(self, name: str, allowed: Callable[[int], bool]) -> None:
        super().__init__()
        self.tool, self.allowed, self.requests = name, allowed, 0

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        self.requests += 1
        left = [each for each in request.tools if getattr(each, "name", "") != self.tool]
        return handler(request if self.allowed(self.requests) else request.override(tools=left))


def talk(
    permission: Permission, *batches: Calls, behind: bool, delivery: Delivery = "append", asked: Sequence[str] = ("go",)
) -> tuple[Model, list[Step]]:
    """What the model was sent by an agent whose permissions stand in front of the card, or behind it."""
    RAN.clear()
    steps: list[Step] = []
    model = Model(batches=batches)
    card = Cuecard(engine=engine(delivery=delivery), turn=Turn(), on_step=steps.append)
    agent = create_agent(
        model,
        [cms_createPage, own_tool],
        middleware=[card, permission] if behind else [permission, card],
        checkpointer=InMemorySaver(),
    )
    for said in asked:
        agent.invoke({"messages": [HumanMessage(said)]}, {"configurable": {"thread_id": "one"}})
    return model, steps


def texts(messages: Sequence[BaseMessage]) -> list[str]:
    return [f"{message.type}: {message.content}" for message in messages]


@pytest.mark.parametrize("behind", [False, True])
def test_a_tool_that_was_taken_away_within_a_run_does_not_run_and_the_model_is_told(behind: bool) -> None:  # noqa: FBT001 - a parameter
    taken = Permission("cms_createPage", lambda request: request < 3)
    model, steps = talk(taken, [("tool_search", PAGES)], [("tool_search", PAGES)], CREATE, behind=behind)

    told = [
        sum("<withdrawn-tools>\ncms_createPage" in text.replace("`", "") for text in texts(each))
        for each in model.requests
    ]
    assert told == [0, 0, 1, 1]
    assert RAN == []
    assert all(texts(now)[: len(before)] == texts(before) for before, now in pairwise(model.requests))
    assert model.bound == [model.bound[0]] * 4
    assert "cms_createPage" in model.bound[0]
    assert "cms_createPage" not in steps[-1].active_tools
    assert any(cut.what == "cms_createPage" and "taken away" in cut.reason for cut in steps[-1].manifest.cuts)
    refused = [each for each in model.requests[-1] if isinstance(each, ToolMessage)][-1]
    assert refused.status == "error"
    assert "no longer there" in str(refused.content)


@pytest.mark.parametrize("behind", [False, True])
def test_a_tool_that_is_back_runs_and_the_model_is_told(behind: bool) -> None:  # noqa: FBT001 - a parameter
    taken = Permission("cms_createPage", lambda request: request != 2)
    model, steps = talk(taken, [("tool_search", PAGES)], [("tool_search", PAGES)], CREATE, behind=behind)

    assert [sum("<restored-tools>" in text for text in texts(each)) for each in model.requests] == [0, 0, 1, 1]
    assert RAN == ["About"]
    assert all(texts(now)[: len(before)] == texts(before) for before, now in pairwise(model.requests))
    assert "cms_createPage" in steps[-1].active_tools
    instructions = [text for text in texts(model.requests[-1]) if "<cms_createPage>" in text]
    assert len(instructions) == 1
    assert not any("taken away" in cut.reason for cut in steps[-1].manifest.cuts)


@pytest.mark.parametrize("behind", [False, True])
def test_a_definition_stays_in_front_between_messages(behind: bool) -> None:  # noqa: FBT001 - a parameter
    taken = Permission("cms_createPage", lambda request: request < 3)
    model, steps = talk(taken, [("tool_search", PAGES)], [], CREATE, behind=behind, asked=("one", "two"))

    assert model.bound == [model.bound[0]] * len(model.bound)
    assert all(texts(now)[: len(before)] == texts(before) for before, now in pairwise(model.requests))
    assert RAN == []
    assert sum("<withdrawn-tools>" in text for text in texts(model.requests[-1])) == 1
    assert "cms_createPage" not in steps[-1].active_tools


def test_a_tool_that_the_catalogue_does_not_know_is_refused_once_it_is_gone() -> None:
    taken = Permission("own_tool", lambda request: request < 2)
    calls: Calls = [("own_tool", {"text": "x"})]
    model, _ = talk(taken, calls, calls, behind=False)

    assert RAN == ["x"]
    assert sum("<withdrawn-tools>" in text for text in texts(model.requests[-1])) == 1


@pytest.mark.parametrize("behind", [False, True])
def test_under_rewrite_a_tool_that_is_gone_leaves_the_prompt(behind: bool) -> None:  # noqa: FBT001 - a parameter
    taken = Permission("cms_createPage", lambda request: request < 3)
    model, steps = talk(
        taken, [("tool_search", PAGES)], [("tool_search", PAGES)], CREATE, behind=behind, delivery="rewrite"
    )

    shown = ["<cms_createPage>" in texts(request)[0] for request in model.requests]
    assert shown == [False, True, False, False]
    assert ["cms_createPage" in names for names in model.bound] == shown
    assert RAN == []
    assert "cms_createPage" not in steps[-1].active_tools


def shop(folder: Path, **more: str) -> Engine:
    """An agent whose results have templates."""
    (folder / "agent.yaml").write_text(
        "agent: shop\ndelivery: append\ntools: {instructions: tools.yaml}\nsections: [{id: role, text: A shop.}]\n"
        "results:\n" + "".join(f"  {tool}: {rule}\n" for tool, rule in more.items())
    )
    (folder / "tools.yaml").write_text("category: q\ndescribed: {tool_search: {description: Find tools}}\n")
    return Engine.open(folder)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [("{head: 12}", "4,000 of 4,012 characters left out"), ('"{{result.id}}"', "3 of 4,034 characters told")],
)
def test_a_result_that_a_template_shortens_is_a_cut_with_its_size(tmp_path: Path, rule: str, reason: str) -> None:
    text = "Payment fail" + "x" * 4000
    returned: Any = text if "head" in rule else {"id": "o-1", "t": text}

    @tool
    def own_tool() -> Any:
        """Say something."""
        return returned

    steps: list[Step] = []
    card = Cuecard(engine=shop(tmp_path, own_tool=rule), turn=Turn(), on_step=steps.append)
    agent = create_agent(Model(batches=[[("own_tool", {})]]), [own_tool], middleware=[card])
    agent.invoke({"messages": [HumanMessage("go")]})

    (cut,) = [cut for cut in steps[-1].manifest.cuts if cut.what == "own_tool"]
    assert reason in cut.reason
    assert cut.tokens > 400


def test_only_a_host_that_renders_its_results_has_their_cuts(tmp_path: Path) -> None:
    engine = shop(tmp_path, own_tool="{head: 12, unit: tokens}")
    chat = engine.conversation()
    chat.user(Turn())
    unseen = "one\u200b " * 400
    texts = ("brief", unseen, f"\u200b{unseen}", f"{'one ' * 12}{' ' * 60}x")  # the last loses fewer tokens than say so
    results = [ToolResult("own_tool", text, call) for text, call in zip(texts, ("1", "2", None, "4"), strict=True)]

    assert [cut.what for cut in chat.step(results).manifest.cuts if "shortened" in cut.reason] == []
    chat.user(Turn())
    made = chat.step([replace(each, call_id=each.call_id and f"{each.call_id}b") for each in results], templates=True)
    told = "shortened by `results` (own_tool): 389 of 401 tokens left out"
    less = [engine.count(text) - engine.count(engine.render_result(results[1]).text) for text in texts]
    assert [(cut.what, cut.reason, cut.tokens) for cut in made.manifest.cuts if "shortened" in cut.reason] == [
        ("own_tool", f"result 2b {told}", less[1]),
        ("own_tool", f"result {told}", less[2]),
        ("own_tool", "result 4b shortened by `results` (own_tool): 2 of 14 tokens left out", 0),
    ]
    removed = "characters that nobody sees, and that were removed: "
    assert made.manifest.diagnostics == tuple(Diagnostic("invisible_characters", f"{removed}{n}") for n in (400, 401))


class Trimming(AgentMiddleware[Any, Any, Any]):
    """Sends no more than the last messages."""

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        return handler(request.override(messages=request.messages[-3:]))


def test_other_messages_and_other_tools_behind_the_card_are_one_error_that_says_which_order_works() -> None:
    card = Cuecard(engine=engine(), turn=Turn())
    taken = Permission("cms_createPage", lambda _: False)
    agent = create_agent(Model(), [cms_createPage], middleware=[card, Trimming(), taken])

    with pytest.raises(InputError) as caught:
        agent.invoke({"messages": [HumanMessage("go")]})

    told = "middlewares behind `Cuecard` change the messages of a request and its tools"
    assert caught.value.problems == (Problem("wrong-argument", told, ORDER, "middleware"),)


class Reminding(AgentMiddleware[Any, Any, Any]):
    """Says one thing more."""

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        return handler(request.override(messages=[*request.messages, HumanMessage("in short")]))


def test_a_middleware_behind_the_card_may_say_more_and_another_hand_the_tools_on() -> None:
    model, kept = Model(), Permission("", lambda _: False)  # takes none away
    agent = create_agent(model, [cms_createPage], middleware=[Cuecard(engine=engine()), Reminding(), kept])
    agent.invoke({"messages": [HumanMessage("go")]})

    assert model.requests[-1][-1].content == "in short"


class Selecting(Model):
    """Selects tools for another model: all but one, from the third time on."""

    asked: int = 0

    @override
    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        def select(_: Any) -> dict[str, list[str]]:
            self.asked += 1
            return {"tools": ["own_tool"] if self.asked > 2 else ["own_tool", "cms_createPage"]}

        return RunnableLambda(select)


@pytest.mark.parametrize("behind", [False, True])
def test_langchains_own_selection_of_tools_works_on_either_side_of_the_card(behind: bool) -> None:  # noqa: FBT001 - a parameter
    RAN.clear()
    steps: list[Step] = []
    model = Model(batches=[[("tool_search", PAGES)], [("tool_search", PAGES)], CREATE])
    card = Cuecard(engine=engine(), turn=Turn(), on_step=steps.append)
    selector = LLMToolSelectorMiddleware(model=Selecting(), always_include=["tool_search"])
    around: list[Any] = [card, selector] if behind else [selector, card]
    agent = create_agent(model, [cms_createPage, own_tool], middleware=around)
    agent.invoke({"messages": [HumanMessage("go")]})

    assert RAN == []
    assert "cms_createPage" not in steps[-1].active_tools
    assert [sum("<withdrawn-tools>" in text for text in texts(each)) for each in model.requests] == [0, 0, 1, 1]
    assert all(texts(now)[: len(before)] == texts(before) for before, now in pairwise(model.requests))
    assert model.bound == [model.bound[0]] * 4


def clearing() -> ContextEditingMiddleware:
    """Takes out what old tools gave, whatever they gave."""
    return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=1)])


@pytest.mark.parametrize("behind", [False, True])
def test_langchains_own_editing_of_results_keeps_instructions_on_either_side_of_the_card(behind: bool) -> None:  # noqa: FBT001 - a parameter
    RAN.clear()
    model = Model(batches=[[("tool_search", PAGES)], CREATE, CREATE])
    card = Cuecard(engine=engine(), turn=Turn())
    around: list[Any] = [card, clearing()] if behind else [clearing(), card]
    create_agent(model, [cms_createPage], middleware=around).invoke({"messages": [HumanMessage("go")]})

    assert RAN == ["About", "About"]
    assert "[cleared]" in str(texts(model.requests[-1]))
    assert [sum("<cms_createPage>" in text for text in texts(each)) for each in model.requests] == [0, 1, 1, 1]


def test_a_middleware_behind_the_card_that_takes_instructions_out_is_one_error_that_says_which_order_works() -> None:
    model = Model(batches=[[("tool_search", PAGES)], CREATE, CREATE, CREATE])
    agent = create_agent(model, [cms_createPage], middleware=[Cuecard(engine=engine(), turn=Turn()), Trimming()])

    with pytest.raises(InputError) as caught:
        agent.invoke({"messages": [HumanMessage("go")]})

    told = "a middleware behind `Cuecard` takes instructions out of the messages"
    assert caught.value.problems == (Problem("wrong-argument", told, ORDER, "middleware"),)


class Adding(AgentMiddleware[Any, Any, Any]):
    @override
    def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        return handler(request.override(tools=[*request.tools, own_tool]))


def test_a_tool_that_a_middleware_behind_the_card_adds_is_one_of_the_request() -> None:
    """Although the card sees each request without it first."""
    model = Model(batches=[[("tool_search", PAGES)], CREATE])
    agent = create_agent(model, [cms_createPage], middleware=[Cuecard(engine=engine(), turn=Turn()), Adding()])
    agent.invoke({"messages": [HumanMessage("go")]})

    assert model.bound == [["tool_search", "cms_createPage", "own_tool"]] * 3
    assert [len(each) for each in model.requests] == [2, 5, 7]


def test_a_definition_that_came_is_a_named_baseline() -> None:
    taken = Permission("cms_createPage", lambda request: request > 1)
    _, steps = talk(taken, [("tool_search", PAGES)], CREATE, behind=False)

    told = [[cut.reason for cut in step.manifest.cuts if cut.what == "baseline"] for step in steps]
    assert told[0] == []
    assert told[1] == ["the definitions in front of the request changed: `cms_createPage` came"]


def test_what_came_and_what_left_at_once_is_one_reason() -> None:
    chat = engine().conversation()
    chat.user(Turn())
    chat.in_front(chat.step(), ("a", "b"))
    (cut,) = (cut for cut in chat.in_front(chat.step(), ("b", "c")).manifest.cuts if cut.what == "baseline")

    assert cut.reason == "the definitions in front of the request changed: `c` came, `a` left"


def test_in_another_process_a_definition_that_nobody_has_any_more_is_a_named_baseline() -> None:
    saver, steps = InMemorySaver(), list[Step]()
    thread: Any = {"configurable": {"thread_id": "one"}}
    for tools in ([cms_createPage, own_tool], [own_tool], [own_tool]):
        card = Cuecard(engine=engine(), turn=Turn(), on_step=steps.append)
        agent = create_agent(Model(), tools, middleware=[card], checkpointer=saver)
        agent.invoke({"messages": [HumanMessage("go")]}, thread)

    told = [[cut.reason for cut in step.manifest.cuts if cut.what == "baseline"] for step in steps]
    assert told == [[], ["the definitions in front of the request changed: `cms_createPage` left"], []]


def test_a_brought_tool_whose_definition_nobody_has_any_more_is_a_named_baseline() -> None:
    chat, own, more = engine(delivery="frozen").conversation(), ("tool_search", "cms_createPage"), "cms_listPages"
    for tools in (own, (*own, more)):
        chat.user(Turn(tools=tools))
        step = chat.in_front(chat.step(tools=tools), own, tools[2:])
    assert more in step.brought
    gone = [chat.in_front(chat.step(tools=own), own) for _ in range(2)]

    told = [[cut.reason for cut in each.manifest.cuts if cut.what == "baseline"] for each in (step, *gone)]
    assert told == [[], *[[f"the definitions in front of the request changed: `{more}` left"]] * 2]


def test_an_announced_tool_whose_definition_comes_and_goes_is_a_named_baseline_each_time() -> None:
    chat, own, more = engine(delivery="frozen").conversation(), ("tool_search", "cms_createPage"), "cms_listPages"
    chat.user(Turn(tools=own))
    steps = [
        chat.in_front(chat.step(tools=(*own, *defined)), own, defined, announced)
        for defined, announced in [((), ()), ((more,), (more,)), ((), (more,)), ((more,), (more,))]
    ]

    told = [[cut.reason.partition("changed: ")[2] for cut in s.manifest.cuts if cut.what == "baseline"] for s in steps]
    assert told == [[], [], [f"`{more}` left"], [f"`{more}` left", f"`{more}` came"]]


def test_a_chat_that_is_cleared_with_its_conversation_tells_nothing_of_before() -> None:
    model = Model(batches=[[("tool_search", PAGES)], CREATE], counts=True)
    card = Cuecard(engine=engine(), turn=Turn())
    agent = create_agent(model, [cms_createPage], middleware=[card], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "one"}}
    agent.invoke({"messages": [HumanMessage("go")]}, thread)
    agent.update_state(thread, {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)], "cuecard": None})
    agent.invoke({"messages": [HumanMessage("I am new here")]}, thread)

    assert [message.type for message in model.requests[-1]] == ["system", "human"]
    assert "<cms_createPage>" not in str(model.requests[-1])


@pytest.mark.parametrize(
    ("config", "said", "named"),
    [
        ({"thread_id": "one"}, "", "one"),
        ({"thread_id": "one"}, "mine", "mine"),
        ({"thread_id": 7}, "", "7"),
        ({}, "", ""),
    ],
)
def test_spans_of_a_graph_name_its_thread(config: Any, said: str, named: str) -> None:
    calls: list[str] = []
    turn = Turn(conversation=said)
    card = Cuecard(engine=engine(), turn=turn, on_call=lambda call: calls.append(call.conversation))
    agent = create_agent(Model(), [cms_createPage], middleware=[card])
    agent.invoke({"messages": [HumanMessage("go")]}, {"configurable": config} if config else None)
    other = langgraph.Cuecard(engine=engine(), on_call=lambda call: calls.append(call.conversation))
    other.prepare(Model(), [HumanMessage("go")], turn=turn)

    assert calls == [named, said]


class Named(Model):
    """A model with a name."""

    model_name: str = "claude-sonnet-4-6"


def test_a_wrapped_model_keeps_its_name_and_role() -> None:
    model, card = Named(), langgraph.Cuecard(engine=engine())
    wrapped: Any = model.bind(stop=["x"]).with_fallbacks([model])
    plain, other = (card.prepare(each, [HumanMessage("x")], [card.search_tool]).step for each in (model, wrapped))

    assert other.manifest.delivery == plain.manifest.delivery
    assert other.manifest.delivery.model == "claude-sonnet-4-6"


@pytest.mark.parametrize("blank", ["", " \n", [], [{"type": "text", "text": " "}]])
def test_texts_that_nobody_can_read_do_not_reach_claude(blank: Any) -> None:
    card, model = langgraph.Cuecard(engine=engine()), init_chat_model("anthropic:claude-opus-4-8", api_key="none")
    said: list[BaseMessage] = [HumanMessage("go")]
    said += [AIMessage(blank, tool_calls=[{"name": "look", "args": {}, "id": "c"}])]
    said += [ToolMessage(blank, tool_call_id="c"), AIMessage(blank), HumanMessage(blank)]
    half: list[Any] = [{"type": "text", "text": ""}, {"type": "text", "text": "seen"}]
    said += [AIMessage(half), ToolMessage(["seen"], tool_call_id="d"), AIMessage([{"type": "image", "url": "u"}])]
    sent = card.prepare(model, said, [card.search_tool]).conversation

    assert [message.content for message in sent] == [
        *("go", "", "(no result)", "(no answer)", blank),
        *(message.content for message in said[-3:]),
    ]


SEVERAL = ConfigurableField(id="model")
CHOICES: dict[str, Callable[[], Any]] = {
    "alternatives": lambda: Named().configurable_alternatives(SEVERAL, opus=Named(model_name="claude-opus-4-8")),
    "a field": lambda: Named().configurable_fields(model_name=SEVERAL),
    "init_chat_model": lambda: init_chat_model(
        "claude-sonnet-4-6", model_provider="anthropic", configurable_fields=("model",), api_key="none"
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_of_several_models_the_one_counts_that_the_run_or_a_wrapper_names(choice: str) -> None:
    card, model = langgraph.Cuecard(engine=engine()), CHOICES[choice]()
    other = {"configurable": {"model": "opus" if choice == "alternatives" else "claude-opus-4-8"}}
    named: Any = RunnableLambda(
        lambda chat: card.prepare(chat, [HumanMessage("x")], [card.search_tool]).step.manifest.delivery.model
    )

    assert named.invoke(model) == "claude-sonnet-4-6"
    assert named.invoke(model.bind(stop=["x"])) == "claude-sonnet-4-6"
    assert named.invoke(model, other) == "claude-opus-4-8"
    assert named.invoke(model.with_config(other)) == "claude-opus-4-8"
    assert named.invoke(model.with_config(other).with_retry()) == "claude-opus-4-8"
    assert named.invoke(model.bind(stop=["x"]).with_config(other)) == "claude-opus-4-8"


UNNAMED = [RunnableLambda(str), Named() | RunnableLambda(str), init_chat_model(configurable_fields="any")]


@pytest.mark.parametrize("chosen", UNNAMED)
def test_a_model_that_nobody_has_named_is_one_clear_error(chosen: Any) -> None:
    card = langgraph.Cuecard(engine=engine())

    with pytest.raises(InputError) as caught:
        card.prepare(chosen, [HumanMessage("x")], [card.search_tool])

    told = f"no chat model is known behind this `{type(chosen).__name__}`"
    assert caught.value.problems == (Problem("wrong-argument", told, "pass the model that will answer", "model"),)


def test_under_frozen_a_tool_that_comes_and_goes_within_a_message_is_said_to_wait_for_the_next() -> None:
    chat = engine(delivery="frozen").conversation()
    own = ("tool_search", "cms_createPage")
    chat.user(Turn(tools=own))
    for tools in (own, (*own, "cms_listPages"), own):
        chat.step(tools=tools)
    chat.user(Turn(tools=own))
    chat.step(tools=own)
    back = chat.step(tools=(*own, "cms_listPages"))

    assert "cms_listPages" not in back.active_tools
    assert ("cms_listPages", "came within the run: active from the next message on") in {
        (cut.what, cut.reason) for cut in back.manifest.cuts
    }


@tool
def cms_listPages() -> str:  # noqa: N802 - tools are named as the catalogue names them
    """List the pages."""
    return "none"


def test_calls_that_share_an_id_have_an_id_and_a_place_of_their_own() -> None:
    def called(name: str) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": {}, "id": "call_0"}])

    def found(name: str) -> ToolMessage:
        return ToolMessage(f'{{"tools": ["{name}"]}}', name="tool_search", tool_call_id="call_0")

    card, stored, sent = langgraph.Cuecard(engine=engine()), None, list[list[BaseMessage]]()
    said = [HumanMessage("go", id="1"), called("tool_search"), found("cms_createPage"), called("cms_createPage")]
    said += [ToolMessage("ok", tool_call_id="call_0"), called("tool_search"), found("cms_listPages")]
    for end in (3, 5, 7):
        ready = card.prepare(Model(), said[:end], [cms_createPage, cms_listPages, card.search_tool], stored)
        stored = ready.after(called("any"))
        sent.append(ready.messages)

    assert all(texts(now)[: len(before)] == texts(before) for before, now in pairwise(sent))
    assert "<cms_listPages>" in texts(sent[-1])[-1]
    assert [each.tool_call_id for each in sent[-1] if isinstance(each, ToolMessage)] == [
        "call_0",
        "call_0-2",
        "call_0-3",
    ]


def asks(*ids: str) -> AIMessage:
    """An answer of Claude's with these calls; those that end in `!` are no JSON."""
    right = [{"name": "own_tool", "args": {}, "id": each} for each in ids if not each.endswith("!")]
    wrong = [invalid_tool_call(name="own_tool", args="{", id=each[:-1]) for each in ids if each.endswith("!")]
    said: list[str | dict[Any, Any]] = [
        "a text",
        {"type": "text", "text": "and"},
        {"type": "function_call"},
        {"id": ""},
    ]
    said += [{"type": "tool_use", "id": each.rstrip("!"), "name": "own_tool", "input": {}} for each in ids]
    said += [{"type": "function_call", "call_id": "another's", "id": "a"}]
    thoughts = {"signatures": {each.rstrip("!"): "signed" for each in ids}, "refusal": "none"}
    return AIMessage(said, tool_calls=right, invalid_tool_calls=wrong, additional_kwargs=thoughts)


def got(call: str) -> ToolMessage:
    return ToolMessage("ok", tool_call_id=call)


LONG = "x" * 40


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ([asks("a", "a"), got("a"), got("a")], [asks("a", "a-2"), got("a"), got("a-2")]),
        (
            [asks("a"), got("a"), asks("a"), asks("b"), got("a"), got("b")],
            [asks("a"), got("a"), asks("a-2"), asks("b"), got("a-2"), got("b")],
        ),
        (
            [asks("a"), got("a"), asks("a", "c!"), got("a"), asks("a-2")],
            [asks("a"), got("a"), asks("a-2", "c!"), got("a-2"), asks("a-2-2")],
        ),
        ([got("a"), asks("a"), got("a")], [got("a"), asks("a-2"), got("a-2")]),
        (
            [asks(LONG), got(LONG), asks(LONG), got(LONG)],
            [asks(LONG), got(LONG), asks(f"{LONG[2:]}-2"), got(f"{LONG[2:]}-2")],
        ),
        ([asks("a!"), got("a"), asks("b", "a!"), got("a")], [asks("a!"), got("a"), asks("b", "a-2!"), got("a-2")]),
    ],
    ids=["one answer", "late result", "id like a name", "call that is gone", "long id", "call that is no JSON"],
)
def test_each_result_answers_its_own_call_where_ids_are_repeated(
    said: list[BaseMessage], sent: list[BaseMessage]
) -> None:
    card, asked = langgraph.Cuecard(engine=engine()), HumanMessage("go", id="1")

    ready = card.prepare(Model(), [asked, *said], [own_tool, card.search_tool], None)

    assert [*map(unsigned, ready.conversation)] == [asked, *map(unsigned, sent)]
    for each in ready.conversation:
        if isinstance(each, AIMessage):
            held = {call["id"] for call in [*each.tool_calls, *each.invalid_tool_calls]}
            assert held >= {*each.additional_kwargs["signatures"]}
            assert {*each.additional_kwargs["signatures"].values()} == {"signed"}


def unsigned(message: BaseMessage) -> BaseMessage:
    """Of several calls with one id, no more than one has a signature."""
    return (
        message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, "signatures": None}})
        if (isinstance(message, AIMessage))
        else message
    )


def test_calls_keep_their_ids_where_a_summary_takes_the_place_of_the_users_message_within_a_run() -> None:
    card, answers = langgraph.Cuecard(engine=engine()), [asks("a"), asks("b"), asks("c")]
    whole: list[BaseMessage] = [HumanMessage("go", id="1")]
    for answer in answers:
        whole += [answer, got(answer.tool_calls[0]["id"] or "")]
    left = [HumanMessage("a summary", id="2"), *whole[3:]]
    stored, sent = None, list[str]()
    for said in (whole[:3], whole[:5], left, [*left, AIMessage("done"), HumanMessage("go on", id="3")]):
        ready = card.prepare(Model(), said, [own_tool, card.search_tool], stored)
        stored = ready.after(asks("next"))
        sent.append(" ".join(each.tool_call_id for each in ready.messages if isinstance(each, ToolMessage)))

    assert sent == ["a", "a b", "b c", "b c"]


def test_calls_keep_their_ids_where_one_that_shares_them_was_never_answered() -> None:
    card, said, stored = langgraph.Cuecard(engine=engine()), list[BaseMessage]([HumanMessage("go", id="1")]), None
    for more in (
        [asks("a"), got("a")],
        [asks("a"), HumanMessage("go on", id="2")],
        [asks("a"), got("a")],
        [asks("b"), got("b")],
    ):
        said += more
        ready = card.prepare(Model(), said, [own_tool, card.search_tool], stored)
        stored = ready.after(asks("next"))

    assert [each.tool_call_id for each in ready.messages if isinstance(each, ToolMessage)] == ["a", "a-3", "b"]


def test_calls_that_share_an_id_are_told_apart_where_messages_have_no_ids_and_a_run_is_cut() -> None:
    card, exchanges = langgraph.Cuecard(engine=engine()), list[list[BaseMessage]]()
    for query in ("one", "two", "three"):
        call = {"name": "tool_search", "args": {"query": query}, "id": "a"}
        exchanges.append([AIMessage("", tool_calls=[call]), got("a")])
    first, second, third = exchanges
    stored, sent = None, list[str]()
    for said in ([*first], [*first, *second], [*second, *third]):
        ready = card.prepare(Model(), [HumanMessage("go", id="1"), *said], [own_tool, card.search_tool], stored)
        stored = ready.after(asks("next"))
        sent.append(" ".join(each.tool_call_id for each in ready.messages if isinstance(each, ToolMessage)))

    assert sent == ["a", "a a-2", "a-2 a-3"]


def told(name: str, call: str, number: int) -> ToolMessage:
    """A result that is known by its number."""
    said = '{"tools": ["cms_createPage"]}' if name == "tool_search" else "ok"
    return ToolMessage(said, name=name, tool_call_id=call, artifact=number)


CALLS = st.lists(st.tuples(st.sampled_from("aab"), st.booleans()), min_size=1, max_size=2)
DRAWN = st.lists(
    st.tuples(st.booleans(), st.lists(st.tuples(CALLS, st.booleans()), max_size=3)), min_size=1, max_size=4
)
"""Messages of the user: whether what is before is left out, and answers: ids that search or not, and whether a summary
takes the place of all before.
"""


@given(DRAWN)
@example([(False, [([("a", False)], False)]), (True, [([("a", False)], False), ([("b", False)], False)])])
@example([(False, [([("a", False)], False), ([("b", False)], False), ([("a", False)], True)])])
def test_what_was_sent_stays_whatever_a_host_leaves_out_and_whatever_id_comes_again(drawn: Any) -> None:
    card, stored, said = langgraph.Cuecard(engine=engine()), None, list[BaseMessage]()
    names, numbers, tools = dict[str, str](), count(), [cms_createPage, own_tool, card.search_tool]
    for number, (shortened, answers) in enumerate(drawn):
        said, before = [*([] if shortened else said), HumanMessage("go", id=f"{number}")], list[str]()
        turn = Turn(ephemeral=f"TEXT-{number}-END")
        for request, (asked, summed) in enumerate([*answers, ([], False)]):
            ready = card.prepare(Model(), said, tools, stored, turn=turn)
            now = texts(ready.messages)
            assert now[: len(before)] == before
            assert sum(f"TEXT-{number}-END" in each for each in now) == 1
            if "cms_createPage" in ready.step.active_tools:
                assert sum("<cms_createPage>" in each for each in now) == 1
            for each in ready.messages:
                if isinstance(each, ToolMessage):
                    assert names.setdefault(str(each.artifact), each.tool_call_id) == each.tool_call_id
            again = card.prepare(Model(), said, tools, ready.cuecard, turn=turn)
            assert texts(again.messages) == now
            calls = [("tool_search" if finds else "own_tool", call) for call, finds in asked]
            asks = [{"name": name, "args": {}, "id": call} for name, call in calls]
            answer = AIMessage("", tool_calls=asks, id=f"{number} {request}")
            stored, before = ready.after(answer), [] if summed else now
            said = [HumanMessage("a summary", id=f"{number} {request} sum")] if summed else said
            said = [*said, answer, *(told(name, call, next(numbers)) for name, call in calls)]
    assert len({*names.values()}) == len(names)
