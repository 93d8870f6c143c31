"""Agents of as many tools as a test needs, each with instructions of about 85 tokens."""

from __future__ import annotations

from pathlib import Path

from cuecard import Engine
from cuecard.types import DeliveryWish

TEMPLATE = """<agent>
<rules>Help the user.</rules>
<working-memory>{{{workingMemory}}}</working-memory>
<clock>{{currentDate}}</clock>
<protocols>{{{activeProtocols}}}</protocols>
</agent>
"""

TOOL = """  {name}:
    phrases: [do the thing of {name}]
    before: Read the object first, and ask the user which one is meant when two of them could be; never guess an id
    after: Show what was changed, in one short line for each change, with the name and not the id of the object
    next: None
    gotcha: A large object takes a while; say so before, and do not call the tool a second time in the meantime
"""


def write_agent(folder: Path, tools: int, more: str = "") -> Path:
    """An agent file in `folder`, with a search tool and so many others."""
    names = ["tool_search", *(f"tool_{number:02}" for number in range(tools))]
    (folder / "agent.xml").write_text(TEMPLATE, encoding="utf-8")
    text = "category: things\ntools:\n" + "".join(TOOL.format(name=name) for name in names)
    (folder / "tools.yaml").write_text(text, encoding="utf-8")
    head = "agent: some\ntemplate: agent.xml\ntools: {instructions: tools.yaml, core: [tool_search]}\n"
    path = folder / "agent.yaml"
    path.write_text(head + more, encoding="utf-8")
    return path


def agent_of(folder: Path, tools: int, delivery: DeliveryWish | None = None) -> Engine:
    return Engine.open(write_agent(folder, tools), delivery=delivery)
