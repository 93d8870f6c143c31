"""Your own loop around OpenAI's client, with the Chat Completions API, as many other services speak it."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from cuecard import Conversation, Engine, ToolResult, Turn
from cuecard.adapters.functions import Functions
from cuecard.adapters.openai import chat_request
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions

MODEL = "gpt-5"


def say(
    client: OpenAI, tools: Functions, chat: Conversation, messages: list[Any], words: str, *, stream: bool = False
) -> str:
    """The answer to a message of the user; `messages` grows by all that is said."""
    messages.append({"role": "user", "content": words})
    chat.user(Turn(model=MODEL, tools=tools.names))
    results: list[ToolResult] = []
    while True:
        step = chat.step(results)
        body = chat_request(step, messages, model=MODEL, tools=tools.definitions("chat"))
        message = (ask_streamed if stream else ask)(client, body)
        messages.append(message)
        calls = message.get("tool_calls", [])
        if not calls:
            return str(message["content"])
        called = [(call["id"], call["function"]) for call in calls]
        results = [tools.answer(chat, step, each["name"], each["arguments"], id_) for id_, each in called]
        told = [{"tool_call_id": r.call_id, "content": chat.render_result(r).text} for r in results]
        messages += [{"role": "tool", **each} for each in told]


def ask(client: OpenAI, body: dict[str, Any]) -> dict[str, Any]:
    message = client.chat.completions.create(**body).choices[0].message
    said: dict[str, Any] = message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
    return said


def ask_streamed(client: OpenAI, body: dict[str, Any]) -> dict[str, Any]:
    said, calls = "", dict[int, Any]()
    for chunk in client.chat.completions.create(**body, stream=True):
        for choice in chunk.choices:
            said += choice.delta.content or ""
            print(choice.delta.content or "", end="", flush=True)
            for piece in choice.delta.tool_calls or ():
                call = calls.setdefault(piece.index, {"type": "function", "function": {"name": "", "arguments": ""}})
                call["id"] = piece.id or call.get("id")
                call["function"]["name"] += piece.function.name or ""
                call["function"]["arguments"] += piece.function.arguments or ""
    return {"role": "assistant", "content": said, **({"tool_calls": [*calls.values()]} if calls else {})}


def main() -> None:
    with loopback_models(SCRIPT) as service, OpenAI(base_url=f"{service.url}/v1", api_key="none") as client:
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
