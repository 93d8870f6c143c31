"""The request to a summarizer, with words and formats that the agent file can change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeAlias

from cuecard.config.history_spec import SummarySpec
from cuecard.config.values.placeholders import fill
from cuecard.model.messages import Message
from cuecard.pipeline.history.text import call_text, text_of
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One request to a model that writes summaries; `max_tokens` is None if the length is unlimited."""

    system: str
    text: str
    max_tokens: int | None = None
    temperature: float = 0.3


Summarizer: TypeAlias = Callable[[SummaryRequest], str]
"""Returns only the summary; an empty answer or an error leaves the stored summary unchanged."""

AsyncSummarizer: TypeAlias = Callable[[SummaryRequest], Awaitable[str]]
"""A `Summarizer` that is awaited."""


def ask(messages: Iterable[Message], previous: str, spec: SummarySpec, max_tokens: int | None = None) -> SummaryRequest:
    """The question: the previous summary, if there is one, then the messages, line by line, each with its label."""
    before = fill(spec.previous, {"summary": previous}) if previous.strip() else ""
    lines = "\n".join(line for message in messages for line in _lines(message, spec))
    text = f"{before}{spec.heading}{lines}"
    return SummaryRequest(spec.instruction, text, spec.max_tokens or max_tokens, spec.temperature)


def _lines(message: Message, spec: SummarySpec) -> Iterator[str]:
    text = text_of(message)
    limit = spec.limits.get(message.role, len(text))
    if message.role in spec.labels and text.strip():
        told = text if len(text) <= limit else text[:limit] + spec.truncated
        yield f"{spec.labels[message.role]}: {_indented(told, spec)}"
    if "call" in spec.labels:
        yield from (f"{spec.labels['call']}: {_indented(call_text(call), spec)}" for call in message.tool_calls)


def _indented(text: str, spec: SummarySpec) -> str:
    return f"\n{spec.indent}".join(text.splitlines()) if spec.indent else text
