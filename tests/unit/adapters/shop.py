"""A small agent in a folder that tests may edit: a tool that has to be found, and marks of its texts."""

from __future__ import annotations

from pathlib import Path

from cuecard import Engine

ROLE = "You are the assistant of a shop"
GOTCHA = "Amounts are in cents"
TEXTS = (ROLE, GOTCHA)
"""What nobody but the model may see: of the system prompt, and of the instructions of the tool."""

SEARCH = ("tool_search", {"query": "give money back"})
REFUND = ("refund_order", {"order_id": "o-1"})

AGENT = """agent: shop
delivery: append
tools: {instructions: tools.yaml, core: [tool_search]}
sections:
  - {id: role, text: You are the assistant of a shop.}
  - {id: instructions, text: "{{{activeProtocols}}}"}
"""
TOOLS = """category: orders
described:
  tool_search: {description: Find tools by what they can do}
  list_orders: {description: List the orders of a customer}
tools:
  refund_order:
    description: Pay money back for an order
    phrases: [give money back]
    gotcha: Amounts are in cents.
"""


class Shop:
    """The agent's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(AGENT, TOOLS)

    def write(self, agent: str, tools: str) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "agent.yaml").write_text(agent)
        (self.folder / "tools.yaml").write_text(tools)

    def new_prompt(self) -> None:
        """Another text of the prompt, with the same tools."""
        self.write(AGENT.replace("of a shop.", "of a shop. Be brief."), TOOLS)

    def new_tools(self) -> None:
        """Other instructions of the tool."""
        self.write(AGENT, TOOLS.replace("in cents.", "in euros."))

    @property
    def engine(self) -> Engine:
        """What a process opens that starts now."""
        return Engine.open(self.folder)


def held_in(told: object, texts: tuple[str, ...] = TEXTS) -> list[str]:
    """Which of the texts something tells, however it is shown."""
    return [text for text in texts if text in repr(told)]
