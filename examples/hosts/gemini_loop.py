"""Your own loop around Google's client for Gemini."""

from __future__ import annotations

from typing import Any

from google.genai import Client

from cuecard import Conversation, Engine, ToolResult, Turn
from cuecard.adapters.functions import Functions
from cuecard.adapters.gemini import request
from loopback_models import AGENT, SCRIPT, WORDS, loopback_models, page_functions

MODEL = "gemini-2.5-pro"


def say(
    client: Client, tools: Functions, chat: Conversation, contents: list[Any], words: str, *, stream: bool = False
) -> str:
    """The answer to a message of the user; `contents` grows by all that is said."""
    contents.append({"role": "user", "parts": [{"text": words}]})
    chat.user(Turn(model=MODEL, tools=tools.names))
    results: list[ToolResult] = []
    while True:
        step = chat.step(results)
        body = request(step, contents, tools=tools.definitions("gemini"))
        parts = (ask_streamed if stream else ask)(client, body)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        for place, call in enumerate(calls):  # without an id, nobody could tell which response is whose
            call.setdefault("id", f"call-{len(contents)}-{place}")
        contents.append({"role": "model", "parts": parts})
        if not calls:
            return "".join(part.get("text", "") for part in parts if not part.get("thought"))
        results = [tools.answer(chat, step, call["name"], call.get("args", {}), call["id"]) for call in calls]
        contents.append({"role": "user", "parts": [as_part(chat, result) for result in results]})


def ask(client: Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    config: Any = {key: value for key, value in body.items() if key != "contents"}
    answer: Any = client.models.generate_content(model=MODEL, contents=body["contents"], config=config)
    return parts_of(answer)


def ask_streamed(client: Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    config: Any = {key: value for key, value in body.items() if key != "contents"}
    parts: list[dict[str, Any]] = []
    for chunk in client.models.generate_content_stream(model=MODEL, contents=body["contents"], config=config):
        parts += parts_of(chunk)
        print(parts[-1].get("text", "") if parts else "", end="", flush=True)
    return parts


def parts_of(answer: Any) -> list[dict[str, Any]]:
    content = answer.candidates[0].content
    return [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in content.parts or ()]


def as_part(chat: Conversation, result: ToolResult) -> dict[str, Any]:
    made = chat.render_result(result)
    said = {"error" if result.is_error else "output": made.text if made.rule else result.result}
    return {"functionResponse": {"id": result.call_id, "name": result.tool, "response": said}}


def main() -> None:
    with loopback_models(SCRIPT) as service, Client(api_key="none", http_options={"base_url": service.url}) as client:
        for stream in (False, True):
            tools = Functions(Engine.open(AGENT), page_functions())
            chat, contents = tools.engine.conversation(), list[Any]()
            for words in WORDS:
                answer = say(client, tools, chat, contents, words, stream=stream)
                print("" if stream else answer)
            print("working memory:", ", ".join(entity.name for entity in chat.memory.entities))
        print("last request:", *(content["role"] for content in service.asked[-1]["contents"]))


if __name__ == "__main__":
    main()
