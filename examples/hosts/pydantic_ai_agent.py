"""pydantic-ai: one capability, and the framework's own test model."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from cuecard import Call, Engine, Turn
from cuecard.adapters.pydantic_ai import Cuecard


def cms_createPage(title: str) -> dict[str, str]:  # noqa: N802 - tools are named as the CMS names them
    """Create a page."""
    return {"title": title}


async def main() -> None:
    calls: list[Call] = []
    card = Cuecard(engine=Engine.open("prompts/cms"), turn=Turn(), on_call=calls.append)
    agent = Agent(TestModel(call_tools=[]), tools=[cms_createPage], capabilities=[card])
    print((await agent.run("Hello")).output)
    print("tools:", ", ".join(calls[0].tools.available))


if __name__ == "__main__":
    asyncio.run(main())
