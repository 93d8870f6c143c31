"""Services that treat a message mid-conversation in their own ways, before a model that is honest reads it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from typing_extensions import override

from unit.loopback_server import Handler, serving

Messages: TypeAlias = Sequence[dict[str, Any]]


class Refusal(Exception):  # noqa: N818 - what a service says, no fault of it
    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


class Raw(Exception):  # noqa: N818 - bytes as they are
    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data


def operators(messages: Messages) -> list[dict[str, Any]]:
    return [message for message in messages if message["role"] in {"system", "developer"}]


def in_place(messages: Messages) -> Messages:
    return messages


def hoist(messages: Messages) -> Messages:
    ours = operators(messages)
    return [*ours, *(message for message in messages if message not in ours)]


def to_the_end(messages: Messages) -> Messages:
    ours = operators(messages)
    *before, last = [message for message in messages if message not in ours]
    return [*before, *ours, last] if not ours or "Note: " not in str(last) else [*before, last, *ours]


def drop(messages: Messages) -> Messages:
    ours = operators(messages)
    return [message for message in messages if message not in ours]


def refuse(messages: Messages) -> Messages:
    if operators(messages):
        raise Refusal(400, '{"error": {"message": "role system is not supported"}}')
    return messages


def answer(messages: Messages, *, heeds: bool) -> str:
    """A model that reads what is left to it: it lists notes in order, and follows the operator if it does."""
    last = str(messages[-1]["content"]) if "List the colours" in str(messages) else ""
    if last:
        found = [c for m in messages for c in re.findall(r"Note: (\w+)", str(m["content"]))]
        return f"<think>red? {found[-1]} first?</think>{', '.join(found)}"
    marks = re.findall(r"with the word (\w+)", " ".join(str(m["content"]) for m in operators(messages)))
    return f"Saturday {marks[-1]}" if marks and heeds else "Saturday"


@dataclass
class Service:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def service(
    treat: Callable[[Messages], Messages] = in_place, *, heeds: bool = True, usage: dict[str, Any] | None = None
) -> Iterator[Service]:
    """Both forms of requests at one address; `treat` may refuse, answer bytes, or wait for `hang`."""
    hang = threading.Event()

    class Odd(Handler):
        @override
        def post(self) -> None:
            body = json.loads(self.body())
            got.requests.append(body)
            got.headers.append({name.lower(): value for name, value in self.headers.items()})
            try:
                text = answer(treat(body["messages"]), heeds=heeds)
            except Refusal as refusal:
                self.answer(refusal.text.encode(), status=refusal.status, headers=refusal.headers)
            except Raw as raw:
                self.answer(raw.data)
            except TimeoutError:
                hang.wait(10)
            else:
                self.answer(json.dumps(self._made(text)).encode())

        def _made(self, text: str) -> dict[str, Any]:
            if self.path.endswith("/messages"):
                return {"content": [{"type": "thinking"}, {"type": "text", "text": text}], "usage": usage or {}}
            return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}

    with serving(Odd) as url:
        got = Service(url)
        try:
            yield got
        finally:
            hang.set()
