"""Conversations of graphs: kept by a checkpointer, interrupted, gone on with elsewhere, and what is refused."""

from __future__ import annotations

import json
import operator
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from sqlite3 import connect
from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from pydantic import SecretStr

from cms_agent import cms as engine
from cuecard import Call, Engine, InputError, Problem, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.block_places import CallNames, gone_names
from cuecard.adapters.langchain import Cuecard
from cuecard.types import Delivery
from unit.adapters.graph_models import Model, kinds, wire
from unit.adapters.shop import AGENT, Shop
from unit.adapters.shop import TOOLS as SHOP_TOOLS
from unit.adapters.test_langchain import NOW, PAGES, TALK, THREAD, TOOLS, run

WORDS = ("make a page", "and an image")
ROOT = Path(__file__).parents[3]
KEY = "a key of twenty letters"
APPROVED: Any = Command(resume={"decisions": [{"type": "approve"}]})


def asking(saver: Any, model: Model, **options: Any) -> Any:
    """An agent that asks a person before it creates a page."""
    return create_agent(
        model,
        tools=TOOLS,
        middleware=[
            HumanInTheLoopMiddleware(interrupt_on={"cms_createPage": True}),
            Cuecard(**{"engine": engine(), "turn": Turn(now=NOW), **options}),
        ],
        checkpointer=saver,
    )


def said(words: str) -> Any:
    return {"messages": [HumanMessage(words)]}


ELSEWHERE = """
import json, sys
sys.path[:0] = ["tests", "examples/cms"]
from langgraph.checkpoint.sqlite import SqliteSaver
from unit.adapters.graph_models import Model
from unit.adapters.test_graph_threads import APPROVED, asking, said, WORDS
from unit.adapters.test_langchain import TALK, THREAD

model = Model(batches=TALK)
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    agent = asking(saver, model)
    agent.invoke(APPROVED, THREAD)
    agent.invoke(said(WORDS[1]), THREAD)
print(json.dumps(model.wires))
"""


def test_another_process_continues_from_the_database_byte_for_byte(tmp_path: Path) -> None:
    model, file = Model(batches=TALK), str(tmp_path / "threads.sqlite")
    with SqliteSaver.from_conn_string(file) as saver:
        asking(saver, model).invoke(said(WORDS[0]), THREAD)

    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, file], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    whole = json.loads(json.dumps([*model.wires, *json.loads(done.stdout)]))
    assert whole == json.loads(json.dumps(run(TALK, WORDS).wires))


def test_a_run_that_was_interrupted_continues_byte_for_byte_and_a_branch_from_where_it_begins() -> None:
    model, calls = Model(batches=TALK), list[Call]()
    agent = asking(InMemorySaver(), model, on_call=calls.append)
    stopped = agent.invoke(said(WORDS[0]), THREAD)
    before = agent.get_state(THREAD).config
    agent.invoke(APPROVED, THREAD)
    agent.invoke(said(WORDS[1]), THREAD)

    agent.invoke(APPROVED, before)

    assert "__interrupt__" in stopped
    assert model.wires[:6] == run(TALK, WORDS).wires
    assert [call.turn for call in calls] == [0, 1]
    assert model.wires[6:] == model.wires[2:3]


def edited(folder: Path, text: str) -> Path:
    """The CMS agent with other words in its prompt."""
    if not folder.exists():
        copytree(ROOT / "prompts", folder / "prompts")
        copytree(ROOT / "tool_instructions", folder / "tool_instructions")
    core = folder / "prompts" / "cms" / "agent.xml"
    core.write_text(core.read_text(encoding="utf-8").replace("Be friendly and brief", text), encoding="utf-8")
    return folder / "prompts" / "cms"


