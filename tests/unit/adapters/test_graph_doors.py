"""Graphs and LangChain agents as people from outside meet them: what streams show, and calls that nobody may make."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NotRequired
from unittest.mock import patch

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ModelCallLimitMiddleware
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from typing_extensions import override

from cuecard import Engine, InputError, Problem, Step
from cuecard.adapters import langgraph
from cuecard.adapters.langchain import Cuecard
from unit.adapters.graph_models import Model, kinds, state_of
from unit.adapters.model_server import Calls
from unit.adapters.shop import REFUND, SEARCH, TEXTS, Shop, held_in

THREAD: Any = {"configurable": {"thread_id": "one"}}
APPROVED: Any = Command(resume={"decisions": [{"type": "approve"}]})
RAN: list[str] = []
LIST = ("list_orders", {"customer": "ann"})
FIND_AND_PAY: list[Calls] = [[SEARCH], [REFUND]]


@tool
def refund_order(order_id: str) -> dict[str, Any]:
    """Pay money back for an order."""
    RAN.append(order_id)
    return {"success": True}


@tool
def list_orders(customer: str = "") -> dict[str, Any]:
    """List the orders of a customer."""
    return {"orders": [], "customer": customer}


@tool
def own_tool(say: str = "") -> str:
    """A tool of the host's, which the catalogue does not know."""
    RAN.append(say)
    return say


HANDS: list[Any] = [refund_order, list_orders, own_tool]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    RAN.clear()
    return Shop(tmp_path / "shop")


def said(words: str = "x") -> Any:
    return {"messages": [HumanMessage(words)]}


def asking(shop: Shop, model: Any, saver: Any, *, first: bool = False, mode: Any = "batched", **options: Any) -> Any:
    """An agent that asks a person before it pays; the card is last in the list, as the page says, or first."""
    ask = HumanInTheLoopMiddleware(interrupt_on={"refund_order": True}, interrupt_mode=mode)
    card = Cuecard(**{"engine": shop.engine, **options})
    return create_agent(model, tools=HANDS, middleware=[card, ask] if first else [ask, card], checkpointer=saver)


def graph(card: langgraph.Cuecard, model: Model, saver: Any, *, stops: bool = False, state: Any = None) -> Any:
    """A graph of one's own."""
    nodes = ToolNode(
        [*HANDS, card.search_tool], wrap_tool_call=card.wrap_tool_call, awrap_tool_call=card.awrap_tool_call
    )
    tools = list(nodes.tools_by_name.values())

    def call_model(state: Any) -> dict[str, Any]:
        ready = card.prepare(model, state["messages"], tools, state.get(card.state_key))
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], card.state_key: ready.after(answer)}

    made = StateGraph(state or state_of(card))
    made.add_node("model", call_model)
    made.add_node("tools", nodes)
    made.add_edge(START, "model")
    made.add_conditional_edges("model", tools_condition)
    made.add_edge("tools", "model")
    return made.compile(checkpointer=saver, interrupt_before=["tools"] if stops else None)


class Plain(MessagesState):
    """The state of a graph as pages had it before there was a channel."""

    cuecard: NotRequired[dict[str, str]]
    research: NotRequired[dict[str, str]]


def results(out: Any) -> list[ToolMessage]:
    return [message for message in out["messages"] if isinstance(message, ToolMessage)]


