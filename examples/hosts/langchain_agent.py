"""LangChain: one middleware, and a model that follows a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from typing_extensions import override

from cuecard import Engine, Step, Turn
from cuecard.adapters.langchain import Cuecard


class ScriptedModel(GenericFakeChatModel):
    """Says what it is told to; the fake model of LangChain does not know of tools."""

    @override
    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self


@tool
def cms_createPage(title: str) -> dict[str, Any]:  # noqa: N802 - tools are named as the CMS names them
    """Create a page."""
    return {"success": True, "page": {"id": "page-1", "title": title}}


def calling(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def main() -> None:
    script = [
        calling("tool_search", query="create an empty page"),
        calling("cms_createPage", title="About us"),
        AIMessage("The page is there."),
    ]
    steps: list[Step] = []
    card = Cuecard(engine=Engine.open("prompts/cms"), turn=Turn(), on_step=steps.append)
    agent = create_agent(ScriptedModel(messages=iter(script)), tools=[cms_createPage], middleware=[card])

    done = agent.invoke({"messages": [HumanMessage("Make a page about us.")]})

    print(done["messages"][-1].text)
    for number, step in enumerate(steps, 1):
        print(f"step {number}: {step.manifest.total_tokens} tokens, active: {', '.join(step.active_tools)}")


if __name__ == "__main__":
    main()
