"""LangGraph: two agents in one graph, and one in a subgraph that goes on; the models follow a script."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from cuecard import Engine, Step, Turn
from cuecard.adapters.langgraph import Cuecard
from langgraph_graph import ScriptedModel

steps: list[Step] = []
planner = Cuecard(engine=Engine.open("prompts/cms"), on_step=steps.append)
writer = Cuecard(engine=Engine.open("prompts/cms", delivery="rewrite"), state_key="writer")


class State(MessagesState):
    """The messages, and the conversation of each agent under the key of its card."""

    cuecard: NotRequired[Annotated[dict[str, str], planner.channel]]
    writer: NotRequired[Annotated[dict[str, str], writer.channel]]


def asks(card: Cuecard, key: str, *answers: str) -> Any:
    """A node that asks a model, and keeps the conversation of this card."""
    model = ScriptedModel(messages=iter([AIMessage(answer) for answer in answers]))

    def node(state: State) -> dict[str, Any]:
        conversation: Any = state.get(key)
        ready = card.prepare(model, state["messages"], [], conversation, turn=Turn())
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], key: ready.after(answer)}

    return node


def both() -> Any:
    """A graph in which one agent plans, and another one writes."""
    graph = StateGraph(State, input_schema=MessagesState, output_schema=MessagesState)
    graph.add_node("plan", asks(planner, "cuecard", "A page."))
    graph.add_node("write", asks(writer, "writer", "Done."))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "write")
    return graph.compile(checkpointer=InMemorySaver())


def nested() -> Any:
    """A graph around one that keeps its own checkpoints: each message goes on with the same conversation."""
    inner = StateGraph(State, input_schema=MessagesState, output_schema=MessagesState)
    inner.add_node("model", asks(planner, "cuecard", "One.", "Two."))
    inner.add_edge(START, "model")
    outer = StateGraph(MessagesState)
    outer.add_node("assistant", inner.compile(checkpointer=True))
    outer.add_edge(START, "assistant")
    return outer.compile(checkpointer=InMemorySaver())


def main() -> None:
    thread = {"configurable": {"thread_id": "one"}}
    app = both()
    print([message.text for message in app.invoke({"messages": "Write about us."}, thread)["messages"]])
    print("conversations:", ", ".join(sorted({"cuecard", "writer"} & app.get_state(thread).values.keys())))

    app = nested()
    for words in ("Hello", "And again"):
        app.invoke({"messages": words}, thread)
    print("turns of one conversation:", [step.call.turn for step in steps[-2:] if step.call])


if __name__ == "__main__":
    main()