class Traces(BaseCallbackHandler):
    """What is told of every node and tool; a model's own trace has what the model is sent."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @override
    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.seen.append((inputs, kwargs))

    @override
    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.seen.append((outputs, kwargs))

    @override
    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.seen.append((serialized, input_str, kwargs))

    @override
    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.seen.append((output, kwargs))


def agent_of(shop: Shop, model: Model, saver: Any) -> Any:
    return create_agent(model, tools=HANDS, middleware=[Cuecard(engine=shop.engine)], checkpointer=saver)


def graph_of(shop: Shop, model: Model, saver: Any) -> Any:
    return graph(langgraph.Cuecard(engine=shop.engine), model, saver)


def plain_graph_of(shop: Shop, model: Model, saver: Any) -> Any:
    return graph(langgraph.Cuecard(engine=shop.engine), model, saver, state=Plain)


MAKERS = [agent_of, graph_of, plain_graph_of]
MODES: Any = ["messages", "updates", "values", "debug", "tasks", "checkpoints"]
"""All at once: LangGraph makes of them what it makes of each, and says beside it which it is."""


@pytest.mark.parametrize("make", MAKERS)
def test_no_stream_no_trace_and_no_state_has_a_text_of_the_prompt(shop: Shop, make: Any) -> None:
    model, saver, traces = Model(batches=FIND_AND_PAY), InMemorySaver(), Traces()
    app, config = make(shop, model, saver), {**THREAD, "callbacks": [traces]}

    told = [
        *app.stream(said(), config, stream_mode=MODES, subgraphs=True),
        *app.stream(said(), config, stream_mode=MODES),
    ]
    told += [app.get_state(THREAD, subgraphs=True), *app.get_state_history(THREAD), app.invoke(said(), THREAD)]

    assert held_in(model.requests) == list(TEXTS)
    assert held_in(told) == []
    assert held_in([pickle.dumps(told)]) == []
    assert held_in(traces.seen) == []
    assert RAN == ["o-1"]


@pytest.mark.parametrize("make", MAKERS)
def test_an_awaited_stream_has_no_text_of_the_prompt_either(shop: Shop, make: Any) -> None:
    model = Model(batches=FIND_AND_PAY)
    app = make(shop, model, InMemorySaver())

    async def whole() -> list[Any]:
        return [piece async for piece in app.astream(said(), THREAD, stream_mode=["updates", "values", "debug"])]

    assert held_in(asyncio.run(whole())) == []
    assert RAN == ["o-1"]


@pytest.mark.parametrize("key", ["", "a key of twenty letters"])
def test_the_state_says_a_digest_and_names_and_nothing_else(shop: Shop, key: str) -> None:
    card = Cuecard(engine=replace(shop.engine, key=key))
    agent = create_agent(Model(batches=FIND_AND_PAY), tools=HANDS, middleware=[card], checkpointer=InMemorySaver())
    agent.invoke(said(), THREAD)

    shown = agent.get_state(THREAD).values["cuecard"]

    tools = json.loads(shown.pop("tools"))
    assert sorted(shown) == ["agent", "asked", "conversation"]
    assert (shown["agent"], len(shown["conversation"])) == ("shop", 64)
    names = {"of": shown["conversation"], "found": ["refund_order"], "active": ["refund_order"]}
    assert tools == {"conversation": names, **({"text_signature": tools.get("text_signature")} if key else {})}


@pytest.mark.parametrize("make", [agent_of, graph_of])
def test_a_thread_that_was_stored_with_its_texts_goes_on_byte_for_byte_and_shows_them_no_longer(
    shop: Shop, make: Any
) -> None:
    model, saver = Model(batches=FIND_AND_PAY), InMemorySaver()
    make(shop, model, saver).invoke(said(), THREAD)
    found = saver.get_tuple(THREAD)
    assert found is not None
    kept = found.checkpoint["channel_values"]["cuecard"]
    old = StateGraph(Plain)  # as threads were stored: the texts are the value
    old.add_node("model", lambda _: {"cuecard": {key: kept[key] for key in ("begun", "since", "asked")}})
    old.add_edge(START, "model")
    old.compile(checkpointer=saver).invoke({"messages": []}, THREAD)

    app = make(shop, model, saver)
    shown = app.get_state(THREAD)
    app.invoke(said("and now?"), THREAD)

    assert held_in(shown) == []
    before, after = model.wires[-2:]
    assert after[: len(before)] == before


def test_three_hundred_other_conversations_while_a_model_thinks_change_nothing(shop: Shop) -> None:
    card = Cuecard(engine=shop.engine)
    other = langgraph.Cuecard.prepare

    class Busy(Model):
        @override
        def _decide(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
            for number in range(0 if self.requests else 300):
                other(card._graph, Model(), [HumanMessage(f"{number}", id=f"{number}")], HANDS)
            return super()._decide(messages, kwargs)

    busy, calm = Busy(batches=FIND_AND_PAY), Model(batches=FIND_AND_PAY)
    create_agent(busy, tools=HANDS, middleware=[card]).invoke(said())
    create_agent(calm, tools=HANDS, middleware=[Cuecard(engine=shop.engine)]).invoke(said())

    assert busy.wires == calm.wires


def test_a_conversation_whose_texts_nobody_has_is_made_anew_with_what_it_found_and_the_manifest_says_so(
    shop: Shop,
) -> None:
    saver, model, steps = InMemorySaver(), Model(batches=[[SEARCH]]), list[Step]()
    plain_graph_of(shop, model, saver).invoke(said(), THREAD)
    elsewhere = graph(langgraph.Cuecard(engine=shop.engine, on_step=steps.append), model, saver, state=Plain)
    elsewhere.update_state(THREAD, {"messages": [HumanMessage("shortened", id="9")]})

    card = langgraph.Cuecard(engine=shop.engine, on_step=steps.append)
    ready = card.prepare(
        model, [HumanMessage("only this is left", id="9")], HANDS, elsewhere.get_state(THREAD).values["cuecard"]
    )

    assert "refund_order" in ready.step.active_tools
    assert held_in(ready.system) == list(TEXTS)
    assert [cut.reason for cut in ready.step.manifest.cuts if cut.what == "baseline"] == [
        "the conversation so far is not known here: its prompt is made anew, with what it had found"
    ]


def test_of_256_conversations_that_no_channel_keeps_none_is_forgotten_and_of_one_more_the_oldest(shop: Shop) -> None:
    card = langgraph.Cuecard(engine=shop.engine)

    def ask(number: int, stored: Any = None) -> langgraph.PreparedRequest:
        return card.prepare(Model(), [HumanMessage("hello", id=f"{number}")], HANDS, stored)

    begun = [ask(number).cuecard for number in range(257)]
    second, oldest = (ask(number, begun[number]).step.manifest.cuts for number in (1, 0))

    assert [cut for cut in second if cut.what == "baseline"] == []
    assert "baseline" in [cut.what for cut in oldest]


def test_names_of_tools_that_somebody_has_written_into_the_state_are_refused(shop: Shop) -> None:
    engine = replace(shop.engine, key="a key of twenty letters")
    shown = langgraph.Cuecard(engine=engine).prepare(Model(), [HumanMessage("x", id="1")], HANDS).cuecard
    other = langgraph.Cuecard(engine=engine)

    for tools in (shown["tools"].replace('"found":[]', '"found":["refund_order"]'), '{"conversation":{}}', ""):
        with pytest.raises(InputError, match=r"^cuecard\.tools: error\[bad-(signature|conversation)\]"):
            other.prepare(Model(), [HumanMessage("x", id="1")], HANDS, {**shown, "tools": tools})
    with pytest.raises(InputError) as caught:
        other.prepare(Model(), [HumanMessage("x", id="1")], HANDS, {**shown, "conversation": "0" * 64})
    way = "pass on the value from the graph's state, or omit the key to start a new conversation"
    told = "these are tools of another conversation"
    assert [*caught.value.problems] == [Problem("bad-conversation", told, way, "cuecard")]


@pytest.mark.parametrize("change", ["nothing", "new_prompt", "new_tools"])
@pytest.mark.parametrize("first", [False, True])
def test_a_call_of_a_tool_that_nobody_found_never_runs_whatever_a_person_says(
    shop: Shop, change: str, *, first: bool
) -> None:
    saver = InMemorySaver()
    asking(shop, Model(batches=[[SEARCH], []]), saver, first=first).invoke(
        said(), {"configurable": {"thread_id": "two"}}
    )
    out = asking(shop, Model(batches=[[REFUND]]), saver, first=first).invoke(said(), THREAD)
    getattr(shop, change, lambda: None)()

    if "__interrupt__" in out:
        out = asking(shop, Model(batches=[[REFUND]]), saver, first=first).invoke(APPROVED, THREAD)

    assert RAN == []
    assert [result.status for result in results(out)] == ["error"]
    assert out["messages"][-1].content == "done"


@pytest.mark.parametrize(("change", "ran"), [("nothing", ["o-1"]), ("new_prompt", ["o-1"]), ("new_tools", [])])
@pytest.mark.parametrize("awaited", [False, True])
def test_a_call_that_was_approved_runs_unless_its_instructions_may_have_changed(
    shop: Shop, change: str, ran: list[str], *, awaited: bool
) -> None:
    saver = InMemorySaver()
    asking(shop, Model(batches=FIND_AND_PAY), saver).invoke(said(), THREAD)
    getattr(shop, change, lambda: None)()

    again = asking(shop, Model(batches=FIND_AND_PAY), saver)
    out = asyncio.run(again.ainvoke(APPROVED, THREAD)) if awaited else again.invoke(APPROVED, THREAD)

    assert ran == RAN
    told = results(out)[-1]
    assert told.status == ("success" if ran else "error")
    assert ("may have changed" in str(told.content)) is not bool(ran)


@pytest.mark.parametrize("key", ["cuecard", "research"])
@pytest.mark.parametrize("change", ["nothing", "new_prompt", "new_tools"])
def test_a_graph_that_stopped_before_its_tools_runs_none_that_nobody_found(shop: Shop, key: str, change: str) -> None:
    saver, model = InMemorySaver(), Model(batches=[[REFUND, LIST]])
    graph(langgraph.Cuecard(engine=shop.engine, state_key=key), model, saver, stops=True).invoke(said(), THREAD)
    getattr(shop, change, lambda: None)()

    out = graph(langgraph.Cuecard(engine=shop.engine, state_key=key), model, saver, stops=True).invoke(None, THREAD)

    assert [result.status for result in results(out)] == ["error", "error"]
    assert RAN == []


@pytest.mark.parametrize("key", ["cuecard", "research"])
def test_a_graph_that_stopped_before_its_tools_runs_one_that_was_found(shop: Shop, key: str) -> None:
    saver, model = InMemorySaver(), Model(batches=FIND_AND_PAY)
    stopped = graph(langgraph.Cuecard(engine=shop.engine, state_key=key), model, saver, stops=True)
    stopped.invoke(said(), THREAD)
    stopped.invoke(None, THREAD)
    shop.new_prompt()

    graph(langgraph.Cuecard(engine=shop.engine, state_key=key), model, saver, stops=True).invoke(None, THREAD)

    assert RAN == ["o-1"]


def test_a_card_that_does_not_know_the_key_of_the_state_refuses_every_tool_of_the_catalogue(shop: Shop) -> None:
    card = langgraph.Cuecard(engine=shop.engine)
    nodes = ToolNode(HANDS, wrap_tool_call=card.wrap_tool_call)
    made = StateGraph(Plain)
    made.add_node("tools", nodes)
    made.add_edge(START, "tools")
    app: Any = made.compile()
    calls = [{"name": name, "args": args, "id": name} for name, args in (REFUND, LIST, ("own_tool", {"say": "hi"}))]
    ready = card.prepare(Model(), [HumanMessage("x", id="1")], HANDS)

    for state in ({}, {"research": ready.cuecard}, {"cuecard": {"conversation": "0" * 64}}, {"cuecard": 7}):
        out = app.invoke({"messages": [HumanMessage("x"), AIMessage("", tool_calls=calls)], **state})
        assert [result.status for result in results(out)] == ["error", "error", "success"]
    assert RAN == ["hi"] * 4


def test_the_step_of_another_agent_opens_nothing(shop: Shop, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other")
    agent = (other.folder / "agent.yaml").read_text()
    (other.folder / "agent.yaml").write_text(agent.replace("agent: shop", "agent: other"))
    saver, model = InMemorySaver(), Model(batches=FIND_AND_PAY)
    stopped = graph(langgraph.Cuecard(engine=other.engine), model, saver, stops=True)
    stopped.invoke(said(), THREAD)
    stopped.invoke(None, THREAD)

    mine = graph(langgraph.Cuecard(engine=shop.engine), model, saver, stops=True)
    with pytest.raises(InputError, match="not to `shop`"):
        mine.invoke(None, THREAD)

    assert RAN == []


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize("awaited", [False, True])
def test_nobody_is_asked_about_a_call_that_is_refused(shop: Shop, mode: Any, *, awaited: bool) -> None:
    model = Model(batches=[[REFUND], [SEARCH], [REFUND]])
    agent = asking(shop, model, InMemorySaver(), mode=mode)

    out = asyncio.run(agent.ainvoke(said(), THREAD)) if awaited else agent.invoke(said(), THREAD)

    assert [result.status for result in results(out)] == ["error", "success"]
    assert len(model.requests) == 3
    (asked,) = out["__interrupt__"]
    actions = asked.value["action_requests"] if mode == "batched" else [asked.value]
    assert [action["name"] for action in actions] == ["refund_order"]
    assert RAN == []


def test_of_calls_made_at_once_a_person_is_asked_about_those_that_may_run(shop: Shop) -> None:
    pay_twice: list[Calls] = [[SEARCH], [LIST, REFUND, LIST, ("own_tool", {"say": "hi"})]]
    asked_for, sent = Model(batches=pay_twice), Model(batches=pay_twice)
    agent = asking(shop, asked_for, InMemorySaver())

    out = agent.invoke(said(), THREAD)
    message = next(each for each in reversed(out["messages"]) if isinstance(each, AIMessage))
    (asked,) = out["__interrupt__"]
    agent.invoke(APPROVED, THREAD)
    agent_of(shop, sent, InMemorySaver()).invoke(said(), THREAD)

    assert [action["name"] for action in asked.value["action_requests"]] == ["refund_order"]
    assert [call["name"] for call in message.tool_calls] == ["refund_order", "own_tool"]
    assert [call["name"] for call in message.invalid_tool_calls] == ["list_orders", "list_orders"]
    assert sorted(RAN) == ["hi", "hi", "o-1", "o-1"]  # of each batch, whichever thread was first
    assert asked_for.wires == sent.wires
    batch = [call for call, *_ in asked_for.wires[-1][-5][1][1]]
    assert batch == ["list_orders", "refund_order", "list_orders", "own_tool"]
    assert kinds(asked_for.requests[-1])[-4:] == ["result"] * 4


def test_a_model_that_insists_meets_the_limits_of_the_agent(shop: Shop) -> None:
    model = Model(batches=[[REFUND]] * 60)
    limit = ModelCallLimitMiddleware(run_limit=3, exit_behavior="end")
    agent = create_agent(model, tools=HANDS, middleware=[limit, Cuecard(engine=shop.engine)])

    out = agent.invoke(said())

    assert "limit" in str(out["messages"][-1].content)
    assert len(model.requests) <= 12
    assert RAN == []


@pytest.mark.parametrize("saver", [None, True], ids=["anew", "going on"])
def test_a_subgraph_shows_no_text_and_refuses_likewise(shop: Shop, *, saver: bool | None) -> None:
    model = Model(batches=[[SEARCH], [REFUND, LIST]])
    outer = StateGraph(MessagesState)
    outer.add_node("agent", graph(langgraph.Cuecard(engine=shop.engine), model, saver))
    outer.add_edge(START, "agent")
    app: Any = outer.compile(checkpointer=InMemorySaver())

    told = [*app.stream(said(), THREAD, stream_mode=["updates", "values", "debug"], subgraphs=True)]

    assert held_in(told) == []
    assert held_in(app.get_state(THREAD, subgraphs=True)) == []
    assert RAN == ["o-1"]


def test_what_a_client_sends_is_no_conversation(shop: Shop) -> None:
    mine = Model(batches=[[REFUND]])
    secret = agent_of(shop, Model(batches=FIND_AND_PAY), InMemorySaver())
    secret.invoke(said(), THREAD)
    agent = agent_of(shop, mine, InMemorySaver())
    RAN.clear()

    out = agent.invoke({**said(), "cuecard": secret.get_state(THREAD).values["cuecard"]}, THREAD)

    assert RAN == []
    assert set(out) == {"messages"}


def test_two_agents_of_one_state_have_a_key_each(shop: Shop) -> None:
    cards = [langgraph.Cuecard(engine=Engine.open(shop.folder), state_key=key) for key in ("cuecard", "research")]
    ready = [card.prepare(Model(), [HumanMessage("x", id="1")], HANDS) for card in cards]
    state = {"cuecard": ready[0].cuecard, "research": ready[1].cuecard, "messages": []}

    seen = [[str(card.refusal(name, state)) for name in ("refund_order", "own_tool")] for card in cards]

    assert [refund.startswith("Nothing is left to find") for refund, _ in seen] == [True, True]
    assert [own for _, own in seen] == ["None", "None"]
    with pytest.raises(InputError, match="state_key"):
        langgraph.Cuecard(engine=shop.engine, state_key="")


def test_the_graph_of_the_page_may_be_awaited_with_asynchronous_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path("docs/hosts/langgraph.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0].partition("thread = ")[0]
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    made = ModuleType("page")
    with patch.dict(sys.modules, {"page": made}):
        exec(code.replace("def cms_createPage", "async def cms_createPage"), made.__dict__)  # noqa: S102 - the page's own code
        made.__dict__["model"] = Model(
            batches=[[("tool_search", {"query": "create an empty page"})], [("cms_createPage", {"title": "A"})]]
        )
        done = asyncio.run(made.app.ainvoke({"messages": "Hello"}, {"configurable": {"thread_id": "one"}}))

    assert '"title": "A"' in done["messages"][-2].text
    assert done["messages"][-1].text == "done"
