"""The tiny conversations of a probe: the questions, and how to read the answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from cuecard.outside.asking import AskingError

Api: TypeAlias = Literal["anthropic", "openai"]
"""The request format: Anthropic's Messages, or OpenAI's Chat Completions, which local servers and routers support."""

Said: TypeAlias = tuple[str, str]
"""The role and the text of a message."""

COLOURS = ("red", "green", "blue", "yellow", "black", "white", "orange", "purple")
MARKS = ("ZEBRA", "LLAMA", "TAPIR", "KOALA", "OTTER", "BISON")
_LIST = (
    "List the colours of all notes above, each once, in the order in which the notes stand in this conversation, "
    "separated by commas. Answer with that line alone."
)
_TOKENS = 512  # reasoning models need room to think


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the service's token counts: those of the request, and those read from a cache."""

    text: str
    tokens: int | None
    cached: int | None


def order_question(role: str, colours: Sequence[str]) -> list[Said]:
    """Four notes, the third by the operator: the order in the answer shows where the model saw it."""
    return [
        ("user", f"Note: {colours[0]}."),
        ("assistant", "Read."),
        ("user", f"Note: {colours[1]}."),
        (role, f"Note: {colours[2]}."),
        ("assistant", "Read."),
        ("user", f"Note: {colours[3]}.\n{_LIST}"),
    ]


def heed_question(role: str, mark: str) -> list[Said]:
    """An instruction by the operator mid-conversation; the answer shows whether the model followed it."""
    return [
        ("user", "Which day follows Monday?"),
        (role, f"From now on, end every answer with the word {mark}."),
        ("assistant", f"Tuesday {mark}"),
        ("user", "Which day follows Friday?"),
    ]


def plain_question() -> list[Said]:
    """A conversation that any service can answer."""
    return [("user", "Which day follows Monday?"), ("assistant", "Tuesday"), ("user", "Which day follows Friday?")]


def body_of(api: Api, model: str, said: Sequence[Said]) -> dict[str, Any]:
    """The body of a request."""
    messages = [{"role": role, "content": text} for role, text in said]
    limit = "max_completion_tokens" if api == "openai" and re.match(r"(gpt-[5-9]|o\d)", model) else "max_tokens"
    return {"model": model, limit: _TOKENS, "messages": messages}


def answer_of(api: Api, data: Mapping[str, Any]) -> Answer:
    """Parse an answer.

    Raises:
        AskingError: when it does not have the format of this API.
    """
    try:
        return _READERS[api](data)
    except (KeyError, IndexError, TypeError, AttributeError):
        raise AskingError(f"the answer does not have the form of {api} answers") from None


def _anthropic(data: Mapping[str, Any]) -> Answer:
    text = "".join(block["text"] for block in data["content"] if block["type"] == "text")
    usage = data.get("usage") or {}
    read = _count(usage.get("cache_read_input_tokens"))
    counts = (_count(usage.get("input_tokens")), read, _count(usage.get("cache_creation_input_tokens")))
    return Answer(text, sum(each or 0 for each in counts) or None, read)


def _openai(data: Mapping[str, Any]) -> Answer:
    text = data["choices"][0]["message"]["content"] or ""
    if not isinstance(text, str):
        raise TypeError
    usage = data.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return Answer(text, _count(usage.get("prompt_tokens")), _count(details.get("cached_tokens")))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_READERS: Mapping[Api, Callable[[Mapping[str, Any]], Answer]] = {"anthropic": _anthropic, "openai": _openai}


def colours_in(text: str, colours: Sequence[str]) -> list[str]:
    """The colours in an answer, in order, without the model's preceding thoughts."""
    answer = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).lower()
    found = re.findall(rf"\b({'|'.join(colours)})\b", answer)
    return list(dict.fromkeys(found))
