"""Promise 5 for what pydantic-ai really sends: drawn conversations, seen by a model that is a Python function."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, Tool, ToolOutput
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cuecard import ConversationState, Entity, Memory, Turn
from cuecard.adapters.bodies import reminder
from cuecard.adapters.pydantic_ai import Cuecard
from property.test_every_conversation import TOOLS, engine_of

START = datetime(2026, 11, 20, 20, tzinfo=UTC)
BATCHES = st.lists(
    st.lists(st.sampled_from(["find t_1", "find t_2", "find t_3", "fails", "t_1", "t_2"]), min_size=1, max_size=4),
    max_size=3,
)


@dataclass(frozen=True)
class Run:
    """One message of the user: what it says, the batches of calls until the model answers, and how it ends."""

    batches: list[list[str]]
    words: str
    pages: int
    hours: int
    gone: set[str]
    by_tool: bool
    compacts: bool
    window: int
    files: tuple[int, tuple[int, ...]]
    ahead: tuple[str, ...]


WAS = (1, 1, 1, 1, 0)
RUNS = st.lists(
    st.builds(
        Run,
        batches=BATCHES,
        words=st.sampled_from(["hello", "PASTE"]),
        pages=st.integers(0, 2),
        hours=st.sampled_from([0, 1, 5]),
        gone=st.sets(st.sampled_from(TOOLS[:2]), max_size=1),
        by_tool=st.booleans(),
        compacts=st.sampled_from([False, False, False, True]),
        window=st.sampled_from([0, 0, 0, 1, 2]),
        files=st.sampled_from([(0, WAS), (0, WAS), (1, WAS), (0, (1, 2, 1, 1, 0)), (0, (1, 1, 0, 2, 1))]),
        ahead=st.sampled_from([(), (), ("t_2",), ("t_3", "t_1")]),
    ),
    min_size=2,
    max_size=5,
)


@dataclass
class Host:
    """An application with pydantic-ai: it stores messages and conversation as JSON between two messages of the user."""

    sent: list[tuple[str, bool]] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    by_tool: bool = False
    fresh: bool = True

    async def decide(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append((_wire(info.instructions or "", messages), self.fresh))
        self.fresh = False
        at = len(self.sent)
        if self.batches:
            names = enumerate(self.batches.pop(0))
            return ModelResponse([ToolCallPart(*_call(name), f"call-{at}-{n}") for n, name in names])
        if self.by_tool:
            return ModelResponse([ToolCallPart(info.output_tools[0].name, {"response": "done"}, f"call-{at}")])
        return ModelResponse([TextPart("done")])


def _call(name: str) -> tuple[str, dict[str, Any]]:
    return ("tool_search", {"query": name.removeprefix("find ")}) if name.startswith("find ") else (name, {})


def _wire(instructions: str, messages: Sequence[ModelMessage]) -> str:
    """What a provider would be sent: no timestamps, no ids of runs."""
    parts = [(p.part_kind, getattr(p, "content", None) or getattr(p, "args", None)) for m in messages for p in m.parts]
    return json.dumps([instructions, *parts], default=str).removesuffix("]")


def play(runs: Sequence[Run]) -> list[tuple[str, bool]]:
    """Every request, and whether a recorded baseline begins with it, or a window that has moved."""
    engine = engine_of(0, WAS, "append", "next-call", "{}")
    host, messages, state, now = Host(), "[]", engine.conversation().to_json(), START
    tools = [Tool(_tool(name), name=name, takes_ctx=False) for name in (*TOOLS[:3], "fails")]
    model = FunctionModel(host.decide, profile=ModelProfile(supports_inline_system_prompts=True))
    for run in runs:
        now += timedelta(hours=run.hours)
        engine = engine_of(*run.files, "append", "next-call", "{}")
        chat = engine.conversation(ConversationState.from_json(state))
        memory = Memory(tuple(Entity("page", f"p{n}", f"Page {n}") for n in range(run.pages)))
        there = tuple(name for name in engine.tools if name not in run.gone)
        turn = Turn(memory=memory, now=now, tools=there, ahead=run.ahead)
        history = ModelMessagesTypeAdapter.validate_json(messages)
        if run.compacts and chat.call:
            history = []
            chat.compacted(kept=0)
        asked = [place for place, message in enumerate(history) if _asks(message)]
        moved = 0 < run.window < len(asked)
        history = history[asked[-run.window] :] if moved else history
        calls = list[Any]()
        card = Cuecard(engine=engine, turn=turn, conversation=chat, on_call=calls.append, handle_tool_errors=True)
        output: Any = ToolOutput(str, name="final_answer") if run.by_tool else str
        host.batches, host.by_tool, first = [*run.batches], run.by_tool, len(host.sent)
        agent = Agent(model, tools=tools, capabilities=[card], output_type=output)
        pasted = [block.text for block in chat.call.prompt.sent] if chat.call else []
        words = reminder(pasted[-1]) if run.words == "PASTE" and pasted else run.words
        result = asyncio.run(agent.run(words, message_history=history))
        recorded = moved or any(cut.what == "baseline" for cut in calls[0].record.cuts)
        host.sent[first:] = [
            (text, at == 0 and (recorded or not first)) for at, (text, _) in enumerate(host.sent[first:])
        ]
        messages, state = ModelMessagesTypeAdapter.dump_json(result.all_messages()).decode(), chat.to_json()
    return host.sent


def _asks(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)


def _tool(name: str) -> Any:
    def called() -> str:
        if name == "fails":
            raise OSError("the disk is full")
        return name

    return called


@settings(max_examples=int(os.environ.get("CUECARD_CONVERSATIONS", "15")))
@given(runs=RUNS)
def test_promise_5_request_n_starts_with_request_n_minus_1(runs: list[Run]) -> None:
    """Instructions and messages, that is: which definitions of tools are sent is pydantic-ai's own matter."""
    sent = play(runs)

    for (before, _), (after, recorded) in pairwise(sent):
        assert recorded or after.startswith(before)
