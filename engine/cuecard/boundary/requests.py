"""The arguments of the functions that build request bodies: messages in each provider's own format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from cuecard.config.endpoints import endpoint_name
from cuecard.config.model_name import wire_name
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Step, ToolCard
from cuecard.outside.models import read_models
from cuecard.shapes import Either, Findings, Flag, Instance, JsonValue, Maybe, Text, Word

Form: TypeAlias = Literal["anthropic", "bedrock", "chat", "responses", "gemini"]
"""The format of messages."""

_STEP = Instance(Step, hint="pass the result of `prepare_step`; `Step.from_json` reads a stored one")
_MODEL = Either(
    [Text("the name of a model", least=1), Instance(ModelProfile, hint='pass just its name, such as "claude-opus-4-8"')]
)
_FORM = Word(get_args(Form))
_CARD = Instance(ToolCard, hint="pass `engine.tools.values()`")
_JSON = JsonValue(finite=True)
_LIFETIME = Word(["5m", "1h"])
_OPTIONS = {
    "cache_key": Maybe([Text()]),
    "defer": Flag(),
    "base_url": Text(),
    "compare_with": Maybe([Text()]),
    "lifetime": _LIFETIME,
    "system_lifetime": Maybe([_LIFETIME]),
}
_PLAIN = "pass messages and tools as plain dicts; objects of an SDK have a method such as `model_dump()`"


class Told(NamedTuple):
    """A problem within a message: where, what is expected, and what was found."""

    at: str
    should: str
    value: Any


class Admitted(NamedTuple):
    """Messages and tools as lists, since they are read more than once, and the profile of the model.

    The profile's name is the one for the body.
    """

    messages: list[Mapping[str, Any]]
    tools: list[Mapping[str, Any]]
    model: ModelProfile = ModelProfile("")


def admit_request(
    form: Form, step: Any, messages: Any, tools: Any, model: Any = None, options: Mapping[str, Any] | None = None
) -> Admitted:
    """The arguments of a request body.

    Args:
        form: the format of the messages.
        step: the step.
        messages: the conversation, in any iterable.
        tools: the tools, in any iterable.
        model: the model's name or profile; Gemini's bodies need none.
        options: further arguments by name.

    Raises:
        InputError: with everything that is wrong in any of the arguments.
    """
    found = Findings()
    _STEP.take(step, "step", found)
    names = {"gemini": "contents", "responses": "items"}
    said = _dicts(messages, names.get(form, "messages"), _FORMS[form], found)
    offered = _dicts(tools, "tools", _tool, found)
    if form != "gemini":
        _MODEL.take(model, "model", found)
    for name, value in (options or {}).items():
        _OPTIONS[name].take(value, name, found)
    found.refuse()
    return Admitted(said, offered, _profile(model, (options or {}).get("base_url", "")))


def admit_chat(messages: Any, tools: Any) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """A conversation and tools in Chat Completions format, before there is a step.

    Raises:
        InputError: with everything that is wrong in any of them.
    """
    plain = isinstance(messages, list) and _are_chat(messages)
    if plain and tools == []:
        return messages, tools
    found = Findings()
    said = messages if plain else _dicts(messages, "messages", _called_chat, found)
    offered = _dicts(tools, "tools", _tool, found)
    found.refuse()
    return said, offered


def _are_chat(messages: list[Any]) -> bool:
    """A quick check for valid messages, since each request contains all earlier ones."""
    for message in messages:
        role = message.get("role") if type(message) is dict else None
        if role == "tool":
            right = type(message.get("tool_call_id")) is str
        elif role == "assistant":
            right = _are_calls(message.get("tool_calls"))
        else:
            right = type(role) is str
        if not right:
            return False
    return True


def _are_calls(calls: Any) -> bool:
    if not calls:
        return True
    if type(calls) is not list:
        return False
    for call in calls:  # noqa: SIM110 - a generator costs more than what it looks at
        if type(call) is not dict or type(call.get("function")) is not dict:
            return False
    return True


def admit_definitions(cards: Any, form: Any) -> list[ToolCard]:
    """The cards of tools to define for a provider, any iterable.

    Raises:
        InputError: when there is no such format, or something is not a card.
    """
    found = Findings()
    _FORM.take(form, "form", found)
    if isinstance(cards, (str, bytes, Mapping)) or not isinstance(cards, Iterable):
        found.wrong("cards", "a list of tool cards", cards, "pass `engine.tools.values()`")
    taken = [] if found.problems else list(cards)
    for place, card in enumerate(taken):
        _CARD.take(card, f"cards[{place}]", found)
    found.refuse()
    return taken


def _profile(model: str | ModelProfile | None, base_url: str) -> ModelProfile:
    """The profile of a named model from the shipped file; the host's own profile is used as it is."""
    if isinstance(model, str):
        return _named(model, base_url)
    if model and base_url and model.endpoint != endpoint_name(base_url):
        there = read_models().find(model.name, endpoint=base_url)
        return replace(model, mid_conversation=there.mid_conversation, adds_tools=there.adds_tools)
    return model or ModelProfile("")


