"""pydantic-ai: one capability gives an agent its prompt, its tools of the moment, and the search tool.

    agent = Agent(model, tools=my_tools, capabilities=[Cuecard(engine=Engine.open("prompts/cms/agent.yaml"))])

The capability is shared by all runs and holds nothing of any of them: `for_run` gives each run a copy of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pydantic_ai import RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import InstructionPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import FunctionToolset
from typing_extensions import override

from cuecard.adapters.pydantic_messages import holds_all, place_appended, tool_results
from cuecard.boundary import check_capability
from cuecard.catalogue.search import wrong_limit
from cuecard.config.values.placeholders import fill
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError
from cuecard.model import Call, Json, Step, Turn

TurnSource: TypeAlias = Turn | Callable[[RunContext[Any]], Turn]
"""What the host knows of a run: the same for all, or made from the run's context (such as its `deps`)."""

ConversationSource: TypeAlias = Conversation | Callable[[RunContext[Any]], Conversation]
"""The conversation that a run belongs to: the same for all, or found by the run's context (such as its `deps`)."""

OnCall: TypeAlias = Callable[[Call], None]
"""Told of every prepared call."""

OnStep: TypeAlias = Callable[[Step], None]
"""Told of every step before its request is sent: for manifests and displays."""


@dataclass(kw_only=True)
class Cuecard(AbstractCapability[Any]):
    """The prompt engine as a capability of a pydantic-ai agent.

    Under `rewrite` the system prompt is sent anew at each step. Under `append` it stays as it is, byte by byte, and
    each block of instructions joins the message history once, as a system prompt after the results it belongs to; how
    a model gets that (a system message in place, or marked text) is pydantic-ai's to know.

    Tools of the catalogue are shown to the model only while they are active: core tools first, then the host's own
    tools that the catalogue does not know, then what was discovered, in that order.

    Attributes:
        engine: the prompt engine.
        turn: what the host knows of a run.
        conversation: the conversation that runs belong to: under `append` the system prompt of its first run then
            stays, and what changed is said in a block. Where the message history no longer holds the blocks sent so
            far, it was compacted: the run gets a new baseline, which tells what was discovered. Without one, each run
            begins a conversation, in which only what the message history holds was found and touched.
        on_call: told of the prepared call.
        on_step: told of every step.
        retries: how often a tool that failed may be called again in a run; None for no limit.
        chat: the conversation of this run; `for_run` sets it.
        step: the step that the model is answering; every request sets it.
    """

    engine: Engine
    turn: TurnSource = field(default_factory=Turn)
    conversation: ConversationSource | None = None
    on_call: OnCall | None = None
    on_step: OnStep | None = None
    retries: int | None = None
    chat: Conversation | None = field(default=None, repr=False)
    step: Step | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_capability(vars(self), Engine, (Turn, Conversation))

    @override
    async def for_run(self, ctx: RunContext[Any]) -> Cuecard:
        """The capability of one run: its turn checked, its prompt rendered.

        Raises:
            InputError: with every missing, unknown or wrong input of the turn.
        """
        turn = self.turn if isinstance(self.turn, Turn) else self.turn(ctx)
        chat = self.conversation(ctx) if callable(self.conversation) else self.conversation
        chat = chat or self.engine.conversation()
        if chat.call and not holds_all(ctx.messages, chat.call.prompt.sent):
            chat.compacted()
        call = chat.user(turn, tool_results(ctx.messages))
        if self.on_call:
            self.on_call(call)
        return replace(self, chat=chat, step=None)

    @override
    def get_toolset(self) -> FunctionToolset[Any]:
        """The search tool, under the name that the agent file gives it."""
        name, words = self.engine.search_tool, self.engine.words.search
        card = self.engine.tools.get(name)
        description = card.description if card else words.description
        return FunctionToolset([Tool(self._search, name=name, description=description, prepare=self._described)])

    @override
    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Bring the request into the state that the step describes."""
        chat, call = self._running()
        step = self.step = chat.step(tool_results(ctx.messages))
        if self.on_step:
            self.on_step(step)
        parameters = request_context.model_request_parameters
        prompt = InstructionPart(content=step.system.strip(), dynamic=call.delivery.rebuilds)
        request_context.model_request_parameters = replace(
            parameters,
            instruction_parts=[prompt, *(parameters.instruction_parts or [])],
            function_tools=active_tools(parameters.function_tools, step, self.engine.tools),
        )
        before = list(request_context.messages)
        request_context.messages = place_appended(before, step.appended)
        # The history keeps the blocks too, so that the next request begins with this one.
        placed = {id(old): new for old, new in zip(before, request_context.messages, strict=True)}
        ctx.messages[:] = [placed.get(id(message), message) for message in ctx.messages]
        return request_context

    @override
    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: str | dict[str, Any]
    ) -> str | dict[str, Any]:
        """Refuse tools that are not active, and tools that have failed too often.

        Raises:
            ToolFailed: with what to do instead; the model reads it and the run goes on.
        """
        name, words = call.tool_name, self.engine.words
        if self.step and name in self.engine.tools and name not in self.step.active_tools:
            values = {"tool": words.quoted(name), "search": self.engine.search_tool}
            raise ToolFailed(fill(words.tools.inactive, values))
        of_run = (message for message in ctx.messages if message.run_id == ctx.run_id)
        failures = sum(result.is_error for result in tool_results(of_run) if result.tool == name)
        if self.retries is not None and failures > self.retries:
            raise ToolFailed(fill(words.tools.failed, {"tool": words.quoted(name), "count": str(failures)}))
        return args

    @override
    async def on_tool_execute_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        error: Exception,
    ) -> Any:
        """A tool that raises reaches the model as an error, and the run goes on.

        Raises:
            ToolFailed: with the error's type and text.
            CuecardError: when the tool server itself is gone, because then no run can go on.
        """
        if isinstance(error, CuecardError):
            raise error
        raise ToolFailed(f"{type(error).__name__}: {error}") from error

    async def _described(self, _: RunContext[Any], tool: ToolDefinition) -> ToolDefinition:
        """The search tool with its arguments described in the agent's words."""
        words = self.engine.words.search
        described = {"query": words.query_description, "limit": words.limit_description}
        schema = tool.parameters_json_schema
        fields = {key: {**field, "description": described[key]} for key, field in schema["properties"].items()}
        return replace(tool, parameters_json_schema={**schema, "properties": fields})

    async def _search(self, query: str, limit: int | None = None) -> dict[str, Json]:
        """Find tools by what they can do.

        Args:
            query: the action as verb and object, two to five words.
            limit: at most so many tools.
        """
        try:
            return self.engine.search_tools(query, limit).to_json()
        except InputError as error:
            raise ToolFailed(wrong_limit(limit or 0, self.engine.words)) from error

    def _running(self) -> tuple[Conversation, Call]:
        if self.chat is None or self.chat.call is None:
            raise RuntimeError("Cuecard works inside a run: pass it to Agent(capabilities=[...])")
        return self.chat, self.chat.call


def active_tools(tools: Iterable[ToolDefinition], step: Step, catalogue: Mapping[str, Any]) -> list[ToolDefinition]:
    """The tools to show, in an order that only ever grows at its end; withdrawn ones stay, and calls are refused."""
    found = (discovery.tool for discovery in step.found)
    names = dict.fromkeys((*step.base_tools, *step.initial_tools, *found, *step.active_tools))
    order = {name: place for place, name in enumerate(names)}

    def rank(tool: ToolDefinition) -> tuple[int, int]:
        group = 0 if tool.name in {*step.base_tools, *step.initial_tools} else 2 if tool.name in order else 1
        return group, order.get(tool.name, 0)

    return sorted((tool for tool in tools if tool.name in order or tool.name not in catalogue), key=rank)