def test_a_thread_that_continues_after_its_files_were_edited_gets_one_new_baseline(tmp_path: Path) -> None:
    saver, model = InMemorySaver(), Model(batches=TALK)
    agent = edited(tmp_path / "agent", "Be friendly and brief")
    asking(saver, model, engine=Engine.open(agent, delivery="append")).invoke(said(WORDS[0]), THREAD)
    edited(tmp_path / "agent", "Be terse")

    later = asking(saver, model, engine=Engine.open(agent, delivery="append"))
    later.invoke(APPROVED, THREAD)
    later.invoke(said(WORDS[1]), THREAD)

    systems = [request[0].text for request in model.requests]
    assert ["Be terse" in system for system in systems] == [False, False, True, True, True, True]
    assert len(set(systems[2:])) == 1
    assert "<cms_createPage" in systems[2]
    for shorter, longer in zip(model.wires[2:], model.wires[3:], strict=False):
        assert longer[: len(shorter)] == shorter
    assert kinds(model.requests[3])[-2:] == ["human", "block"]


@pytest.mark.parametrize(("before", "now"), [(KEY, f"{'n' * 32}, {KEY}"), ("", f"{KEY},unsigned")])
def test_a_new_key_does_not_end_threads_that_were_stored_before(before: str, now: str) -> None:
    """The newest key signs, all are read with: what was written with it needs the old one no more."""
    saver = InMemorySaver()
    asking(saver, Model(batches=TALK), engine=replace(engine(), key=before)).invoke(said(WORDS[0]), THREAD)
    model = Model(batches=TALK)
    asking(saver, model, engine=replace(engine(), key=now)).invoke(said(WORDS[1]), THREAD)

    assert "cms_createPage" in str(model.requests[0])
    newest = replace(engine(), key=now.partition(",")[0])
    stored = newest.dump(newest.conversation())
    assert newest.load(stored).call is None


@pytest.mark.parametrize("part", ["begun", "since"])
def test_a_conversation_that_was_edited_is_refused(part: str) -> None:
    card = langgraph.Cuecard(engine=replace(engine(), key=KEY))
    ready = card.prepare(Model(), [HumanMessage("hello", id="1")], TOOLS, turn=Turn(now=NOW))
    whole = card.whole(ready.cuecard)
    stored = {**whole, part: whole[part].replace('"results":', '"result":')}

    with pytest.raises(InputError, match="bad-signature"):
        card.prepare(Model(), [HumanMessage("hello", id="1")], TOOLS, stored)


@pytest.mark.parametrize(
    ("stored", "wrong"),
    [
        (7, "int"),
        ([], "list"),
        ({}, "begun since asked"),
        ({"begun": "x", "since": 1, "asked": ""}, "since"),
        ({"begun": "x", "since": "", "asked": "", "agent": 7, "tools": None}, "agent tools"),
        ({"conversation": 7, "tools": 7}, "conversation agent asked tools"),
        ({"conversation": "x", "agent": "", "asked": "", "begun": 7}, "tools"),
    ],
)
def test_anything_but_a_conversation_is_refused_with_the_way_out(stored: Any, wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        langgraph.Cuecard(engine=engine()).prepare(Model(), [HumanMessage("hello")], TOOLS, stored)

    way = "pass on the value from the graph's state, or omit the key to start a new conversation"
    told = f"the conversation in the graph's state is a {wrong}, not what was stored there"
    strings = [Problem("bad-conversation", "this is not a string", way, f"cuecard.{key}") for key in wrong.split()]
    assert [*caught.value.problems] == (
        strings if isinstance(stored, dict) else [Problem("bad-conversation", told, way, "cuecard")]
    )


def test_the_conversation_of_another_agent_is_refused() -> None:
    mushroom = Engine.open(ROOT / "prompts" / "mushroom")
    ready = langgraph.Cuecard(engine=engine()).prepare(Model(), [HumanMessage("hello")], TOOLS)

    with pytest.raises(InputError) as caught:
        langgraph.Cuecard(engine=mushroom).prepare(Model(), [HumanMessage("hello")], TOOLS, ready.cuecard)

    told = "the conversation belongs to the agent `cms`, not to `mushroom`"
    way = "pass on the value from the graph's state, or omit the key to start a new conversation"
    assert [*caught.value.problems] == [Problem("foreign-call", told, way, "cuecard")]


class State(MessagesState):
    """The state of a graph as it was written before there was a channel."""

    cuecard: NotRequired[dict[str, str]]


class Plain(TypedDict):
    """The same, with a reducer that gives messages no ids."""

    messages: Annotated[list[AnyMessage], operator.add]
    cuecard: NotRequired[dict[str, str]]


def graph_of(model: Model, state: Any, card: langgraph.Cuecard, saver: Any) -> Any:
    nodes = ToolNode([*TOOLS, card.search_tool], wrap_tool_call=card.wrap_tool_call)
    tools = list(nodes.tools_by_name.values())

    def call_model(state: Any) -> dict[str, Any]:
        ready = card.prepare(model, state["messages"], tools, state.get("cuecard"), turn=Turn(now=NOW))
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], "cuecard": ready.cuecard}

    graph = StateGraph(state)
    graph.add_node("model", call_model)
    graph.add_node("tools", nodes)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=saver)


