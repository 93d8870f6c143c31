"""Your own loop around Anthropic's client."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from cuecard import Conversation, Engine, ToolResult, Turn
from cuecard.adapters.anthropic import request
from cuecard.adapters.functions import Functions
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions

MODEL = "claude-opus-4-8"


def say(
    client: Anthropic, tools: Functions, chat: Conversation, messages: list[Any], words: str, *, stream: bool = False
) -> str:
    """The answer to a message of the user; `messages` grows by all that is said."""
    messages.append({"role": "user", "content": words})
    chat.user(Turn(model=MODEL, tools=tools.names))
    results: list[ToolResult] = []
    while True:
        step = chat.step(results)
        body = request(step, messages, model=MODEL, tools=tools.definitions("anthropic"))
        content = (ask_streamed if stream else ask)(client, body)
        messages.append({"role": "assistant", "content": [block.to_dict() for block in content]})
        calls = [block for block in content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in content if block.type == "text")
        results = [tools.answer(chat, step, call.name, call.input, call.id) for call in calls]
        messages.append({"role": "user", "content": [as_block(chat, result) for result in results]})


def ask(client: Anthropic, body: dict[str, Any]) -> Any:
    return client.messages.create(**body, max_tokens=1024).content


def ask_streamed(client: Anthropic, body: dict[str, Any]) -> Any:
    with client.messages.stream(**body, max_tokens=1024) as stream:
        for text in stream.text_stream:
            print(text, end="", flush=True)
        return stream.get_final_message().content


def as_block(chat: Conversation, result: ToolResult) -> dict[str, Any]:
    said = {"content": chat.render_result(result).text, "is_error": result.is_error}
    return {"type": "tool_result", "tool_use_id": result.call_id, **said}


def main() -> None:
    with loopback_models(SCRIPT) as service, Anthropic(base_url=service.url, api_key="none") as client:
        for stream in (False, True):
            tools = Functions(Engine.open(AGENT), page_functions())
            chat, messages = tools.engine.conversation(), list[Any]()
            for words in WORDS:
                answer = say(client, tools, chat, messages, words, stream=stream)
                print("" if stream else answer)
            print("working memory:", ", ".join(entity.name for entity in chat.memory.entities))
        print("last request:", *(message["role"] for message in service.asked[-1]["messages"]))


if __name__ == "__main__":
    main()
