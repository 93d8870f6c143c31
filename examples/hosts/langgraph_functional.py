"""LangGraph's functional API: messages and conversation are saved together; the model follows a script."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import add_messages
from langgraph.prebuilt import ToolNode

from cuecard import Engine, Step, Turn
from cuecard.adapters.langgraph import Cuecard
from langgraph_graph import ScriptedModel, calling, cms_createPage

steps: list[Step] = []
card = Cuecard(engine=Engine.open("prompts/cms"), on_step=steps.append)
nodes = ToolNode([cms_createPage, card.search_tool], wrap_tool_call=card.wrap_tool_call)
tools = list(nodes.tools_by_name.values())
model = ScriptedModel(
    messages=iter(
        [
            calling("tool_search", query="create an empty page"),
            calling("cms_createPage", title="About us"),
            AIMessage("The page is there."),
            AIMessage("Good bye!"),
        ]
    )
)


@entrypoint(checkpointer=InMemorySaver())
def talk(said: list[Any], *, previous: dict[str, Any] | None = None) -> Any:
    """Answer a message; the conversation is saved whole, since no channel has its texts."""
    kept = previous or {"messages": [], "cuecard": None}
    messages: Any = add_messages(kept["messages"], said)
    conversation = kept["cuecard"]
    while True:
        ready = card.prepare(model, messages, tools, conversation, turn=Turn())
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        messages, conversation = add_messages(messages, [answer]), ready.after(answer)
        if not answer.tool_calls:
            save = {"messages": messages, "cuecard": card.whole(conversation)}
            return entrypoint.final(value=answer.text, save=save)
        results = nodes.invoke({"messages": messages, "cuecard": conversation})
        messages = add_messages(messages, results["messages"])


def main() -> None:
    for words in ("Make a page about us.", "Bye"):
        print(talk.invoke([HumanMessage(words)], {"configurable": {"thread_id": "one"}}))
    print("active:", ", ".join(steps[-1].active_tools))


if __name__ == "__main__":
    main()