@pytest.mark.parametrize("state", [State, Plain])
def test_a_graph_of_your_own_sends_what_an_agent_sends(state: Any) -> None:
    model = Model(batches=TALK)
    app = graph_of(model, state, langgraph.Cuecard(engine=engine()), InMemorySaver())

    for words in WORDS:
        app.invoke(said(words), THREAD)

    assert model.wires == run(TALK, WORDS).wires
    assert model.bound[0] == run(TALK, WORDS).bound[0]


@pytest.mark.repeats
def test_thirty_threads_of_one_graph_stay_apart() -> None:
    model = Model(batches=[[("tool_search", PAGES)], [("cms_createPage", {"title": "About"})]])
    app = graph_of(model, State, langgraph.Cuecard(engine=engine()), InMemorySaver())

    def talk(number: int) -> None:
        for words in (f"#{number} one", f"#{number} two"):
            app.invoke(said(words), {"configurable": {"thread_id": str(number)}})

    with ThreadPoolExecutor(30) as pool:
        list(pool.map(talk, range(30)))

    assert len(model.requests) == 30 * 4
    seen = [[m.text for m in request if isinstance(m, HumanMessage) and m.text[0] == "#"] for request in model.requests]
    assert all(len({text.partition(" ")[0] for text in texts}) == 1 for texts in seen)
    alone = json.dumps(run(model.batches, ("#0 one", "#0 two")).wires)
    for number in range(30):
        of_thread = [request for request, texts in zip(model.wires, seen, strict=True) if f"#{number} one" in texts]
        assert json.dumps(of_thread) == alone.replace("#0 ", f"#{number} ")


@pytest.mark.parametrize("saver", [None, True], ids=["anew", "going on"])
def test_a_subgraph_starts_over_or_continues_as_it_is_compiled(*, saver: bool | None) -> None:
    model = Model(batches=TALK)
    outer = StateGraph(MessagesState)
    outer.add_node("agent", graph_of(model, State, langgraph.Cuecard(engine=engine()), saver))
    outer.add_edge(START, "agent")
    app: Any = outer.compile(checkpointer=InMemorySaver())

    for words in WORDS:
        app.invoke(said(words), THREAD)

    assert len(model.requests) == 6
    if saver:
        assert model.wires == run(TALK, WORDS).wires
    else:
        assert "cms_createPage" in "".join(message.text for message in model.requests[3])
        assert '"About" (page-About)' in model.requests[3][0].text


def test_the_same_arguments_give_the_same_request_in_any_process() -> None:
    messages = [HumanMessage("make a page", id="1"), *found_pages("call-1")]
    first, second = langgraph.Cuecard(engine=engine()), langgraph.Cuecard(engine=engine())
    begun = first.whole(first.prepare(Model(), messages[:1], TOOLS, turn=Turn(now=NOW)).cuecard)

    ready = [card.prepare(Model(), messages, TOOLS, begun) for card in (first, first, second, second)]

    assert len({json.dumps([wire(message) for message in each.messages]) for each in ready}) == 1
    assert len({json.dumps(each.cuecard) for each in ready}) == 1


