"""Your own loop around boto3, with the Converse API of Amazon Bedrock."""

from __future__ import annotations

import json
from typing import Any

import boto3

from cuecard import Conversation, Engine, ToolResult, Turn
from cuecard.adapters.bedrock import ENDPOINT, request
from cuecard.adapters.functions import Functions
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions

MODEL = "us.anthropic.claude-sonnet-4-6"


def say(
    client: Any, tools: Functions, chat: Conversation, messages: list[Any], words: str, *, stream: bool = False
) -> str:
    """The answer to a message of the user; `messages` grows by all that is said."""
    messages.append({"role": "user", "content": [{"text": words}]})
    chat.user(Turn(model=MODEL, endpoint=ENDPOINT, tools=tools.names))
    results: list[ToolResult] = []
    while True:
        step = chat.step(results)
        body = request(step, messages, model=MODEL, tools=tools.definitions("bedrock"))
        message = (ask_streamed if stream else ask)(client, body)
        messages.append(message)
        calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        if not calls:
            return "".join(block.get("text", "") for block in message["content"])
        results = [tools.answer(chat, step, call["name"], call["input"], call["toolUseId"]) for call in calls]
        messages.append({"role": "user", "content": [as_block(chat, result) for result in results]})


def ask(client: Any, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = client.converse(**body)["output"]["message"]
    return message


def ask_streamed(client: Any, body: dict[str, Any]) -> dict[str, Any]:
    used, said, thought = dict[int, dict[str, Any]](), "", {"text": "", "signature": ""}
    for event in client.converse_stream(**body)["stream"]:
        if start := event.get("contentBlockStart"):
            used[start["contentBlockIndex"]] = {**start["start"]["toolUse"], "input": ""}
        elif piece := event.get("contentBlockDelta"):
            said += piece["delta"].get("text", "")
            print(piece["delta"].get("text", ""), end="", flush=True)
            for key in thought:
                thought[key] += piece["delta"].get("reasoningContent", {}).get(key, "")
            if "toolUse" in piece["delta"]:
                used[piece["contentBlockIndex"]]["input"] += piece["delta"]["toolUse"]["input"]
    calls = [{"toolUse": {**use, "input": json.loads(use["input"] or "{}")}} for use in used.values()]
    thoughts = [{"reasoningContent": {"reasoningText": thought}}] if thought["text"] else []
    return {"role": "assistant", "content": [*thoughts, *([{"text": said}] if said else []), *calls]}


def as_block(chat: Conversation, result: ToolResult) -> dict[str, Any]:
    status = "error" if result.is_error else "success"
    content = [{"text": chat.render_result(result).text}]
    return {"toolResult": {"toolUseId": result.call_id, "content": content, "status": status}}


def main() -> None:
    with loopback_models(SCRIPT) as service:
        keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
        client: Any = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=service.url, **keys)
        for stream in (False, True):
            tools = Functions(Engine.open(AGENT), page_functions())
            chat, messages = tools.engine.conversation(), list[Any]()
            for words in WORDS:
                answer = say(client, tools, chat, messages, words, stream=stream)
                print("" if stream else answer)
            print("working memory:", ", ".join(entity.name for entity in chat.memory.entities))
        print("last request:", *(message["role"] for message in service.asked[-1]["messages"]))
        client.close()


if __name__ == "__main__":
    main()
