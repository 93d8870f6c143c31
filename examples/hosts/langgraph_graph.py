"""LangGraph: a graph of one's own around a model that follows a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import override

from cuecard import Engine, Step, Turn
from cuecard.adapters.langgraph import Cuecard


class ScriptedModel(GenericFakeChatModel):
    """Says what it is told to; the fake model of LangChain does not know of tools."""

    @override
    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self


steps: list[Step] = []
card = Cuecard(engine=Engine.open("prompts/cms"), on_step=steps.append)


class State(MessagesState):
    """The messages, and the conversation, of which streams see a digest."""

    cuecard: NotRequired[Annotated[dict[str, str], card.channel]]


@tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the CMS names them
    """Create a page."""
    return {"success": True, "page": {"id": "page-1", "title": title}}


def calling(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def main() -> None:
    script = [
        calling("tool_search", query="create an empty page"),
        calling("cms_createPage", title="About us"),
        AIMessage("The page is there."),
    ]
    model, tools = ScriptedModel(messages=iter(script)), [cms_createPage, card.search_tool]

    def call_model(state: State) -> dict[str, Any]:
        ready = card.prepare(model, state["messages"], tools, state.get("cuecard"), turn=Turn())
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], "cuecard": ready.after(answer)}

    graph = StateGraph(State, input_schema=MessagesState, output_schema=MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools, wrap_tool_call=card.wrap_tool_call))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    app = graph.compile(checkpointer=InMemorySaver())

    asked: Any = {"messages": [HumanMessage("Make a page about us.")]}
    done = app.invoke(asked, {"configurable": {"thread_id": "one"}})

    print(done["messages"][-1].text)
    for number, step in enumerate(steps, 1):
        print(f"step {number}: {step.manifest.total_tokens} tokens, active: {', '.join(step.active_tools)}")


if __name__ == "__main__":
    main()