@pytest.mark.parametrize("stores", ["conversation", "messages"])
@pytest.mark.parametrize("delivery", ["append", "rewrite"])
@pytest.mark.parametrize("model", [Model(), ChatAnthropic(model="claude-sonnet-4-6", api_key=SecretStr("k"))])
def test_a_host_that_stores_what_was_sent_sends_it_once(model: Any, delivery: Delivery, stores: str) -> None:
    """The requests are those of a host that stores its own messages alone; Claude's results bring references, too."""
    requests = []
    for part in (stores, ""):
        card, kept, sent = langgraph.Cuecard(engine=engine(delivery), cache=None), None, list[Any]()
        stored: list[AnyMessage] = []
        for number, (*found, answer) in enumerate([(*found_pages("call-1"), AIMessage("ok")), (AIMessage("ok"),)]):
            stored.append(HumanMessage("go on", id=f"{number}"))
            for more in ([found] if found else []) + [[answer]]:
                ready = card.prepare(model, stored, [*TOOLS, card.search_tool], kept, turn=Turn(now=NOW))
                sent.append([wire(message) for message in ready.messages])
                kept = card.whole(ready.after(more[0]))
                stored = [*(getattr(ready, part) if part else stored), *more]
        requests.append(json.loads(json.dumps(sent)))

    assert requests[0] == requests[1]
    assert str(requests[0][-1]).count("<cms_createPage>") == 1


def found_pages(call_id: str, **result: Any) -> Sequence[AnyMessage]:
    calls: Any = [{"name": "tool_search", "args": {}, "id": call_id}]
    said = {"content": '{"tools": ["cms_createPage"]}', "name": "tool_search", **result}
    return AIMessage("", tool_calls=calls), ToolMessage(tool_call_id=call_id, **said)


def test_a_conversation_without_words_of_the_user_has_a_prompt_and_nothing_to_search_ahead(tmp_path: Path) -> None:
    ready = langgraph.Cuecard(engine=engine()).prepare(Model(), [], TOOLS, turn=Turn(now=NOW))

    assert ready.system.text.startswith("<agent>")
    assert ready.conversation == []
    shop = Shop(tmp_path / "shop")
    shop.write(AGENT.replace("[tool_search]", "[tool_search], ahead: {}"), SHOP_TOOLS)
    looking = langgraph.Cuecard(engine=shop.engine)
    step = looking.prepare(Model(), [], []).step
    assert "nothing_ahead" in [found.code for found in step.manifest.diagnostics]


def kept_by(saver: Any) -> dict[str, str]:
    """The conversation as the checkpointer has it."""
    kept: dict[str, str] = saver.get_tuple(THREAD).checkpoint["channel_values"]["cuecard"]
    return kept


def test_a_threads_texts_are_small_compared_with_its_prompt(tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        agent = asking(saver, Model(batches=TALK))
        agent.invoke(said(WORDS[0]), THREAD)
        first = kept_by(saver)
        agent.invoke(APPROVED, THREAD)
        second = kept_by(saver)

    assert first["begun"] == second["begun"]
    assert len(second["since"]) < len(second["begun"]) / 4
    with closing(connect(file)) as database:
        assert database.execute("select count(*) from checkpoints").fetchone()[0] > 3


@given(st.lists(st.sampled_from("ab"), max_size=6), st.data())
def test_calls_keep_their_names_whatever_a_host_leaves_out_in_front_of_them(
    ids: list[str], data: st.DataObject
) -> None:
    left = data.draw(st.integers(0, len(ids)))
    before = data.draw(st.integers(left, len(ids)))
    made = CallNames()
    names = [made.of_calls([each])[0] for each in ids]

    gone = gone_names(ids[left:before], ids[before:], names[:before])

    assert gone <= {*names[:left]}
    again = CallNames(gone)
    assert [again.of_calls([each])[0] for each in ids[left:]] == names[left:]


@pytest.mark.parametrize(
    ("held", "new", "known", "gone"),
    [
        ("a", "", "a a-2", {"a"}),
        ("a", "", "a a-3", {"a"}),  # the second call had no result
        ("a", "", "a a-4", set()),
        ("a", "", "a a-2 a-4 a-6", {"a", "a-2", "a-4"}),
        ("", "a", "a-2", {"a-2"}),
        ("", "a", "a-3", {"a-3"}),
        ("", "a", "a-4", set()),
        ("", "b", "a a-2", set()),
        ("a a a", "b", "a a-2 b", {"b"}),
        ("a b", "", "a b", set()),
    ],
)
def test_of_calls_that_share_an_id_the_newest_are_held(held: str, new: str, known: str, gone: set[str]) -> None:
    assert gone_names(held.split(), new.split(), known.split()) == gone
