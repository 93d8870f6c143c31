"""The example CMS as an assistant meets it: each use of a tool is a message of a user, in one conversation on a host."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from cms.database import Database
from cms.errors import CmsError
from cms.tools import TOOLS, call
from cms_agent import cms
from cuecard import Conversation, Engine, ToolCard, ToolResult, Turn
from cuecard.adapters.assistant import FINAL_ANSWER, make_assistant
from cuecard.adapters.pydantic_messages import tool_results
from cuecard.adapters.scripted import PROFILE, shown_names

SEARCH = "tool_search"
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
    turns: int = 0

    def use(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """What the tool answers to the model in the next turn.

        Raises:
            CmsError: when the model reads that the call was refused.
        """
        self.turns += 1
        wanted = f"turn-{self.turns}"

        def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            done = {result.call_id for result in tool_results(messages)}
            if wanted in done:
                return ModelResponse([ToolCallPart(FINAL_ANSWER, {"answer": "Done."}, f"{wanted}-answer")])
            if tool in shown_names(info):
                return ModelResponse([ToolCallPart(tool, dict(arguments), wanted)])
            assert f"{wanted}-search" not in done, f"{tool} was not found"
            return ModelResponse([ToolCallPart(SEARCH, {"query": tool}, f"{wanted}-search")])

        agent = make_assistant(
            engine(), FunctionModel(decide, profile=PROFILE), TOOLS, self._call, conversation=self.chat
        )
        run = agent.run(f"Use {tool}.", deps=Turn(), message_history=self.messages)
        self.messages = asyncio.run(run).all_messages()
        (result,) = (each for each in tool_results(self.messages) if each.call_id == wanted)
        return _refused(json.loads(result.result)["error"]) if result.is_error else result.result

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            return ToolResult(tool, call(self.db, tool, arguments))
        except CmsError as error:
            return ToolResult(tool, error.to_json(), is_error=True)


def _refused(error: Mapping[str, Any]) -> None:
    raise ERRORS[error["class"]](error["message"], error["suggestion"], error.get("options", ()))
