"""A chat model of LangChain's own that calls tools as told, and records what it was sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated, Any, NotRequired, get_type_hints

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.graph import MessagesState
from pydantic import Field
from typing_extensions import TypedDict, override

from cuecard.adapters.langgraph import Cuecard
from unit.adapters.model_server import Calls


class Model(BaseChatModel):
    """Decides by the number of the model's messages so far, so that it can be asked again, or by another process.

    With `counts`, by the number of requests: for conversations whose messages go.
    """

    batches: Sequence[Calls] = ()
    requests: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[list[str]] = Field(default_factory=list)
    answers: str = "done"
    counts: bool = False

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @override
    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        names = [tool.name if isinstance(tool, BaseTool) else str(tool.get("name")) for tool in tools]
        return self.bind(bound_tools=names, **kwargs)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._decide(messages, kwargs))])

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        made = self._decide(messages, kwargs)
        calls = [{**call, "type": "tool_call"} for call in made.tool_calls]
        yield ChatGenerationChunk(message=AIMessageChunk(content=made.content, tool_calls=calls))

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, None, **kwargs):
            yield chunk

    def _decide(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        self.requests.append(messages)
        self.bound.append(kwargs.get("bound_tools", []))
        answers = sum(isinstance(message, AIMessage) for message in messages)
        number = len(self.requests) - 1 if self.counts else answers
        calls = self.batches[number] if number < len(self.batches) else ()
        made: list[Any] = [
            {"name": name, "args": arguments, "id": f"call-{number}-{place}", "type": "tool_call"}
            for place, (name, arguments) in enumerate(calls)
        ]
        return AIMessage("" if made else self.answers, tool_calls=made)

    @property
    def wires(self) -> list[list[tuple[str, Any]]]:
        """What a provider would be sent of each request: no ids of messages."""
        return [[wire(message) for message in request] for request in self.requests]


def wire(message: BaseMessage) -> tuple[str, Any]:
    calls = [(c["name"], c["args"], c["id"]) for c in message.tool_calls] if isinstance(message, AIMessage) else None
    return message.type, (message.content, calls)


def kinds(messages: Sequence[BaseMessage]) -> list[str]:
    """The kind of each message behind the system prompt, blocks as `block`."""
    return [_kind(message) for message in messages[1:]]


def _kind(message: BaseMessage) -> str:
    if isinstance(message, SystemMessage) or (
        isinstance(message, HumanMessage) and "<system-reminder>" in message.text
    ):
        return "block"
    return "result" if isinstance(message, ToolMessage) else message.type


def blocks(messages: Sequence[BaseMessage]) -> list[str]:
    return [message.text for message in messages[1:] if _kind(message) == "block"]


def state_of(card: Cuecard) -> Any:
    """The state of a graph: its messages, and the conversation in the channel of the card."""
    make: Any = TypedDict
    own = NotRequired[Annotated[dict[str, str], card.channel]]
    return make("State", {**get_type_hints(MessagesState, include_extras=True), card.state_key: own})
