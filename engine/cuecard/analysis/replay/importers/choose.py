"""Detects the format of a log from its structure, and reads its conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from cuecard.analysis.replay.importers.anthropic import ANTHROPIC
from cuecard.analysis.replay.importers.imported import Imported, left_out
from cuecard.analysis.replay.importers.logs import read_log
from cuecard.analysis.replay.importers.openai import OPENAI_CHAT, OPENAI_RESPONSES, whole_inputs
from cuecard.analysis.replay.importers.pydantic_ai import read_messages
from cuecard.analysis.replay.importers.records import Record, listed, read_values, records
from cuecard.config.transcript_file import read_transcript
from cuecard.errors import Problem, SpecError
from cuecard.model import Json

LogForm: TypeAlias = Literal["auto", "cuecard", "pydantic-ai", "openai", "anthropic"]
"""The formats in which a conversation can be read."""

FORMS: tuple[str, ...] = get_args(LogForm)


def read_conversation(text: str, name: str, form: LogForm = "auto") -> Imported:
    """The conversation in the text of a file: our own transcript, or a log of another program.

    Warnings say what of a log is not played: unreadable lines, other conversations, thinking.

    Raises:
        SpecError: with every problem at its place; also when the file holds no conversation in this format.
    """
    if form == "cuecard":
        return Imported(read_transcript(text, name))
    values, broken = read_values(text, name)
    if form == "auto" and len(values) == 1 and isinstance(values[0], dict) and "turns" in values[0]:
        return Imported(read_transcript(text, name))
    try:
        read = _read(values, name, form)
    except SpecError as error:
        raise SpecError([*error.problems, *broken]) from None
    return replace(read, warnings=(*broken, *read.warnings))


def _read(values: Sequence[Json], name: str, form: LogForm) -> Imported:
    messages = [value for value in values if isinstance(value, dict)]
    if form == "pydantic-ai" or (form == "auto" and _is_pydantic(messages)):
        return Imported(read_messages(messages, name), left_out(messages, name))
    found = records(values) or records([{"messages": messages}] if _are_messages(messages) else [])
    if not found:
        hint = "expected a transcript, pydantic-ai messages, or requests to OpenAI or Anthropic; see --from"
        raise SpecError(Problem("no-conversation", "this file contains no conversation in a known format", hint, name))
    if any("input" in record.body for record in found):
        whole = [record for record in found if "input" in record.body]
        return read_log(whole_inputs(whole), OPENAI_RESPONSES, name)
    anthropic = form == "anthropic" or (form == "auto" and any(map(_is_anthropic, found)))
    return read_log(found, ANTHROPIC if anthropic else OPENAI_CHAT, name)


def _is_pydantic(messages: Sequence[Mapping[str, Json]]) -> bool:
    return any(message.get("kind") in ("request", "response") and "parts" in message for message in messages)


def _are_messages(messages: Sequence[Mapping[str, Json]]) -> bool:
    return any("role" in message and "content" in message for message in messages)


def _is_anthropic(record: Record) -> bool:
    """Whether it has a system prompt beside the messages, tools with `input_schema`, or parts that only this API
    knows.
    """
    body = record.body
    parts = (part for message in listed(body.get("messages")) for part in listed(message.get("content")))
    return (
        "system" in body
        or any("input_schema" in tool for tool in listed(body.get("tools")))
        or any(part.get("type") in ("tool_use", "tool_result", "thinking") for part in parts)
        or str(body.get("model", "")).startswith("claude")
    )
