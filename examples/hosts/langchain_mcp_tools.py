"""MCP tools in LangChain: results as a server sends them, and an approval; tools and model stand in for real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typing_extensions import override

from cuecard import Engine, Step
from cuecard.adapters.langchain import Cuecard

AGENT = """\
agent: shop
delivery: append
tools: {instructions: tools.yaml, core: [tool_search]}
results: {shop_list_orders: "{{#each result.result}}[{{this.id}}]{{/each}}"}
memory: {extract: [{at: result, type: order}]}
sections:
  - {id: role, text: You are the assistant of a shop.}
  - {id: memory, text: "{{{workingMemory}}}"}
  - {id: instructions, text: "{{{activeProtocols}}}"}
"""
TOOLS = """\
category: orders
described:
  tool_search: {description: Find tools by what they can do}
  shop_list_orders: {description: List the orders of a customer}
tools:
  shop_refund_order:
    description: Pay money back for an order
    before: Ask for a clear yes
    after: Say the amount
    next: None required
    gotcha: Amounts are in cents.
"""


class ScriptedModel(FakeMessagesListChatModel):
    """Says what it is told to; the fake model of LangChain does not know of tools."""

    @override
    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self


def calling(name: str, number: int, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{number}"}])


# In place of `await MultiServerMCPClient({"shop": {...}}, tool_name_prefix=True).get_tools()`:
@tool(response_format="content_and_artifact")
async def shop_list_orders() -> tuple[list[dict[str, str]], dict[str, Any]]:
    """List the orders."""
    orders = [{"id": "o-1", "name": "Order 1"}, {"id": "o-2", "name": "Order 2"}]
    return [{"type": "text", "text": str(orders), "id": "lc_1"}], {"structured_content": {"result": orders}}


@tool(response_format="content_and_artifact")
async def shop_refund_order(order_id: str) -> tuple[list[dict[str, str]], None]:
    """Pay money back for an order."""
    return [{"type": "text", "text": f'{{"refunded": "{order_id}"}}', "id": "lc_2"}], None


async def talk(card: Cuecard) -> None:
    """A refund that a person approves, and another message."""
    script = [
        calling("tool_search", 1, query="list the orders"),
        calling("shop_list_orders", 2),
        calling("tool_search", 3, query="pay money back"),
        calling("shop_refund_order", 4, order_id="o-1"),
        AIMessage("Paid back."),
        AIMessage("You are welcome."),
    ]
    asks: Any = HumanInTheLoopMiddleware({"shop_refund_order": True})
    tools = [shop_list_orders, shop_refund_order]
    agent: Any = create_agent(
        ScriptedModel(responses=[*script]), tools, middleware=[asks, card], checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "one"}}
    shown = [part async for part in agent.astream({"messages": "Refund o-1"}, thread, stream_mode="updates")]
    print("a person is asked:", "__interrupt__" in shown[-1])
    answer = await agent.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
    print(answer["messages"][-1].text)
    await agent.ainvoke({"messages": "Thanks"}, thread)


def main() -> None:
    steps: list[Step] = []
    with TemporaryDirectory() as folder:
        Path(folder, "agent.yaml").write_text(AGENT, encoding="utf-8")
        Path(folder, "tools.yaml").write_text(TOOLS, encoding="utf-8")
        asyncio.run(talk(Cuecard(engine=Engine.open(folder), on_step=steps.append)))
    print("active:", ", ".join(steps[-1].active_tools))
    print("learnt:", '"Order 1" (o-1)' in steps[-1].appended[-1].text)


if __name__ == "__main__":
    main()
