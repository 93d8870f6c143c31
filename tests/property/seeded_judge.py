"""A judge of request bodies that knows the providers' rules and nothing of the adapters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Atoms = list[tuple[str, Any]]

_MARKS = ("cache_control", "cachePoint", "prompt_cache_breakpoint", "prompt_cache_key", "diagnostics", "namespace")
"""The last is pydantic-ai's: it writes it into an old call of a tool that is found later."""


def atoms(body: Json) -> Atoms:
    """The request piece by piece, in the order in which providers read it, without what they do not hash."""
    return list(_atoms(body))


def _atoms(body: Json) -> Iterator[tuple[str, Any]]:
    config = body.get("toolConfig") or {}
    for tool in (*body.get("tools", ()), *config.get("tools", ())):
        declared = tool.get("functionDeclarations") or [tool]
        for each in declared:
            if not each.get("defer_loading"):  # what is deferred is no part of the prefix
                yield "tool", _unmarked(each)
    for part in _parts(body.get("system") or body.get("instructions") or body.get("systemInstruction") or []):
        yield "system", _unmarked(part)
    for place, message in enumerate(body.get("messages") or body.get("input") or body.get("contents") or ()):
        if "role" not in message:
            yield f"{place}", _unmarked(message)
            continue
        inner = message.get("content", message.get("parts"))
        more = {key: value for key, value in message.items() if key not in ("content", "parts")}
        yield f"{place} {message['role']}", _unmarked(more)
        for part in _parts(inner):
            if not isinstance(part, dict) or "cachePoint" not in part:
                yield f"{place} {message['role']}", _unmarked(part)


def deferred(body: Json) -> set[str]:
    """The tools whose definitions the provider holds back."""
    return {tool["name"] for tool in body.get("tools", ()) if tool.get("defer_loading")}


def shown(objects: list[Json]) -> set[str]:
    """The tools that the model can call: defined in front, or anywhere behind."""
    found: set[str] = set()
    for value in objects:
        if value.get("type") == "tool_reference":
            found.add(value.get("tool_name") or value.get("name") or "")
        elif value.get("defer_loading") and "input_schema" in value:
            continue
        elif "name" in value and {"input_schema", "parameters", "inputSchema"} & value.keys():
            found.add(value["name"])
        elif value.get("type") == "function" and "function" in value:
            found.add(value["function"]["name"])
    return found


def faults(body: Json) -> list[str]:
    """What a provider would refuse."""
    if "contents" in body:
        return [*_faults_of_gemini(body["contents"])]
    if "modelId" in body:
        return [*_faults_of_converse(body["messages"])]
    if "input" in body:
        return [*_faults_of_items(body["input"])]
    if isinstance(body.get("system"), list):
        return [*_faults_of_claude(body)]
    return [*_faults_of_chat(body["messages"])]


def _faults_of_claude(body: Json) -> Iterator[str]:
    messages = [{**message, "content": _blocks(message["content"])} for message in body["messages"]]
    if sum("cache_control" in value for value in everything(body)) > 4:
        yield "more than four breakpoints"
    if messages[0]["role"] != "user":
        yield "the first message is not the user's"
    waiting: list[str] = []
    for place, message in enumerate(messages):
        content = message["content"]
        if not content or any(block["type"] == "text" and not block["text"] for block in content):
            yield f"{place}: empty"
        if message["role"] == "system":
            after = messages[place + 1]["role"] if place + 1 < len(messages) else "assistant"
            if not place or messages[place - 1]["role"] != "user" or after != "assistant":
                yield f"{place}: a system message in front of {after}"
            continue
        yield from (f"{place}: {fault}" for fault in _of_results(content, waiting))
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
    if waiting:
        yield "calls without results"
    yield from _of_revealing(body)


def _blocks(content: Any) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _of_results(content: list[Json], waiting: list[str]) -> Iterator[str]:
    kinds = [block["type"] == "tool_result" for block in content]
    if kinds != sorted(kinds, reverse=True):
        yield "results behind text"
    answered = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    if sorted(answered) != sorted(waiting):
        yield f"calls {waiting} and results {answered}"
    if any(block.get("is_error") and "tool_reference" in json.dumps(block) for block in content):
        yield "references in an error"


def _of_revealing(body: Json) -> Iterator[str]:
    found = [value for value in everything(body["messages"]) if value.get("type") == "tool_reference"]
    revealed = [str(value.get("tool_name") or value.get("name")) for value in found]
    if len(revealed) != len({*revealed}):
        yield f"revealed twice: {revealed}"
    if not {*revealed} <= deferred(body):
        yield f"revealed and not deferred: {revealed}"


def _faults_of_chat(messages: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{place}: a result of no call"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{place}: {message['role']} between calls and results"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    if waiting:
        yield "calls without results"


def _faults_of_items(items: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for place, item in enumerate(items):
        kind = str(item.get("type", "message"))
        if kind.endswith("_call"):
            waiting.append(item["call_id"])
        elif kind.endswith("_output"):
            if item["call_id"] not in waiting:
                yield f"{place}: an output of no call"
            else:
                waiting.remove(item["call_id"])
        elif waiting:
            yield f"{place}: {kind} between calls and outputs"
        names = [tool["name"] for tool in item.get("tools", ())]
        if len(names) != len({*names}) or (kind == "additional_tools" and not names):
            yield f"{place}: definitions {names}"


def _faults_of_gemini(contents: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for place, content in enumerate(contents):
        if not content["parts"] or any(part.get("text") == "" for part in content["parts"]):
            yield f"{place}: an empty part"
        answered = [part["functionResponse"]["id"] for part in content["parts"] if "functionResponse" in part]
        if sorted(answered) != sorted(waiting):
            yield f"{place}: calls {waiting} and responses {answered}"
        waiting = [part["functionCall"]["id"] for part in content["parts"] if "functionCall" in part]


def _faults_of_converse(messages: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[place % 2]:
            yield f"{place}: roles do not alternate"
        if not message["content"] or any(block.get("text") == "" for block in message["content"]):
            yield f"{place}: empty"
        answered = [b["toolResult"]["toolUseId"] for b in message["content"] if "toolResult" in b]
        if sorted(answered) != sorted(waiting):
            yield f"{place}: calls {waiting} and results {answered}"
        waiting = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]


def said(objects: list[Json]) -> str:
    """Every text of a request."""
    return "\n".join([text for value in objects for text in value.values() if isinstance(text, str)])


def everything(value: Any) -> list[Json]:
    """All objects of a request, itself included."""
    found, waiting = [], [value]
    for each in waiting:
        if isinstance(each, dict):
            found.append(each)
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def _parts(content: Any) -> list[Any]:
    if content is None:
        return []
    if isinstance(content, dict):
        return list(content.get("parts", [content]))
    if not isinstance(content, list):
        return [{"type": "text", "text": content}]
    return [{**each, "type": "text"} if _is_text(each) else each for each in content]  # which is the same to a model


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "input_text"


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(each) for key, each in value.items() if key not in _MARKS}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value
