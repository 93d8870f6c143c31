"""The conversation with a host of LangChain, by a chat model of the framework that follows the same script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from typing_extensions import override

from cuecard import Engine
from customer import Customer
from talk import MESSAGES, Meter, ToolUse


class Model(BaseChatModel):
    """Asks the meter what to do."""

    meter: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @override
    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(shown=[convert_to_openai_tool(tool)["function"] for tool in tools])

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        shown = [(each["name"], each["description"], each["parameters"]) for each in kwargs["shown"]]
        said = [each for each in messages if not isinstance(each, SystemMessage)]
        parts = [each.tool_calls if isinstance(each, AIMessage) and each.tool_calls else each.content for each in said]
        system = "".join(each.text for each in messages if isinstance(each, SystemMessage))
        due = self.meter.decide(system, shown, parts)
        if not isinstance(due, ToolUse):
            return ChatResult(generations=[ChatGeneration(message=AIMessage(due))])
        call = {"name": due.tool, "args": due.arguments, "id": f"call-{len(messages)}"}
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])


def converse(host: dict[str, Any], meter: Meter, *engine: Engine) -> list[str]:
    """What the agent answers."""
    agent = host["build"](Model(meter=meter), *engine)
    thread = {"configurable": {"thread_id": "one"}}
    said = [agent.invoke({"messages": meter.say(each)}, thread, context=Customer()) for each in MESSAGES]
    return [done["messages"][-1].text for done in said]
