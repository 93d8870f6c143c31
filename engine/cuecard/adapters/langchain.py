"""LangChain 1.x: one middleware gives an agent its prompt, its tools of the moment, and the search tool.

    agent = create_agent(model, tools=my_tools, middleware=[Cuecard(engine=Engine.open("prompts/cms"))])

The middleware holds nothing of any run: the conversation is in a channel of the agent, where its checkpointer keeps it.
"""

from __future__ import annotations

from cuecard.adapters.clients import needs

with needs("langchain", "langchain", __name__):
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import (
        ExtendedModelResponse,
        PrivateStateAttr,
        ToolCallRequest,
        hook_config,
    )
    from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool
    from langgraph.channels.base import BaseChannel
    from langgraph.runtime import Runtime
    from langgraph.types import Command

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated, Any, NotRequired, TypeAlias, cast, get_type_hints

from typing_extensions import TypedDict, override

from cuecard.adapters import langgraph
from cuecard.adapters.conversations import Stored
from cuecard.adapters.host import AT_ONCE, AnyEngine, OnCall, OnStep, ToolErrors
from cuecard.adapters.langgraph.messages import refusing
from cuecard.adapters.langgraph.models import Cache
from cuecard.adapters.langgraph.tools import AnyTool, name_of
from cuecard.errors import InputError, Problem
from cuecard.model import Step, Turn
from cuecard.model.boundary import FilledText, checked

TurnSource: TypeAlias = Turn | Annotated[Callable[[ModelRequest[Any]], Turn], AT_ONCE]
"""What the host knows of a run: the same for all, or made from the request (such as its `runtime.context`)."""


_Prepare: TypeAlias = Callable[[ModelRequest[Any], Sequence[AnyTool]], langgraph.PreparedRequest]


