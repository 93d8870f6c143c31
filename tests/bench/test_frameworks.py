"""What an adapter adds to a step of its framework, side by side in one run: the same agent with it and without it."""

from __future__ import annotations

import asyncio
import inspect
import json
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from typing_extensions import override

from cuecard import Engine, Turn
from cuecard.adapters import adk, openai_agents
from cuecard.adapters.openai_agents_run import Run as OpenAIRun

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
STEPS = 12
RUNS = 30
FOUND = {"tools": ["cms_createPage"], "message": "Found 1 tool."}
USED = types.GenerateContentResponseUsageMetadata(prompt_token_count=1, candidates_token_count=1)
Run = Callable[[], Awaitable[object]]


def tool_search(query: str) -> dict[str, Any]:
    return FOUND


def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the catalogue names them
    return {"success": True, "page": {"id": title, "title": title}}


@dataclass
class Clock:
    """The processor time that was spent in an adapter."""

    spent: float = 0.0
    running: bool = False

    def around(self, patch: pytest.MonkeyPatch, owner: Any, *names: str) -> None:
        """Measure these functions; what one of them spends in another counts once."""
        for name in names:
            patch.setattr(owner, name, self._measured(getattr(owner, name)))

    def _measured(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):

            async def awaited(*args: Any, **kwargs: Any) -> Any:
                with self._on():
                    return await function(*args, **kwargs)

            return awaited

        def called(*args: Any, **kwargs: Any) -> Any:
            with self._on():
                return function(*args, **kwargs)

        return called

    @contextmanager
    def _on(self) -> Iterator[None]:
        outer, self.running = self.running, True
        start = time.process_time()
        yield
        self.running = outer
        if not outer:
            self.spent += time.process_time() - start


def per_step(plain: Run, adapted: Run, framework: str, clock: Clock) -> None:
    """What a step takes without the adapter and with it, taken in turns, and what of it the adapter itself takes."""
    taken: dict[str, list[float]] = {"plain": [], "adapted": [], "own": []}

    async def measure() -> None:
        for number in range(RUNS + 2):
            for name, run in (("plain", plain), ("adapted", adapted)):
                clock.spent, start = 0.0, time.process_time()
                await run()
                if number > 1:
                    taken[name].append((time.process_time() - start) / STEPS * 1e3)
            taken["own"] += [clock.spent / STEPS * 1e3] if number > 1 else []

    asyncio.run(measure())
    base, whole, own = (statistics.median(taken[name]) for name in ("plain", "adapted", "own"))
    print(f"\n{framework}, {STEPS} steps a run: a step takes {base:.2f} ms, with the adapter {whole:.2f} ms")
    print(f"  the adapter's own time {own:.2f} ms: {own / base:.1%} of the framework's step")


def test_a_step_of_the_openai_agents_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    card = openai_agents.Cuecard(Engine.open(CMS, delivery="append"))
    config = RunConfig(tracing_disabled=True)

    def script() -> ScriptedModel:
        calls = [[function_call("tool_search", {"query": "create a page"}, call_id="search")]]
        made = [[function_call("cms_createPage", {"title": f"p{n}"}, call_id=f"p{n}")] for n in range(STEPS - 2)]
        return ScriptedModel([*calls, *made, [assistant_message("done")]])

    search = function_tool(lambda query: json.dumps(FOUND), name_override="tool_search", strict_mode=False)  # noqa: ARG005 - asked for
    tools = [search, function_tool(cms_createPage)]
    bare: Agent[Any] = Agent("cms", instructions="You look after a site.", tools=list(tools))
    carded: Agent[Any] = Agent("cms", instructions="You look after a site.", tools=card.tools(tools))

    def plain() -> Awaitable[object]:
        return Runner.run(bare.clone(model=script()), "hello", run_config=config, max_turns=STEPS)

    def adapted() -> Awaitable[object]:
        return Runner.run(carded.clone(model=script()), "hello", max_turns=STEPS, **card.options(TURN, config=config))

    clock = Clock()
    clock.around(monkeypatch, OpenAIRun, "begin", "prepared", "shows", "refusal", "search")
    per_step(plain, adapted, "OpenAI Agents SDK", clock)


class Scripted(BaseLlm):
    @override
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        done = sum(bool(part.function_response) for content in llm_request.contents for part in content.parts or ())
        name, args = ("cms_createPage", {"title": f"p{done}"}) if done else ("tool_search", {"query": "create a page"})
        call = types.Part(function_call=types.FunctionCall(name=name, args=args))
        part = call if done < STEPS - 1 else types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=USED)


def test_a_step_of_adk(monkeypatch: pytest.MonkeyPatch) -> None:
    card = adk.Cuecard(Engine.open(CMS, delivery="append"), turn=TURN)
    message = types.Content(role="user", parts=[types.Part(text="hello")])

    def running(*plugins: adk.Cuecard) -> Run:
        agent = LlmAgent(name="cms", model=Scripted(model="any"), tools=[tool_search, cms_createPage])
        sessions = InMemorySessionService()
        runner = AdkRunner(app=App(name="site", root_agent=agent, plugins=list(plugins)), session_service=sessions)

        async def run() -> None:
            session = await sessions.create_session(app_name="site", user_id="ann")
            _ = [e async for e in runner.run_async(user_id="ann", session_id=session.id, new_message=message)]

        return run

    clock = Clock()
    clock.around(monkeypatch, card, "before_run_callback", "before_model_callback", "before_tool_callback")
    per_step(running(), running(card), "Google ADK", clock)
