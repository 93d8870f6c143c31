"""docs/hosts/README.md shows what is: its table of services is made with the adapters and the models file.

`make golden` makes it anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, Step, ToolResult, Turn
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.adapters.bodies import Form
from cuecard.adapters.function_tools import definitions
from cuecard.types import Host

ROOT = Path(__file__).parents[3]
HOSTS = ROOT / "docs" / "hosts"
PAGE = HOSTS / "README.md"
HEAD = """\
| service | model | instructions mid-conversation | cache breakpoints | shortest cached start, tokens | `auto` |
|---|---|---|---|---|---|
"""


@cache
def engine() -> Engine:
    return Engine.open(ROOT / "prompts" / "cms", delivery="auto")


@dataclass(frozen=True)
class Service:
    """A row: who is asked for which model where, and the body that the adapter makes."""

    name: str
    model: str
    form: Form
    request: Callable[..., dict[str, Any]]
    said: Any
    endpoint: str = ""
    host: Host = "messages"

    def row(self) -> str:
        profile = engine().models.find(self.model, endpoint=self.endpoint)
        call = engine().prepare_call(Turn(model=self.model, endpoint=self.endpoint, host=self.host))
        step = engine().prepare_step(call, [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")])
        marks = breakpoints(self.body(step))
        authority = call.delivery.authority
        said = "a reminder of the user" if authority == "user" else f"a message with the role `{authority}`"
        if self.host == "system-only":
            said = "none: they go into the system prompt"
        caching = (
            f"{marks} of {profile.breakpoints}"
            if marks
            else "none: caching is automatic"
            if caches(profile)
            else "none"
        )
        least = f"{profile.min_cache_tokens:,}" if caches(profile) else "-"
        return f"| {self.name} | `{self.model}` | {said} | {caching} | {least} | `{call.delivery.name}` |\n"

    def body(self, step: Step) -> dict[str, Any]:
        tools = definitions(engine().tools.values(), self.form)
        return self.request(step, self.said, tools=tools)


def caches(profile: Any) -> bool:
    return bool(profile.cache_read < 1)


def breakpoints(value: Any) -> int:
    if isinstance(value, dict):
        own = sum(key in value for key in ("cache_control", "prompt_cache_breakpoint", "cachePoint"))
        return own + sum(breakpoints(item) for item in value.values())
    return sum(breakpoints(item) for item in value) if isinstance(value, list) else 0


def claude(model: str) -> Service:
    used = {"type": "tool_use", "id": "call-1", "name": "tool_search", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "call-1", "content": "found"}
    said = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]
    return Service("Anthropic", model, "anthropic", partial(anthropic.request, model=model), said)


def responses(model: str) -> Service:
    used = {"type": "function_call", "call_id": "call-1", "name": "tool_search", "arguments": "{}"}
    said = [
        {"role": "user", "content": "Hi"},
        used,
        {"type": "function_call_output", "call_id": "call-1", "output": ""},
    ]
    make = partial(openai.responses_request, model=model)
    return Service("OpenAI, Responses", model, "responses", make, said)


def chat(name: str, model: str, endpoint: str = "") -> Service:
    used = [{"id": "call-1", "type": "function", "function": {"name": "tool_search", "arguments": "{}"}}]
    result = {"role": "tool", "tool_call_id": "call-1", "content": "found"}
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": used}, result]
    make = partial(openai.chat_request, model=model, base_url=endpoint)
    return Service(name, model, "chat", make, said, endpoint)


def google(model: str) -> Service:
    used = {"functionCall": {"id": "call-1", "name": "tool_search", "args": {}}}
    result = {"functionResponse": {"id": "call-1", "name": "tool_search", "response": {}}}
    contents = [("user", {"text": "Hi"}), ("model", used), ("user", result)]
    said = [{"role": role, "parts": [part]} for role, part in contents]
    return Service("Gemini", model, "gemini", gemini.request, said)


def converse(model: str, host: Host = "messages") -> Service:
    used = {"toolUse": {"toolUseId": "call-1", "name": "tool_search", "input": {}}}
    result = {"toolResult": {"toolUseId": "call-1", "content": [{"text": "found"}]}}
    blocks = [("user", {"text": "Hi"}), ("assistant", used), ("user", result)]
    said = [{"role": role, "content": [block]} for role, block in blocks]
    make = partial(bedrock.request, model=model)
    return Service("Amazon Bedrock, Converse", model, "bedrock", make, said, bedrock.ENDPOINT, host)


SERVICES = (
    claude("claude-opus-4-8"),
    claude("claude-sonnet-4-6"),
    responses("gpt-5"),
    responses("gpt-5.6"),
    chat("OpenAI, Chat Completions", "gpt-5"),
    chat("anything at an address of its own", "of-my-own", "http://localhost:8000/v1"),
    google("gemini-2.5-pro"),
    converse("us.anthropic.claude-sonnet-4-6"),
    converse("us.amazon.nova-pro-v1:0"),
    converse("us.meta.llama4-maverick-17b-instruct-v1:0", "system-only"),
)


def test_the_table_of_services_shows_what_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = PAGE.read_text(encoding="utf-8")
    table = "".join([HEAD, *(service.row() for service in SERVICES)])
    head, _, rest = page.partition("<!-- made: services -->\n")
    made = f"{head}<!-- made: services -->\n\n{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    if os.environ.get("CUECARD_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")

    assert made == page, "run `make golden` and read the difference"


def test_every_page_has_a_row_and_every_row_a_page() -> None:
    linked = set(re.findall(r"(?m)^\| \[[^\]]+\]\(([\w-]+)\.md\)", PAGE.read_text(encoding="utf-8")))
    pages = {page.stem for page in HOSTS.glob("*.md")} - {"README"}

    assert linked == pages


def test_every_extra_in_the_table_exists() -> None:
    extras = set(re.findall(r"`cuecard\[([\w-]+)\]`", PAGE.read_text(encoding="utf-8")))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert extras
    assert [extra for extra in extras if f"\n{extra} = [" not in project] == []