@lru_cache(maxsize=256, typed=True)
def _named(model: str, base_url: str) -> ModelProfile:
    """Found once: every request of a conversation names the same model."""
    return replace(read_models().find(model, endpoint=base_url), name=wire_name(model, base_url))


def _dicts(
    values: Any, name: str, check: Callable[[Mapping[str, Any]], Iterator[Told]], found: Findings
) -> list[Mapping[str, Any]]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        found.wrong(name, "a list of mappings", values, _PLAIN)
        return []
    taken = list(values)
    for place, value in enumerate(taken):
        if isinstance(value, Mapping):
            for told in check(value):
                found.wrong(f"{name}[{place}]{told.at}", told.should, told.value, _PLAIN)
        else:
            found.wrong(f"{name}[{place}]", "a mapping", value, _PLAIN)
    return taken


def _anthropic(message: Mapping[str, Any]) -> Iterator[Told]:
    yield from _text(message, "role")
    content = message.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, (list, tuple)):
        yield Told(".content", "a text or a list of blocks", content)
        return
    for place, block in enumerate(content):
        at = f".content[{place}]"
        if not isinstance(block, Mapping):
            yield Told(at, "a mapping", block)
        elif block.get("type") == "tool_result":
            yield from _text(block, "tool_use_id", at)
            yield from _blocks(block.get("content"), f"{at}.content")


def _blocks(content: Any, at: str) -> Iterator[Told]:
    if isinstance(content, (list, tuple)):
        yield from (
            Told(f"{at}[{place}]", "a mapping", block)
            for place, block in enumerate(content)
            if not isinstance(block, Mapping)
        )
    elif content is not None and not isinstance(content, str):
        yield Told(at, "a text or a list of blocks", content)


def _bedrock(message: Mapping[str, Any]) -> Iterator[Told]:
    yield from _text(message, "role")
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        yield Told(".content", "a list of blocks", content)
        return
    for place, block in enumerate(content):
        at = f".content[{place}]"
        if not isinstance(block, Mapping):
            yield Told(at, "a mapping", block)
        elif block.get("toolResult") is not None:
            result = block["toolResult"]
            if isinstance(result, Mapping):
                yield from _text(result, "toolUseId", f"{at}.toolResult")
            else:
                yield Told(f"{at}.toolResult", "a mapping", result)


def _chat(message: Mapping[str, Any]) -> Iterator[Told]:
    yield from _text(message, "role")
    if message.get("role") == "tool":
        yield from _text(message, "tool_call_id")


def _called_chat(message: Mapping[str, Any]) -> Iterator[Told]:
    yield from _chat(message)
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, (list, tuple)):
        yield Told(".tool_calls", "a list of calls", calls)
        return
    for place, call in enumerate(calls):
        if not isinstance(call, Mapping) or not isinstance(call.get("function") or {}, Mapping):
            yield Told(f".tool_calls[{place}]", "a call with a `function`", call)


def _responses(item: Mapping[str, Any]) -> Iterator[Told]:
    for key in ("role", "type", "call_id"):
        if item.get(key) is not None:
            yield from _text(item, key)


def _gemini(content: Mapping[str, Any]) -> Iterator[Told]:
    if "role" in content:
        yield from _text(content, "role")
    parts = content.get("parts", ())
    if not isinstance(parts, (list, tuple)):
        yield Told(".parts", "a list of parts", parts)
        return
    for place, part in enumerate(parts):
        if not isinstance(part, Mapping):
            yield Told(f".parts[{place}]", "a mapping", part)
            continue
        for key in ("functionResponse", "function_response"):
            response = part.get(key)
            if response is not None and not isinstance(response, Mapping):
                yield Told(f".parts[{place}].{key}", "a mapping", response)
            elif response and response.get("id") is not None:
                yield from _text(response, "id", f".parts[{place}].{key}")


def _tool(tool: Mapping[str, Any]) -> Iterator[Told]:
    if not _JSON.fits(tool):
        yield Told("", "plain JSON in which every object is a dict", tool)
    for key in ("function", "toolSpec", "systemTool"):
        if not isinstance(tool.get(key, {}), Mapping):
            yield Told(f".{key}", "a mapping", tool[key])
    for key in ("name", "type"):
        if tool.get(key) is not None:
            yield from _text(tool, key)


def _text(value: Mapping[str, Any], key: str, at: str = "") -> tuple[Told, ...]:
    return () if isinstance(value.get(key), str) else (Told(f"{at}.{key}", "a text", value.get(key)),)


_FORMS: Mapping[Form, Callable[[Mapping[str, Any]], Iterator[Told]]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "chat": _chat,
    "responses": _responses,
    "gemini": _gemini,
}
