"""Your own loop around OpenAI's client, with the Responses API."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from cuecard import Conversation, Engine, ToolResult, Turn
from cuecard.adapters.functions import Functions
from cuecard.adapters.openai import responses_request
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions

MODEL = "gpt-5"


def say(
    client: OpenAI, tools: Functions, chat: Conversation, items: list[Any], words: str, *, stream: bool = False
) -> str:
    """The answer to a message of the user; `items` grows by all that is said."""
    items.append({"role": "user", "content": words})
    chat.user(Turn(model=MODEL, tools=tools.names))
    results: list[ToolResult] = []
    while True:
        step = chat.step(results)
        body = responses_request(step, items, model=MODEL, tools=tools.definitions("responses"))
        answer = (ask_streamed if stream else ask)(client, body)
        items += [item.to_dict() for item in answer.output]
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return str(answer.output_text)
        results = [tools.answer(chat, step, call.name, call.arguments, call.call_id) for call in calls]
        items += [as_item(chat, result) for result in results]


def ask(client: OpenAI, body: dict[str, Any]) -> Any:
    return client.responses.create(**body, store=False)


def ask_streamed(client: OpenAI, body: dict[str, Any]) -> Any:
    answer: Any = None
    for event in client.responses.create(**body, store=False, stream=True):
        if event.type == "response.output_text.delta":
            print(event.delta, end="", flush=True)
        elif event.type == "response.completed":
            answer = event.response
    return answer


def as_item(chat: Conversation, result: ToolResult) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": result.call_id, "output": chat.render_result(result).text}


def main() -> None:
    with loopback_models(SCRIPT) as service, OpenAI(base_url=f"{service.url}/v1", api_key="none") as client:
        for stream in (False, True):
            tools = Functions(Engine.open(AGENT), page_functions())
            chat, items = tools.engine.conversation(), list[Any]()
            for words in WORDS:
                answer = say(client, tools, chat, items, words, stream=stream)
                print("" if stream else answer)
            print("working memory:", ", ".join(entity.name for entity in chat.memory.entities))
        print("last request:", *(item.get("role") or item["type"] for item in service.asked[-1]["input"]))


if __name__ == "__main__":
    main()
