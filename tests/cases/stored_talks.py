"""Conversations of small agents, played with fixed inputs at fixed times; `stored/` has what was stored of them.

`python tests/cases/stored_talks.py` writes that folder (its README says when); `make golden` never does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeAlias

from cuecard import (
    Call,
    Conversation,
    ConversationState,
    Engine,
    Entity,
    FileText,
    Manifest,
    Memory,
    Message,
    Step,
    ToolCard,
    ToolResult,
    Turn,
)
from cuecard.types import CacheRecord, DeliveryWish, Summary, ToolCall

STORED = Path(__file__).parent / "stored"
AGENTS = STORED / "agents"
KEY = "the key of the stored conversations"
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


FINGERPRINTS = {
    "ahead": "f7e9ad2d7c292c451c9195bbdac64ccaf3a15e26e0e6a2dc3be8e9a0f38789e2",
    "cues": "a1585b6f3fe0dcb6472a5faf617fa7790bd6f279f9f30799d1f33dee972b0050",
    "tight": "1a6f6e43d6a4ccda05a4715937751f028dda091d31c40f2d8c469bb3601d6a77",
    "shop": "ec42e2eee6bbeefda26942146a7097cd61ebc364308aaa1aa8708d8348fd2c94",
    "shop_later": "c69dbf3590f8a1cfcfd4fbb1f9592ff9625875836a0678dfb6299942c1c337ab",
}
"""Those of the files with which everything was stored: they also said `reload: append`, which is an error by now."""


@cache
def engine(agent: str, delivery: DeliveryWish | None = None, *, salt: str = "", key: str = "") -> Engine:
    made = Engine.open(AGENTS / agent, delivery=delivery, clock=lambda: NOW, salt=salt, key=key, cache=False)
    return replace(made, agent=replace(made.agent, sha256=FINGERPRINTS.get(agent, made.agent.sha256)))


def found(*names: str, number: int = 1) -> ToolResult:
    return ToolResult("tool_search", {"tools": list(names), "message": "found"}, f"search-{number}")


def loaf(number: int, name: str, call_id: str | None = None, tool: str = "bake_loaf") -> ToolResult:
    return ToolResult(tool, {"id": f"loaf-{number}", "title": name}, call_id or f"loaf-{number}")


def _searches(chat: Conversation) -> None:
    """Tools are found one after another; one is withdrawn, comes back, and a call has no result yet."""
    rye = Entity("loaf", "loaf-0", "Rye <dark>", "rye")
    chat.user(Turn({"name": "Ann"}, Memory((rye,)), now=NOW, model="claude-opus-4-8"))
    chat.step([found("bake_loaf", "no_such_tool")])
    chat.step([loaf(1, "Wheat"), replace(loaf(2, "Spelt"), is_error=True)])
    chat.user(Turn(now=NOW + timedelta(days=1), tools=("tool_search", "done", "list_loaves")))
    chat.step([found("list_loaves", "sell_loaf", number=2)])
    chat.user(Turn({"name": "Zoë \U0001f35e"}, now=NOW + timedelta(days=2)))
    chat.step([replace(loaf(3, "Oats"), batch="b", pending=True), ToolResult("list_loaves", "[]", "list", batch="b")])
    chat.step(calls={"waits": "sell_loaf"})


def _compacted(chat: Conversation) -> None:
    """The host has shortened the messages: before the second message, and again after it."""
    chat.user(Turn(now=NOW))
    chat.step([found("bake_loaf", "sell_loaf"), loaf(1, "Wheat")])
    chat.compacted(kept=2)
    chat.user(Turn(now=NOW + timedelta(days=1)))
    chat.step([found("list_loaves", number=2)])
    chat.tools_changed(["tool_search", "done", "list_loaves", "bake_loaf"])
    chat.compacted()


def _said(chat: Conversation) -> None:
    """The user's own words find a tool, the host names another, and a third is found without an id."""
    chat.user(Turn(now=NOW, query="throw a loaf away"))
    chat.step([replace(found("sell_loaf"), call_id=None)])
    chat.user(Turn(now=NOW, discovered=("list_loaves",), query="bake a loaf of bread"))
    chat.step()


def _messages(chat: Conversation) -> None:
    """The host hands over the messages: times, calls, parts, a summary, facts, a file, a text for one request."""
    said = (
        Message("user", "Good morning", timestamp=NOW, speaker="Ann", id="m1"),
        Message("assistant", "", tool_calls=(ToolCall("c1", "look_up", {"title": "Emma", "year": 1815.5}),), id="m2"),
        Message("tool", "found", tool_call_id="c1", id="m3"),
        Message("assistant", "Here it is.", timestamp="2026-11-20T09:31:00+00:00", id="m4"),
    )
    parts = ({"type": "text", "text": "And this one?"}, {"type": "image", "size": [640, 480.0], "alt": None})
    person = {"name": "Ann", "age": 10**20, "scores": [1, 1e22, -0.0, 0.1], "is": {"member": True, "since": None}}
    chat.user(Turn(now=NOW, messages=said[:1], profile="brief", message=Message("user", "Good morning.")))
    chat.step()
    chat.user(
        Turn(
            {"person": person, "tone": "brief"},
            now=NOW,
            messages=said,
            summary=Summary("They spoke of Emma.", 1),
            message=Message("user", parts, speaker="Ann"),
            metadata={"trigger": "chat", "number": 3},
            ephemeral="Answer in one sentence.",
            files={"NOTES.md": FileText("NOTES.md", "Closed on Mondays.")},
            host="system-only",
        )
    )
    chat.step([found("order_book")])


