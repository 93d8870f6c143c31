"""A conversation with the shipped CMS assistant, as the pictures show it: real prompts, searches and request bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuecard import Engine, Step, ToolResult, Turn
from cuecard.adapters.anthropic import request
from cuecard.files.tokens import uncached_count
from cuecard.types import DeliveryWish
from cuecard.workbench.bill import BillBlock
from cuecard.workbench.bill import Request as Billed

ROOT = Path(__file__).parents[3]
MODEL = "claude-opus-5"
COUNT = uncached_count("o200k_base")
SAID = ("Put a photo at the top of the page About us.", "Now publish my post on bread.")
SEARCHES = ("attach an image to a section", "publish a post")
PAGE: Mapping[str, Any] = {"success": True, "page": {"id": "page-2", "name": "About us"}}
DAYS = (datetime(2026, 11, 20, 9, tzinfo=UTC), datetime(2026, 11, 21, 9, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model.

    Attributes:
        user: the number of the user's message that it serves, from 0.
        step: what the engine wants.
        body: what is sent to Anthropic.
    """

    user: int
    step: Step
    body: Mapping[str, Any]


def engine() -> Engine:
    """The shipped assistant, with default settings."""
    return Engine.open(ROOT / "prompts" / "cms")


def requests(delivery: DeliveryWish) -> Iterator[Request]:
    """Two messages of a user: a search and a tool call for the first, a search for the second."""
    cms = engine()
    chat, messages = cms.conversation(), list[dict[str, Any]]()
    tools = [{"name": name, "description": card.description, "input_schema": {}} for name, card in cms.tools.items()]
    for user, (said, query, now) in enumerate(zip(SAID, SEARCHES, DAYS, strict=True)):
        messages.append({"role": "user", "content": said})
        chat.user(Turn(now=now, delivery=delivery, model=MODEL))
        found = cms.search_tools(query)
        answers: list[tuple[str, Any]] = [("tool_search", found.to_json())]
        answers += [("cms_getPage", PAGE)] if user == 0 else []
        results: list[ToolResult] = []
        for number, (tool, answer) in enumerate([*answers, ("", None)]):
            step = chat.step(results)
            yield Request(user, step, request(step, messages, model=MODEL, tools=tools))
            if not tool:
                messages.append({"role": "assistant", "content": "It is done."})
                break
            asked = {"query": query} if tool == "tool_search" else {"id": "page-2"}
            name = f"call-{user}-{number}"
            used = {"type": "tool_use", "id": name, "name": tool, "input": asked}
            messages.append({"role": "assistant", "content": [used]})
            told = {"type": "tool_result", "tool_use_id": name, "content": json.dumps(answer)}
            messages.append({"role": "user", "content": [told]})
            results = [ToolResult(tool, answer, name)]


DELIVERIES: Sequence[DeliveryWish] = ("append", "rewrite", "frozen")
MEANINGS: Mapping[DeliveryWish, str] = {
    "append": "instructions follow the search result",
    "rewrite": "instructions go into the system prompt",
    "frozen": "all instructions from the start",
}


def bodies(delivery: DeliveryWish) -> Iterator[tuple[Request | None, Request]]:
    """Each request with the one before it."""
    sent = list(requests(delivery))
    return zip([None, *sent[:-1]], sent, strict=True)


def blocks(request: Request) -> list[BillBlock]:
    """System prompt and messages, in the order in which the provider reads them."""
    return [block for block in billed(request).blocks if block.label != "tools"]


def billed(request: Request) -> Billed:
    """The body as blocks, with what the prices of caching depend on."""
    made: list[BillBlock] = []
    breakpoints: list[int] = []
    for label, content in _contents(request.body):
        marked = isinstance(content, Mapping) and "cache_control" in content
        bare = {key: value for key, value in content.items() if key != "cache_control"} if marked else content
        written = json.dumps([label, bare], sort_keys=True)
        made.append(BillBlock(written, COUNT(_text(bare)), label))
        breakpoints += [len(made)] if marked else []
    return Billed(tuple(made), tuple(breakpoints))


def _contents(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for tool in body["tools"]:
        yield "tools", tool
    for number, piece in enumerate(body["system"]):
        yield ("static", "system")[number], piece
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [content]:
            kind = block.get("type", "") if isinstance(block, Mapping) else ""
            role = "added" if message["role"] == "system" else message["role"]
            yield {"tool_use": "search", "tool_result": "result"}.get(kind, role), block


def _text(block: Any) -> str:
    text = block.get("text") if isinstance(block, Mapping) else block
    return text if isinstance(text, str) else json.dumps(block)
