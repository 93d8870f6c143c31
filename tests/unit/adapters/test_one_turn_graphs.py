"""Texts of one turn in graphs and LangChain agents: in the requests of their turn, and in nothing that is kept."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from cms_agent import cms
from cuecard import InputError, Problem, Step, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.langchain import Cuecard
from cuecard.types import Delivery
from unit.adapters.graph_models import Model, state_of
from unit.adapters.model_server import model_server
from unit.adapters.one_turn_hosts import BATCHES, CASES, NOW, OWN, TURNS, WORDS, check, engine, pairs, turn_of

pytestmark = pytest.mark.filterwarnings("ignore:agent .* has no tool")  # their one tool has no entry
THREAD: Any = {"configurable": {"thread_id": "one"}}
RUNTIME = "## Runtime Facts"


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen {at}"


class Asking(Model):
    """Calls what the number of the request says."""

    counts: bool = True


def agent_of(name: str, model: Any, saver: Any, now: list[int]) -> Any:
    card = Cuecard(engine=engine(name), turn=lambda _: turn_of(name, now[0]))
    return create_agent(model, tools=[look], middleware=[card], checkpointer=saver)


def graph_of(name: str, model: Any, saver: Any, now: list[int]) -> Any:
    card = langgraph.Cuecard(engine=engine(name))
    nodes = ToolNode([look, card.search_tool], wrap_tool_call=card.wrap_tool_call)
    tools = list(nodes.tools_by_name.values())

    def call_model(state: Any) -> dict[str, Any]:
        turn = turn_of(name, now[0])
        ready = card.prepare(model, state["messages"], tools, state.get("cuecard"), turn=turn)
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], "cuecard": ready.after(answer)}

    graph = StateGraph(state_of(card))
    graph.add_node("model", call_model)
    graph.add_node("tools", nodes)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize(("name", "make", "process"), pairs([agent_of, graph_of], ["one", "another after each turn"]))
def test_a_text_of_one_turn_is_in_its_own_requests_and_in_nothing_that_the_graph_keeps(
    name: str, make: Any, process: str
) -> None:
    model, saver, now, streamed = Asking(batches=BATCHES), InMemorySaver(), [0], list[Any]()
    app, text = make(name, model, saver, now), CASES[name][0]

    for turn, words in enumerate(WORDS):
        now[0] = turn
        app = make(name, model, saver, now) if process != "one" else app
        streamed += app.stream({"messages": [HumanMessage(words)]}, THREAD, stream_mode=["updates", "messages"])
        assert text not in json.dumps(app.get_state(THREAD).values, default=str)

    check([[repr(piece) for piece in sent] for sent in model.wires], text, [RUNTIME])
    assert text not in repr([update for kind, update in streamed if kind == "messages"])
    messages = [state.values.get("messages") for state in app.get_state_history(THREAD)]
    assert text not in repr(messages)


def test_the_state_holds_the_text_while_its_turn_goes_on_so_that_another_process_can_go_on() -> None:
    model, saver, now = Asking(batches=BATCHES), InMemorySaver(), [OWN]

    def waiting() -> Any:
        card = Cuecard(engine=engine("polyant"), turn=lambda _: turn_of("polyant", now[0]))
        return create_agent(model, tools=[look], middleware=[card], checkpointer=saver, interrupt_before=["tools"])

    waiting().invoke({"messages": [HumanMessage("what came in?")]}, THREAD)
    now[0] = 0  # nobody asks for the turn again
    waiting().invoke(None, THREAD)

    first, second = model.wires
    assert second[: len(first)] == first
    assert repr(second).count("ORDER-7-OF-JANA") == 1


@pytest.mark.parametrize("delivery", ["append", "rewrite"])
def test_what_a_host_says_for_one_turn_is_kept_only_while_it_goes_on(delivery: Delivery) -> None:
    card = langgraph.Cuecard(engine=cms(delivery))
    first = card.prepare(Asking(), [HumanMessage("hello", id="1")], turn=Turn(ephemeral="ONCE-ONLY"))
    going_on, ended = (json.dumps(card.whole(stored)) for stored in (first.cuecard, first.end()))

    assert ("ONCE-ONLY" in going_on, "ONCE-ONLY" in ended) == (True, False)


def test_a_definition_that_the_host_takes_away_stays_in_front_of_the_turn_after_one_with_a_text_of_its_own() -> None:
    @tool
    def read(at: str) -> str:
        """Read something."""
        return at

    card, said = langgraph.Cuecard(engine=cms("append")), [HumanMessage("hello", id="1"), AIMessage("done", id="2")]
    first = card.prepare(Model(), said[:1], [look, read], turn=Turn(ephemeral="ONCE-ONLY"))
    said.append(HumanMessage("again", id="3"))
    second = card.prepare(Model(), said, [look], first.after(said[1]))

    assert second.tools == first.tools
    assert len(first.tools) == 2


def test_a_graph_that_asks_again_after_the_answer_of_a_turn_goes_on_with_its_text() -> None:
    card, model = langgraph.Cuecard(engine=engine("polyant")), Asking()
    said: list[BaseMessage] = [HumanMessage("what came in?", id="1")]
    first = card.prepare(model, said, turn=turn_of("polyant", OWN))
    ended = card.whole(first.after(AIMessage("an order")))
    said = [*said, AIMessage("an order"), AIMessage("more", tool_calls=[])]

    again = card.prepare(model, said, cuecard=ended)
    elsewhere = langgraph.Cuecard(engine=engine("polyant")).prepare(
        model, said, cuecard=ended, turn=turn_of("polyant", OWN)
    )

    assert "ORDER-7-OF-JANA" not in json.dumps(ended)
    assert "ORDER-7-OF-JANA" in json.dumps(card.whole(again.cuecard))
    for ready in (again, elsewhere):
        assert sum("ORDER-7-OF-JANA" in message.text for message in ready.messages) == 1


def test_inputs_that_may_change_are_asked_for_with_each_request_and_others_are_not() -> None:
    steps, asked = list[Step](), list[int]()
    model = Asking(batches=[[("look", {"at": "a"})], [("look", {"at": "b"})], []])

    def turn(_: Any) -> Turn:
        asked.append(len(asked))
        inputs: dict[str, Any] = {"os": f"os-{asked[-1]}"}
        return Turn(inputs | ({"retry_instruction": "TRY-ANOTHER-WAY"} if asked[-1] == 1 else {}), now=NOW)

    card = Cuecard(engine=engine("pioneer"), turn=turn, on_step=steps.append)
    saver = InMemorySaver()
    agent = create_agent(model, tools=[look], middleware=[card], checkpointer=saver)
    agent.invoke({"messages": [HumanMessage("go")]}, THREAD)

    assert asked == [0, 1, 2]
    assert [json.dumps(sent).count("TRY-ANOTHER-WAY") for sent in model.wires] == [0, 1, 1]
    first, second, third = model.wires
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert "os-1" not in json.dumps(model.wires)
    assert "TRY-ANOTHER-WAY" not in json.dumps(agent.get_state(THREAD).values, default=str)


def claude(name: str, url: str) -> ChatAnthropic:
    model = ChatAnthropic(model=name, api_key="k", base_url="https://api.anthropic.com", max_tokens=100)
    vars(model)["_client"] = anthropic.Anthropic(api_key="k", base_url=url)
    return model


def pieces(body: dict[str, Any], *, bare: bool = True) -> list[str]:
    """The blocks of a request of Anthropic's, without breakpoints."""
    found = [{"role": "system", **block} for block in body["system"]]
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [{"role": message["role"], **part} for part in parts]
    return [json.dumps({k: v for k, v in each.items() if not bare or k != "cache_control"}) for each in found]


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-4-6", "claude-opus-5-5"])
def test_claude_gets_breakpoints_in_front_of_the_text_and_finds_them_in_the_next_turn(model: str) -> None:
    text, saver, now = "ORDER-7-OF-JANA", InMemorySaver(), [0]
    with model_server(BATCHES) as server:
        agent = agent_of("polyant", claude(model, server.url), saver, now)
        for turn, words in enumerate(WORDS):
            now[0] = turn
            agent.invoke({"messages": [HumanMessage(words)]}, THREAD)
        sent = server.sent

    check([pieces(body) for body in sent], text)
    assert all(1 <= json.dumps(body).count('"cache_control"') <= 4 for body in sent)
    first, after = sent[TURNS.index(OWN)], sent[TURNS.index(OWN + 1)]
    marked = [at for at, piece in enumerate(pieces(first, bare=False)) if "cache_control" in piece]
    held = next(at for at, piece in enumerate(pieces(first)) if text in piece)
    assert held - 1 in marked
    assert "cache_control" in pieces(after, bare=False)[held - 1]
    second = sent[TURNS.index(OWN) + 1]
    assert "cache_control" not in pieces(second, bare=False)[held - 1]


