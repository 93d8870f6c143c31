"""What an ADK request is made of, beside its contents: instructions, declarations, and the search tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from typing_extensions import override

from cuecard.engine import Engine
from cuecard.model import Json, Step

_DIGITS = 9
"""How many digits of a limit are read: more tools than that there are never."""


def put_in_front(system: str, existing: Any) -> Any:
    """Instructions with this text in front, whatever form they have."""
    if not existing:
        return system
    if isinstance(existing, str):
        return f"{system}\n\n{existing}"
    if isinstance(existing, types.Content):
        return existing.model_copy(update={"parts": [types.Part(text=system), *(existing.parts or [])]})
    return [system, *(existing if isinstance(existing, list) else [existing])]


def show_active(request: LlmRequest, step: Step, catalogue: Collection[str]) -> None:
    """Take the declarations of tools out that the catalogue knows and that are not active."""
    for tool in request.config.tools or ():
        if isinstance(tool, types.Tool) and tool.function_declarations:
            tool.function_declarations = [
                each
                for each in tool.function_declarations
                if each.name in step.active_tools or each.name not in catalogue
            ]


class SearchTool(BaseTool):
    """The search tool, under the name that the agent file gives it, described in the agent's words."""

    def __init__(
        self, engine: Engine, search: Callable[[ToolContext, str, int | None], Awaitable[dict[str, Json]]]
    ) -> None:
        card, words = engine.tools.get(engine.search_tool), engine.words.search
        super().__init__(name=engine.search_tool, description=card.description if card else words.description)
        self._search, self._words = search, words

    @override
    def _get_declaration(self) -> types.FunctionDeclaration:
        fields = {
            "query": {"type": "string", "description": self._words.query_description},
            "limit": {"type": "integer", "description": self._words.limit_description},
        }
        schema = {"type": "object", "properties": fields, "required": ["query"]}
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    @override
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Json]:
        limit = str(args.get("limit")).removesuffix(".0")[:_DIGITS]
        return await self._search(tool_context, str(args.get("query") or ""), int(limit) if limit.isdecimal() else None)
