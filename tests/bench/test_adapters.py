"""What the adapters add to a step of a framework: their own time, beside all that the framework does, in one run.

Processor time, since the machine may have other things to do. The engine's own work, which `test_step.py` measures, is
told apart from that of the adapter.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices as it is imported

import litellm
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool

from cuecard import Conversation, Engine, Turn
from cuecard.adapters import langgraph
from cuecard.adapters.langchain import Cuecard
from cuecard.adapters.litellm import Cuecard as LiteLLMCuecard
from unit.adapters.graph_models import Model
from unit.adapters.model_server import Calls

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
TURN = Turn(now=datetime(2026, 11, 20, tzinfo=UTC))
STEPS = 12
RUNS = 15
PAGES: dict[str, Any] = {"query": "create an empty page", "limit": 1}
BATCHES: list[Calls] = [[("tool_search", PAGES)], *[[("cms_createPage", {})]] * (STEPS - 2)]
ENGINE = Engine.open(CMS, delivery="append")
TOOLS = [name for name in ENGINE.tools if name != ENGINE.search_tool]


class Watch:
    """Times functions while they are called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch, self.spent = monkeypatch, 0.0

    def over(self, owner: type, *names: str) -> Watch:
        for name in names:
            self._patch.setattr(owner, name, self._timed(getattr(owner, name)))
        return self

    def _timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return work(*arguments, **options)
            finally:
                self.spent += time.process_time() - start

        return timed


def measured(name: str, monkeypatch: pytest.MonkeyPatch, adapter: type, run: Callable[[], object]) -> None:
    engine = Watch(monkeypatch).over(Conversation, "user", "step")
    whole = Watch(monkeypatch).over(adapter, "prepare")
    rows = []
    for _ in range(RUNS + 1):
        engine.spent = whole.spent = 0.0
        start = time.process_time()
        run()
        rows.append((time.process_time() - start - whole.spent, whole.spent - engine.spent, engine.spent))
    framework, own, core = (statistics.median(part) / STEPS * 1e6 for part in zip(*rows[1:], strict=True))
    print(f"\n{name}, a step with {len(TOOLS)} tools, in microseconds of processor time")
    for what, value in (("framework", framework), ("adapter", own), ("engine", core)):
        print(f"  {what:10s} {value:6.0f}  {value / framework:5.1%}")


def test_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [StructuredTool.from_function(lambda: {"ok": True}, name=name, description=name) for name in TOOLS]
    card = Cuecard(engine=ENGINE, turn=TURN)

    def run() -> object:
        agent: Any = create_agent(Model(batches=BATCHES), tools=tools, middleware=[card])
        return agent.invoke({"messages": [HumanMessage("hello")]}, {"recursion_limit": 100})

    measured("LangChain", monkeypatch, langgraph.Cuecard, run)


def test_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    card = LiteLLMCuecard(engine=ENGINE, turn=TURN)
    tools = [{"type": "function", "function": {"name": n, "description": n, "parameters": {}}} for n in TOOLS]

    def run() -> object:
        messages: list[Any] = [{"role": "user", "content": "hello"}]
        for number in range(STEPS):
            ready = card.prepare("openai/gpt-5", messages, tools)
            litellm.completion(**ready.arguments, mock_response="done")
            name, found = ("cms_createPage", "{}") if number else (ENGINE.search_tool, '["cms_createPage"]')
            call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})
        return messages

    measured("LiteLLM", monkeypatch, LiteLLMCuecard, run)
