"""Requests to OpenAI's two interfaces. Instructions, developer messages and reasoning are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cuecard.model import Json
from cuecard.workbench.transcripts.events import AnswerEvent, Event, ResultEvent, UserEvent
from cuecard.workbench.transcripts.logs import Form, LogReader, arguments
from cuecard.workbench.transcripts.records import Record, content_text, is_reminder, listed

_TEXTS = ("input_text", "output_text", "text")


def whole_inputs(found: Sequence[Record]) -> list[Record]:
    """The records with the whole conversation in `input`, even if they refer to a `previous_response_id`."""
    known: dict[str, list[Form]] = {}
    whole: list[Record] = []
    for record in found:
        before = known.get(str(record.body.get("previous_response_id")), [])
        items = [*before, *_items(record.body.get("input"))]
        known[str(record.response.get("id"))] = [*items, *_output(record.response)]
        whole.append(replace(record, body={**record.body, "input": items}))
    return whole


def _items(value: Json) -> list[Form]:
    return [{"role": "user", "content": value}] if isinstance(value, str) else list(listed(value))


def _response_events(items: Iterable[Form]) -> list[Event]:
    """Consecutive items of the model are one answer."""
    found: list[Event] = []
    for event in _each(items):
        last = found[-1] if found else None
        if isinstance(event, AnswerEvent) and isinstance(last, AnswerEvent):
            text = "\n".join(part for part in (last.text, event.text) if part)
            found[-1] = AnswerEvent(text, (*last.calls, *event.calls))
        else:
            found.append(event)
    return found


def _each(items: Iterable[Form]) -> Iterator[Event]:
    for item in items:
        kind, role = str(item.get("type", "message")), item.get("role")
        if kind.endswith("_output"):
            yield ResultEvent(str(item.get("call_id", "")), _result(item.get("output")))
        elif kind.endswith("_call"):
            written = item.get("arguments", item.get("input", item.get("action")))
            yield AnswerEvent("", ((str(item.get("call_id", "")), str(item.get("name") or kind), arguments(written)),))
        elif role == "assistant":
            yield AnswerEvent(content_text(item.get("content"), *_TEXTS))
        elif role == "user":
            yield from _said(item.get("content"))


def _chat_events(messages: Iterable[Form]) -> list[Event]:
    return [event for message in messages for event in _chat_message(message)]


def _chat_message(message: Form) -> Iterator[Event]:
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        yield AnswerEvent(content_text(content, *_TEXTS), tuple(map(_chat_call, listed(message.get("tool_calls")))))
    elif role == "tool":
        yield ResultEvent(str(message.get("tool_call_id", "")), _result(content))
    elif role == "user":
        yield from _said(content)


def _chat_call(call: Form) -> tuple[str, str, Json]:
    found = (inner for inner in (call.get("function"), call.get("custom")) if isinstance(inner, dict))
    body = next(found, {})
    written = body.get("arguments", body.get("input"))
    return str(call.get("id", "")), str(body.get("name") or "unnamed"), arguments(written)


def _said(content: Json) -> Iterator[UserEvent]:
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(listed(content))
    texts = [str(p.get("text", "")) if p.get("type") in _TEXTS else f"[{p.get('type')}]" for p in parts]
    if kept := [text for text in texts if text and not is_reminder(text)]:
        yield UserEvent("\n".join(kept))


def _result(content: Json) -> Json:
    return content_text(content, *_TEXTS) if isinstance(content, list) else content


def _output(response: Form) -> list[Form]:
    return list(listed(response.get("output")))


def _choice(response: Form) -> list[Form]:
    return [c["message"] for c in listed(response.get("choices")) if isinstance(c.get("message"), dict)][:1]


def _response_usage(response: Form) -> tuple[Json, Json, Json] | None:
    return _counts(response, "input_tokens", "input_tokens_details", "output_tokens")


def _chat_usage(response: Form) -> tuple[Json, Json, Json] | None:
    return _counts(response, "prompt_tokens", "prompt_tokens_details", "completion_tokens")


def _counts(response: Form, whole: str, details: str, output: str) -> tuple[Json, Json, Json] | None:
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    cached = usage.get(details)
    return usage.get(whole), cached.get("cached_tokens") if isinstance(cached, dict) else 0, usage.get(output)


def _tool(tool: Form) -> tuple[Json, Json, Json]:
    inner = tool.get("function")
    body = inner if isinstance(inner, dict) else tool
    return body.get("name"), body.get("description"), body.get("parameters")


OPENAI_RESPONSES = LogReader("openai", "input", _response_events, _output, _response_usage, _tool)
"""OpenAI's Responses API; see `whole_inputs`."""

OPENAI_CHAT = LogReader("openai", "messages", _chat_events, _choice, _chat_usage, _tool)
"""OpenAI's Chat Completions API, which other services have adopted."""
