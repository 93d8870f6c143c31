"""ADK's agents and requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from google.adk.agents.base_agent import BaseAgent
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from typing_extensions import override

from cuecard.adapters.function_tools import search_card
from cuecard.adapters.one_turn import whole_system
from cuecard.engine import Engine
from cuecard.model import CallHost, Json, Step


def agents_of(node: object) -> Iterator[BaseAgent]:
    """The agents of the app that a node belongs to, from the root on; of a workflow, which is no agent, none."""
    if isinstance(node, BaseAgent):
        yield from _from(node.root_agent)


def sees_one_turn(agent: BaseAgent | None) -> bool:
    """Whether each message of the user is the first to its model: `include_contents="none"`."""
    return getattr(agent, "include_contents", "default") == "none"


def sends_news_only(agent: BaseAgent | None) -> bool:
    """Whether the service keeps the conversation, so that nothing can be put into it but what is new."""
    return bool(getattr(getattr(agent, "model", None), "use_interactions_api", False))


def says_something(message: types.Content | None) -> bool:
    """Whether a message of the user says something, and does not only answer what a tool has asked for."""
    return message is None or any(not part.function_response for part in message.parts or ())


def words_of(message: types.Content | None) -> str:
    """The text of a message of the user."""
    return "\n".join(part.text for part in (message.parts or () if message else ()) if part.text and not part.thought)


def lost_texts(request: LlmRequest, step: Step) -> str:
    """What of the step is no longer in a request, in words; empty where all is, or where the service has cached it.

    A model that takes no system prompt may have moved it, as Gemma does.
    """
    if request.config.cached_content:
        return ""
    given, said = request.config.system_instruction, _text(request.contents)
    if given is not None and whole_system(step).strip() not in f"{_text(given)}\n{said}":
        return "the prompt out of the system instruction"
    return "instructions out of the contents" if any(block.text.strip() not in said for block in step.appended) else ""


def _text(value: Any) -> str:
    """The texts of contents and parts in any form that Google's client takes."""
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    if isinstance(value, Mapping):
        return _text(value.get("parts") or value.get("text") or "")
    return (
        value if isinstance(value, str) else _text(getattr(value, "parts", None) or getattr(value, "text", None) or "")
    )


def waits(events: Sequence[Event], invocation: str, agent: str) -> bool:
    """Whether an agent waits for somebody to answer one of its calls, so that its turn goes on then."""
    own = (each for each in events if each.invocation_id == invocation and each.author == agent)
    asked = {call for each in own for call in each.long_running_tool_ids or ()}
    answers = (response.id for each in events if each.author == "user" for response in each.get_function_responses())
    return bool(asked.difference(answers))


def _from(agent: BaseAgent) -> Iterator[BaseAgent]:
    yield agent
    for child in getattr(agent, "sub_agents", ()):
        yield from _from(child)


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


Front: TypeAlias = dict[str, tuple[types.FunctionDeclaration, BaseTool | None]]
"""The declarations of a request in their order, by name, each with its tool."""


def keep_front(request: LlmRequest, host: CallHost, sent: Front) -> Front:
    """The declarations of a request, in which those of tools that are gone stay where they were sent: nothing may leave
    what a provider has cached. Their tools stay as well, so that a call of one is refused and the run goes on.

    Args:
        request: the request.
        host: the tools that the host has, had, and has sent.
        sent: the declarations of the request before, as far as this process knows them.
    """
    own = [tool for tool in request.config.tools or () if isinstance(tool, types.Tool) and tool.function_declarations]
    now = {each.name or "": each for tool in own for each in tool.function_declarations or ()}
    known = {name: (each, request.tools_dict.get(name)) for name, each in now.items()}
    known |= {name: held for name, held in sent.items() if name not in now and name in host.gone}
    front: Front = {name: known[name] for name in dict.fromkeys((*sent, *host.front)) if name in known}
    front |= {name: (each, request.tools_dict.get(name)) for name, each in now.items() if name not in front}
    if own and [*front] != [*now]:
        own[0].function_declarations = [declared for declared, _ in front.values()]
        for tool in own[1:]:
            tool.function_declarations = None
        for name, (_, held) in front.items():
            if held:
                request.tools_dict.setdefault(name, held)
    return front


class SearchTool(BaseTool):
    """The search tool, under the name that the agent file gives it, described in the agent's words."""

    def __init__(
        self, engine: Engine, search: Callable[[ToolContext, str, int | None], Awaitable[dict[str, Json]]]
    ) -> None:
        self._search, self._card = search, search_card(engine)
        super().__init__(name=self._card.name, description=self._card.description)

    @override
    def _get_declaration(self) -> types.FunctionDeclaration:
        schema = self._card.input_schema
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    @override
    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Json]:
        limit = str(args.get("limit")).removesuffix(".0")[:_DIGITS]
        return await self._search(tool_context, str(args.get("query") or ""), int(limit) if limit.isdecimal() else None)