def _nothing(chat: Conversation) -> None:
    """A conversation that has only begun to remember."""
    chat.remember([Entity("loaf", "loaf-9", "Rye")])


def _only_call(chat: Conversation) -> None:
    """A first message, and no request yet."""
    chat.user(Turn(now=NOW))


def _defined(chat: Conversation) -> None:
    """A definition and instructions have no room, and the turn goes on."""
    chat.user(Turn(now=NOW))
    chat.step([found("sell_loaf", "bake_loaf", "list_loaves")])
    chat.step([ToolResult("list_loaves", "[]", "list")])


def _lifetimes(chat: Conversation) -> None:
    """Texts of one turn, an input that changes between requests, and an instruction for this turn only."""
    chat.user(Turn({"event": "Order 7 has come in."}, now=NOW, ephemeral="Be brief."))
    chat.step([found("bake_loaf")])
    chat.user(Turn({"event": "Order 8 has come in.", "name": "Ann"}, now=NOW + timedelta(days=1)))
    chat.step([loaf(1, "Wheat")], inputs={"retry": "The oven was cold."})
    chat.step([loaf(2, "Spelt")], inputs={"retry": "The oven was hot."})


_PRICES = {f"price_{at}": {"type": "number", "description": "The price of a size."} for at in range(20)}
LARGE = (ToolCard("sell_loaf", "", {"type": "object", "properties": _PRICES}),)
"""A definition that its agent has no room for."""

Stored: TypeAlias = Call | Step | Manifest | ConversationState
Play: TypeAlias = Callable[[Conversation], None]


@dataclass(frozen=True)
class Talk:
    """What is played with an agent; with `later`, what is stored was of an edition of it whose files had changed."""

    agent: str
    play: Play
    delivery: DeliveryWish | None = None
    later: str = ""
    salt: str = ""
    tools: tuple[ToolCard, ...] = ()

    def engine(self, key: str = "") -> Engine:
        """The engine that the stored conversation belongs to."""
        return engine(self.later or self.agent, self.delivery, salt=self.salt, key=key).with_tools(self.tools)

    def played(self) -> Conversation:
        chat = self.engine().conversation()
        self.play(chat)
        return chat


TALKS = {
    "append": Talk("shop", _searches),
    "rewrite": Talk("shop", _searches, "rewrite"),
    "frozen": Talk("shop", _searches, "frozen"),
    "budget": Talk("tight", _searches),
    "cues": Talk("cues", _searches),
    "compacted": Talk("shop", _compacted),
    "ahead": Talk("ahead", _said),
    "messages": Talk("desk", _messages),
    "reload": Talk("shop", _searches, later="shop_later"),
    "salted": Talk("shop", _searches, salt="a salt"),
    "nothing_said": Talk("shop", _nothing),
    "only_a_call": Talk("shop", _only_call),
    "lifetimes": Talk("hook", _lifetimes),
    "definitions": Talk("priced", _defined, tools=LARGE),
}


def next_step(chat: Conversation) -> Step:
    """The conversation goes on: another message, and a request after a search."""
    chat.user(Turn(now=NOW + timedelta(days=9)))
    return chat.step([found("list_loaves", "order_book", number=9)])


def files(talk: Talk) -> Iterator[tuple[str, str]]:
    """What a host may store of the conversation, by the name of its file."""
    chat = talk.played()
    yield "unsigned.json", talk.engine().dump(chat)
    yield "signed.json", talk.engine(KEY).dump(talk.engine(KEY).conversation(chat.state))
    yield "state.json", text_of(chat.state)
    step = next_step(chat)
    told = CacheRecord("miss", "system_changed", 120, "usage: discovery bake_loaf", "agrees", step.manifest.sha256)
    assert chat.call
    yield "call.json", text_of(chat.call)
    yield "step.json", text_of(step)
    yield "manifest.json", text_of(replace(step.manifest, cache=told))


def text_of(value: Stored) -> str:
    """What `to_json` gives, in lines that people can read."""
    return json.dumps(value.to_json(), indent=1, ensure_ascii=False)


def main(names: list[str]) -> None:
    for name in names or TALKS:
        folder = STORED / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files(TALKS[name]):
            (folder / file).write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
