"""The example CMS as an assistant meets it: each use of a tool is a turn, in one conversation on a host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic_ai import Agent, RunContext, Tool, ToolOutput
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, SystemPromptPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile

from cms.database import Database
from cms.errors import CmsError
from cms.tools import TOOLS, call
from cms_agent import cms
from cuecard import Conversation, Engine, ToolCard, ToolResult
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.messages import tool_results

SEARCH, FINAL_ANSWER = "tool_search", "final_answer"
PROFILE = ModelProfile(supports_inline_system_prompts=True, tool_addition_mode="with_definitions")
ERRORS = {error.kind: error for error in CmsError.__subclasses__()}


@cache
def engine() -> Engine:
    return cms().with_tools(ToolCard(name, tool.description, tool.input_schema) for name, tool in TOOLS.items())


@dataclass
class Talk:
    """A conversation of an assistant with the tools of a site: it finds a tool before it calls it."""

    db: Database
    chat: Conversation = field(default_factory=lambda: engine().conversation())
    messages: list[ModelMessage] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    """The system prompt and the blocks of each turn's first request."""

    def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """What the tool answers to the model in the next turn.

        Raises:
            CmsError: when the model reads that the call was refused.
        """
        (result,) = self._turn(tool, arguments)
        return _refused(json.loads(result.result)["error"]) if result.is_error else result.result

    def on(self, db: Database) -> Talk:
        """The conversation so far, which goes on with the tools of another site."""
        return Talk(db, engine().conversation(self.chat.state), [*self.messages], [*self.seen])

    def search(self, query: str) -> Any:
        """What the search tool answers in the next turn."""
        (result,) = self._turn(SEARCH, {"query": query})
        return result.result

    def repeat(self, tool: str, arguments: Mapping[str, Any], times: int) -> list[str]:
        """What the tool answers in the next turn, in which the model calls it so many times."""
        return [str(result.result) for result in self._turn(tool, arguments, times)]

    def _turn(self, tool: str, arguments: Mapping[str, Any], times: int = 1) -> list[ToolResult]:
        """The results of a turn in which the model calls a tool, which it finds first."""
        number = len(self.seen)
        wanted, sought = [f"turn-{number}-{place}" for place in range(times)], f"turn-{number}-search"

        def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            if len(self.seen) == number:
                parts = (part for message in messages for part in message.parts)
                told = [str(part.content) for part in parts if isinstance(part, SystemPromptPart)]
                self.seen.append("\n".join([info.instructions or "", *told]))
            done = {result.call_id for result in tool_results(messages)}
            left = [each for each in wanted if each not in done]
            if not left:
                return ModelResponse([ToolCallPart(FINAL_ANSWER, {"response": "Done."}, f"turn-{number}-answer")])
            if info.model_request_parameters.visibility_of(tool) in {"visible", "via_history"}:
                return ModelResponse([ToolCallPart(tool, dict(arguments), left[0])])
            assert sought not in done, f"{tool} was not found"
            return ModelResponse([ToolCallPart(SEARCH, {"query": tool}, sought)])

        model = FunctionModel(decide, profile=PROFILE)
        run = agent().run(f"Use {tool}.", deps=self, message_history=self.messages, model=model)
        self.messages = asyncio.run(run).all_messages()
        return [each for each in tool_results(self.messages) if each.call_id in wanted]


@cache
def agent() -> Agent[Talk, str]:
    """The host of all conversations, made once: what is learned of its tools is kept with it."""
    return Agent(
        deps_type=Talk,
        output_type=ToolOutput(str, name=FINAL_ANSWER),
        tools=[_tool(name) for name in TOOLS],
        retries=2,
        capabilities=[Cuecard(engine=engine(), retries=2, conversation=lambda ctx: ctx.deps.chat)],
    )


def _tool(name: str) -> Tool[Talk]:
    async def use(ctx: RunContext[Talk], **arguments: Any) -> Any:
        try:
            return call(ctx.deps.db, name, arguments)
        except CmsError as error:
            raise ToolFailed(json.dumps(error.to_json(), ensure_ascii=False)) from error

    return Tool.from_schema(use, name, TOOLS[name].description, dict(TOOLS[name].input_schema), takes_ctx=True)


def _refused(error: Mapping[str, Any]) -> None:
    raise ERRORS[error["class"]](error["message"], error["suggestion"], error.get("options", ()))