class Keeping(Asking):
    """As OpenAI's model of LangChain is told that the provider keeps the history."""

    use_previous_response_id: bool = True


@pytest.mark.parametrize(("made", "host"), [(agent_of, "messages"), (graph_of, "system-only")])
def test_a_history_that_the_provider_keeps_is_refused_with_the_system_prompt_in_it(
    made: Any, host: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, saver = Keeping(), InMemorySaver()
    said = Turn({"context": "ORDER-7-OF-JANA"}, now=NOW, host=host)
    monkeypatch.setitem(CASES, "polyant", ("ORDER-7-OF-JANA", said, said))
    with pytest.raises(InputError, match=r"`conversation-context` lives for one turn.*\n?.*send the history yourself"):
        made("polyant", model, saver, [0]).invoke({"messages": [HumanMessage("hello")]}, THREAD)
    assert not model.requests

    made("cms", model, saver, [0]).invoke({"messages": [HumanMessage("hello")]}, {"configurable": {"thread_id": "two"}})
    assert len(model.requests) == 1


def test_so_is_one_that_is_bound_to_the_model() -> None:
    card, said = langgraph.Cuecard(engine=engine("polyant")), Turn({"context": "ORDER-7-OF-JANA"}, now=NOW)
    kept, hello = Asking().bind(previous_response_id="resp_1"), [HumanMessage("hello")]
    for model in (kept, kept.bind(stop=["x"]), Asking().bind(stop=["x"]).bind(previous_response_id="resp_1")):
        with pytest.raises(InputError) as caught:
            card.prepare(model, hello, turn=said)  # type: ignore[arg-type]  # as a graph passes it
        told = "`conversation-context` lives for one turn, but the provider keeps the history, and takes nothing back"
        assert Problem("kept-history", told, "send the history yourself", "turn") in caught.value.problems
    for model in (Asking(), Asking().bind(previous_response_id=None), Keeping(use_previous_response_id=False)):
        assert card.prepare(model, hello, turn=said).conversation[:1] == hello  # type: ignore[arg-type]  # the same
