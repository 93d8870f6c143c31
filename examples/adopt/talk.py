"""One conversation of two messages, and a model that follows it: what it is sent is counted.

The frameworks' own test models stand in for a provider's. A call that has a `query` is searched for first where the
agent offers a search, as a model does that has read the description of the search tool.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any, TypeAlias

SEARCH = "tool_search"

Definition: TypeAlias = tuple[str, str, dict[str, Any]]
"""A tool as the model is shown it: name, description, parameters."""


@dataclass(frozen=True)
class ToolUse:
    """A call, and what the model would search for to find its tool."""

    tool: str
    arguments: dict[str, Any]
    query: str = ""


@dataclass(frozen=True)
class Message:
    """What the customer writes, what the model calls, and what it answers."""

    text: str
    calls: Sequence[ToolUse]
    answer: str


MESSAGES = (
    Message(
        "The kettle of order 1042 came broken. I want my money back, all of it.",
        (
            ToolUse("find_order", {"order_id": "1042"}),
            ToolUse(
                "refund_order", {"order_id": "1042", "amount_cents": 3990, "reason": "broken"}, query="give money back"
            ),
        ),
        "39.90 EUR are on their way. They take three to five days.",
    ),
    Message(
        "And I want to talk to a human about my next order.",
        (ToolUse("handover", {"customer_id": "c-7", "reason": "wants to talk about an order"}, query="human"),),
        "A colleague takes over. Two are waiting in front of you.",
    ),
)


@dataclass(frozen=True)
class Request:
    """What one request holds, as texts."""

    system: str
    definitions: str
    messages: str


@dataclass
class Meter:
    """Decides what the model does next, and keeps every request.

    Attributes:
        requests: what it was sent.
        waiting: what it still has to do for the message.
    """

    requests: list[Request] = field(default_factory=list)
    waiting: list[ToolUse | str] = field(default_factory=list)

    def say(self, message: Message) -> str:
        """What the customer writes; the model then has this to do."""
        self.waiting = [*message.calls, message.answer]
        return message.text

    def decide(self, system: str, definitions: Iterable[Definition], messages: object) -> ToolUse | str:
        """What the model answers to this request."""
        shown = list(definitions)
        self.requests.append(Request(system, json.dumps(shown), json.dumps(messages, default=str)))
        due = self.waiting.pop(0)
        if isinstance(due, ToolUse) and due.query and SEARCH in [name for name, *_ in shown]:
            self.waiting.insert(0, ToolUse(due.tool, due.arguments))
            return ToolUse(SEARCH, {"query": due.query})
        return due

    def told(self, count: Callable[[str], int]) -> str:
        """The figures of the conversation in one line."""
        first, sent = self.requests[0], sum(map(count, (text for each in self.requests for text in astuple(each))))
        return (
            f"prompt {count(first.system):,}, definitions {count(first.definitions):,}, "
            f"requests {len(self.requests)}, sent in all {sent:,}"
        )