class Cuecard(AgentMiddleware[Any, Any, Any]):
    """The prompt engine as a middleware of a LangChain agent; it may serve any number of agents, threads and runs.

    Under `append` the system prompt stays byte for byte the same, and each request has the blocks of instructions
    at the same places, after the results they belong to. They are not part of the agent's messages. Under `rewrite` the
    system prompt is made again for each request, and only active tools are shown.

    A discovery never changes the list of tools: Claude gets definitions that are to be found deferred, and each is
    revealed by the search result that names it; every other model gets all of them. A call of an inactive tool
    is refused. Results of tools are sent as the agent file's `results` tell them; the state keeps what they returned.

    Attributes:
        state_schema: the agent's state with the key of the conversation, which is no part of input or output.
        tools: the search tool.
    """

    @checked
    def __init__(
        self,
        *,
        engine: AnyEngine,
        turn: TurnSource | None = None,
        cache: Cache | None = "5m",
        on_call: OnCall | None = None,
        on_step: OnStep | None = None,
        state_key: FilledText = "cuecard",
        handle_tool_errors: ToolErrors = False,
    ) -> None:
        """Make a middleware.

        Args:
            engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
            turn: what the host knows about a run; called once per user message, and again with its later requests
                where the agent file declares inputs with `tier: step`: only those are taken from it then.
            cache: how long the provider keeps its cache, if that can be set; None to leave caching alone.
            on_call: called with every prepared call.
            on_step: called with every step before its request is sent, for manifests and displays.
            state_key: the key of the agent's state that holds the conversation.
            handle_tool_errors: what the model reads of an exception of a tool: its type (True), a text, or what a
                function makes of it. By default the agent has the exception, as without the middleware.

        Raises:
            InputError: with each argument that is wrong.
        """
        super().__init__()
        self._turn = turn
        self._graph = langgraph.Cuecard(
            engine=engine,
            cache=cache,
            on_call=on_call,
            on_step=on_step,
            state_key=state_key,
            handle_tool_errors=handle_tool_errors,
        )
        self.state_schema: type[Any] = _state(state_key, self._graph.channel)
        self.tools: Sequence[BaseTool] = [self._graph.search_tool]

    @override
    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Send the request as the step describes it, and keep the conversation in the agent's state.

        Raises:
            InputError: with every missing, unknown or wrong input of the turn, or when the state is another agent's.
            RunLimitError: when a limit of the run allows no further request.
        """
        sent = _SentRequest.of(request, self._prepared)
        return _answered(handler(sent), sent.asked.last[0], self._graph.state_key)

    @override
    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ExtendedModelResponse[Any]:
        """The same for agents that are awaited."""
        sent = _SentRequest.of(request, self._prepared)
        return _answered(await handler(sent), sent.asked.last[0], self._graph.state_key)

    @hook_config(can_jump_to=["model"])
    @override
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Answer calls that would be refused, before the middlewares in front of this one ask a person about them.

        Where none is left, the model goes on at once.
        """
        held = cast("dict[str, Any]", state)
        refused = refusing(state["messages"], partial(self._graph.refusal, state=held))
        if refused is None:
            return None
        news, left = refused
        return {"messages": news} if left else {"messages": news, "jump_to": "model"}

    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """The same for agents that are awaited."""
        return self.after_model(state, runtime)

    @override
    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Refuse tools that are not active, with what to do instead: the model reads it and the run goes on."""
        return self._graph.wrap_tool_call(request, handler)

    @override
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """The same for agents that are awaited."""
        return await self._graph.awrap_tool_call(request, handler)

    def _prepared(self, request: ModelRequest[Any], tools: Sequence[AnyTool]) -> langgraph.PreparedRequest:
        return self._graph.prepare(
            request.model,
            request.messages,
            tools,
            cast("dict[str, Any]", request.state).get(self._graph.state_key),
            turn=partial(self._turn, request) if callable(self._turn) else self._turn,
            system=request.system_message,
        )


@dataclass(frozen=True, slots=True)
class _AgentRequest:
    """What a request was prepared of, and what came of it.

    Attributes:
        request: the request as the agent makes it, with the model that is asked.
        tools: the tools that there are for it.
        ready: what was prepared.
        prepare: prepares.
        last: what was prepared last, of all requests that middlewares behind the card have made of this one.
    """

    request: ModelRequest[Any]
    tools: Sequence[AnyTool]
    ready: langgraph.PreparedRequest
    prepare: _Prepare
    last: list[langgraph.PreparedRequest]

    @classmethod
    def of(cls, request: ModelRequest[Any], prepare: _Prepare) -> _AgentRequest:
        """Prepare a request."""
        tools = list(request.tools)
        ready = prepare(request, tools)
        return cls(request, tools, ready, prepare, [ready])

    def again(self, request: ModelRequest[Any], tools: Sequence[AnyTool]) -> _AgentRequest:
        """Prepare for another model or other tools."""
        ready = self.prepare(request, tools)
        self.last[:] = [ready]
        return replace(self, request=request, tools=tools, ready=ready)

    def sent(self) -> dict[str, Any]:
        """What is sent in place of what the agent has."""
        request, ready = self.request, self.ready
        settings = {**ready.settings, **request.model_settings}
        choice = settings.pop("tool_choice", request.tool_choice)
        return {
            "system_message": ready.system,
            "messages": ready.conversation,
            "tools": ready.tools,
            "tool_choice": choice,
            "model_settings": settings,
        }

    def narrowed(self, tools: Sequence[AnyTool]) -> _AgentRequest:
        """Prepared again where a middleware behind the card wants other tools than were prepared; else this one."""
        before, now = ({name_of(tool): tool for tool in some} for some in (self.ready.tools, tools))
        call, times = self.ready.step.call, Counter(map(name_of, tools))
        withdrawn = {*(call.host.gone if call else ())}
        gone = before.keys() - now.keys() - withdrawn
        # Definitions of what was withdrawn stay in front: only a second one is the tool itself.
        back = {name for name in withdrawn if times[name] > 1}
        new = [tool for name, tool in now.items() if name not in before or name in back]
        if not gone and not new:
            return self
        return self.again(self.request, [tool for tool in self.tools if name_of(tool) not in gone] + new)


class _SentRequest(ModelRequest[Any]):
    """A prepared request that middlewares behind the card may change: of other tools or of another model, it is
    prepared again, with what they have added.
    """

    asked: _AgentRequest

    @classmethod
    def of(cls, request: ModelRequest[Any], prepare: _Prepare) -> _SentRequest:
        """The request with what the step describes."""
        asked = _AgentRequest.of(request, prepare)
        return _asking(
            cls(**{each.name: getattr(request, each.name) for each in fields(request)} | asked.sent()), asked
        )

    @override
    def override(self, **overrides: Any) -> ModelRequest[Any]:
        """The request with these changes.

        Raises:
            InputError: when the prompt, instructions or references have gone from it, or when messages were changed and
                tools or the model, too: then nobody knows what belongs to which of both.
        """
        asked, ready = self.asked, self.asked.ready
        if "messages" in overrides and (lost := _lost(ready.conversation, overrides["messages"], ready.step)):
            raise _behind(f"a middleware behind `Cuecard` takes {lost} out of the messages")
        made = _asking(cast("_SentRequest", super().override(**overrides)), asked)
        if made.system_message is not self.system_message and not _says(made.system_message, ready.system):
            raise _behind("a middleware behind `Cuecard` takes the prompt out of the system message", _PROMPT_HINT)
        if "tools" in overrides:
            made = made.of_tools(overrides["tools"])
        return made if made.model is asked.request.model else made.of_model(made.model)

    def of_model(self, model: Any) -> _SentRequest:
        """The request to another model, which may take other roles, marks and definitions."""
        known, asked = self.asked.ready, self.asked.again(self.asked.request.override(model=model), self.asked.tools)
        same = asked.ready.conversation == known.conversation
        said, was = ([each.text for each in some] for some in (self.messages, known.conversation))
        if not same and said != was:
            raise _behind("middlewares behind `Cuecard` change the messages of a request and its model")
        return self._anew(asked, {"messages": self.messages} if same else {})

    def of_tools(self, tools: Sequence[AnyTool]) -> _SentRequest:
        """The request with these tools, in the order in which they are sent, since any other would be another front."""
        asked = self.asked.narrowed(tools)
        if asked is self.asked:
            given = {name_of(tool): tool for tool in tools}
            ordered = [given[name_of(tool)] for tool in asked.ready.tools]
            return _asking(cast("_SentRequest", super().override(tools=ordered)), asked)
        if self.messages is not self.asked.ready.conversation:
            raise _behind("middlewares behind `Cuecard` change the messages of a request and its tools")
        return self._anew(asked, {})

    def _anew(self, asked: _AgentRequest, kept: dict[str, Any]) -> _SentRequest:
        """What was prepared again, with what middlewares have added to what was prepared before."""
        before, now = self.asked.sent(), asked.sent()
        own = {key: value for key, value in self.model_settings.items() if before["model_settings"].get(key) != value}
        now["model_settings"] = {**now["model_settings"], **own}
        if self.tool_choice != before["tool_choice"]:
            now["tool_choice"] = self.tool_choice
        if self.system_message is not None and self.system_message != before["system_message"]:
            now["system_message"] = _added(self.system_message, before["system_message"], now["system_message"])
        return _asking(cast("_SentRequest", super().override(**{**now, **kept})), asked)


def _says(message: SystemMessage | None, prompt: SystemMessage) -> bool:
    """Whether a system message still has the prompt, whatever else it says."""
    said = message.text if message else ""
    return all(text.strip() in said for text in _texts(prompt))


def _texts(message: SystemMessage) -> list[str]:
    return [part["text"] for part in message.content_blocks if part["type"] == "text"]


def _added(message: SystemMessage, before: SystemMessage, now: SystemMessage) -> SystemMessage:
    """A new prompt with what a message says around the one before."""
    said, at = message.text, message.text.find(before.text)
    if at < 0:
        raise _behind("middlewares behind `Cuecard` change the system message of a request and its tools or its model")
    content: list[Any] = now.content if isinstance(now.content, list) else [now.content]
    around = said[:at], said[at + len(before.text) :]
    return SystemMessage([*filter(None, around[:1]), *content, *filter(None, around[1:])])


_PROMPT_HINT = (
    "name it in front of `Cuecard`, as in middleware=[my_prompt, Cuecard(...)]: what it says follows the prompt"
)
_ORDER = "name those that change messages in front of it: middleware=[Trimming(), Cuecard(...), Permission()]"


def _behind(told: str, hint: str = _ORDER) -> InputError:
    return InputError(Problem("wrong-argument", told, hint, "middleware"))


def _lost(sent: Sequence[BaseMessage], now: Sequence[BaseMessage], step: Step) -> str:
    """What was placed in the messages and is no longer in them; empty where all is."""
    said = "\n".join(message.text for message in now)
    if any(block.text.strip() not in said for block in step.appended):
        return "instructions"
    before, after = (Counter(_references(messages)) for messages in (sent, now))
    gone = sorted((before - after).keys())
    return f"the definition of `{gone[0]}`" if gone else ""


def _references(messages: Sequence[BaseMessage]) -> Iterator[str]:
    parts = (part for each in messages if isinstance(each, ToolMessage) for part in each.content)
    yield from (part["tool_name"] for part in parts if isinstance(part, dict) and part.get("type") == "tool_reference")


def _asking(request: _SentRequest, asked: _AgentRequest) -> _SentRequest:
    object.__setattr__(request, "asked", asked)  # a request warns of assignments
    return request


def _state(key: str, channel: BaseChannel[Any, Any, Any]) -> Any:
    """The state of an agent, with a channel for its conversation."""
    own = NotRequired[Annotated[Stored, PrivateStateAttr, channel]]
    return TypedDict("CuecardState", {**get_type_hints(AgentState, include_extras=True), key: own})  # type: ignore[operator]  # its keys are known now


def _answered(response: ModelResponse[Any], ready: langgraph.PreparedRequest, key: str) -> ExtendedModelResponse[Any]:
    answered = {message.tool_call_id for message in response.result if isinstance(message, ToolMessage)}
    answers = [message for message in response.result if isinstance(message, AIMessage)]
    calls = answers[-1].tool_calls if answers else []
    goes_on = any(call["id"] not in answered for call in calls)
    if response.structured_response is None:
        goes_on = goes_on or not answers or bool(calls)
    return ExtendedModelResponse(response, Command(update={key: ready.cuecard if goes_on else ready.end()}))
