"""Google ADK: one plugin, two messages of a session, and a model that follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from typing_extensions import override

from cuecard import Engine, Step, Turn
from cuecard.adapters.adk import Cuecard


def calling(name: str, **arguments: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=arguments))


class ScriptedModel(BaseLlm):
    """Says what it is told to, whatever it is asked."""

    model: str = "scripted"
    script: list[types.Part]

    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        used = types.GenerateContentResponseUsageMetadata(prompt_token_count=1, candidates_token_count=1)
        content = types.Content(role="model", parts=[self.script.pop(0)])
        yield LlmResponse(content=content, usage_metadata=used)


def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the CMS names them
    """Create a page."""
    return {"success": True, "page": {"id": "page-1", "title": title}}


async def main() -> None:
    steps: list[Step] = []
    card = Cuecard(Engine.open("prompts/cms"), turn=Turn(), on_step=steps.append)
    model = ScriptedModel(
        script=[
            calling("tool_search", query="create an empty page"),
            calling("cms_createPage", title="About"),
            types.Part(text="The page is there."),
            types.Part(text="It is called About."),
        ]
    )
    agent = LlmAgent(name="cms", model=model, tools=[cms_createPage])
    sessions = InMemorySessionService()
    await sessions.create_session(app_name="site", user_id="ann", session_id="one")
    runner = Runner(app=App(name="site", root_agent=agent, plugins=[card]), session_service=sessions)
    for words in ("Create a page named About", "What is it called?"):
        message = types.Content(role="user", parts=[types.Part(text=words)])
        async for event in runner.run_async(user_id="ann", session_id="one", new_message=message):
            if event.is_final_response() and event.content:
                print("".join(part.text or "" for part in event.content.parts or ()))
    for number, step in enumerate(steps, start=1):
        print(f"request {number}: {step.manifest.total_tokens} tokens, tools: {', '.join(step.active_tools)}")


if __name__ == "__main__":
    asyncio.run(main())
