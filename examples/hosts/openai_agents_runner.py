"""OpenAI Agents SDK: one card, two messages of a session, and the SDK's own scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from cuecard import Engine, Step, Turn
from cuecard.adapters.openai_agents import Cuecard


@function_tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the CMS names them
    """Create a page."""
    return {"success": True, "page": {"id": "page-1", "title": title}}


async def main() -> None:
    steps: list[Step] = []
    engine = Engine.open("prompts/cms")
    card = Cuecard(engine, on_step=steps.append)
    model = ScriptedModel(
        [
            [function_call("tool_search", {"query": "create an empty page"}, call_id="search")],
            [function_call("cms_createPage", {"title": "About"}, call_id="create")],
            [assistant_message("The page is there.")],
            [assistant_message("It is called About.")],
        ]
    )
    agent: Agent[Any] = Agent("cms", model=model, tools=card.tools([cms_createPage]))
    session, chat = SQLiteSession("conversation-1"), engine.conversation()
    for words in ("Create a page named About", "What is it called?"):
        options = card.options(Turn(), chat, config=RunConfig(tracing_disabled=True))
        result = await Runner.run(agent, words, session=session, **options)
        print(result.final_output)
    session.close()
    for number, step in enumerate(steps, start=1):
        print(f"request {number}: {step.manifest.total_tokens} tokens, tools: {', '.join(step.active_tools)}")
    print("remembered:", ", ".join(f"{entity.name} ({entity.id})" for entity in chat.memory.entities))


if __name__ == "__main__":
    asyncio.run(main())
