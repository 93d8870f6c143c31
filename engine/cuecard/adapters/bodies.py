"""What request bodies share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import PlainValidator

from cuecard.config.model_profile import Interface, ModelProfile, wire_name
from cuecard.config.models_file import endpoint_name
from cuecard.config.values import fill
from cuecard.errors import InputError, Problem, RunLimitError
from cuecard.files.content import read_models
from cuecard.model import Segment, Step
from cuecard.model.argument_problems import not_right, refuse, unread, wrong
from cuecard.model.boundary import Given, Rules, taken
from cuecard.model.json_values import exact_object
from cuecard.model.prompt import REMINDER
from cuecard.pipeline.run import not_forced
from cuecard.pipeline.segments import stable_part

Message: TypeAlias = Mapping[str, Any]
"""A message, item or tool in a provider's own form, as plain JSON."""

Body: TypeAlias = dict[str, Any]
"""A request body, or a part of one."""

Form: TypeAlias = Interface
"""The format of messages."""


def reminder(text: str, form: str = REMINDER) -> str:
    """A block for places where no role has more authority than the user: the documented fallback for Claude.

    Anything that writes into user turns can forge it, so a role with authority is always the first choice. `form` is
    the `reminder` of the step.
    """
    return fill(form, {"text": text})


def system_pieces(step: Step, profile: ModelProfile, tools: Sequence[Message], limit: int) -> list[tuple[str, bool]]:
    """The system prompt in at most two pieces, whether a cache breakpoint belongs after each, and `passing_system`.

    The first is what seldom changes: up to the boundary of the layout, or else the static segments at the start. A
    breakpoint pays only where tools and text up to it reach the model's minimum; the first `limit` of those are marked.
    """
    stable = stable_part(step.segments)
    cuts = [step.segments[:stable], step.segments[stable:]]
    if not all(_joined(cut).strip() for cut in cuts):  # a block of spaces alone is refused
        cuts = [step.segments]
    pieces: list[tuple[str, bool]] = []
    before = _rough_tokens(tools)
    for cut in cuts:
        before += sum(segment.tokens for segment in cut) * profile.token_factor
        marked = before >= profile.min_cache_tokens and sum(mark for _, mark in pieces) < limit
        pieces.append((_joined(cut), marked))
    return [piece for piece in pieces if piece[0].strip()] + [(text, False) for text in passing_system(step)]


def passing_system(step: Step) -> list[str]:
    """What stands behind the system prompt for this turn alone, where nothing is placed among messages: under
    `rewrite`, and where the host can only set the system prompt.
    """
    if step.call is None or step.call.delivery.places_blocks:
        return []
    return [str(each.content).strip() for each in step.messages[1:] if each.role == "system" and not each.persist]


def _joined(segments: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def _rough_tokens(tools: Sequence[Message]) -> float:
    # JSON costs a token for every two or three characters. Too high a guess costs nothing: a breakpoint below the
    # minimum writes no entry.
    return sum(len(json.dumps(tool)) for tool in tools) / 2.5


def order_tools(tools: Iterable[Message], step: Step) -> list[Body]:
    """Tools in an order that neither discovery, nor a withdrawal, nor the host changes: by the baseline, then by name.

    Discovered tools keep the place they had before, and withdrawn ones stay, because tools stand before everything else
    in a cached prefix. The search tool is left out where the conversation has none.
    """
    first = {name: place for place, name in enumerate(step.base_tools)}

    def rank(tool: Message) -> tuple[int, str]:
        return first.get(tool_name(tool), len(first)), tool_name(tool)

    return [dict(tool) for tool in sorted(tools, key=rank) if is_offered(tool_name(tool), step)]


def checked_limits(step: Step) -> str:
    """The tool that a limit of the run makes this request force; empty for none.

    Raises:
        RunLimitError: when a limit of the run allows no further request.
    """
    if step.stopped:
        told = f"the run has come to its limit without an answer ({step.stopped})"
        hint = "end the turn and tell the user; `run` in the agent file, or `Turn.run`, sets the limit"
        raise RunLimitError(Problem("run-limit", told, hint, "run"))
    return step.forced_tool


def tool_choice(step: Step, form: Form, tools: Iterable[Message], profile: ModelProfile | None = None) -> Body:
    """What a request says so that the model calls the tool that a limit of the run forces; empty without one.

    Args:
        step: the step.
        form: the format of the request.
        tools: the tools of the request; none is forced that is not among them.
        profile: the profile of the model.

    Raises:
        RunLimitError: when a limit of the run allows no further request.
        InputError: when the model cannot be forced.
    """
    name = checked_limits(step)
    if not name or not any(tool_name(tool) == name for tool in tools):
        return {}
    if profile and not profile.forces_tools:
        raise InputError(not_forced(profile.name, name, "model"))
    return _CHOICES[form](name)


_CHOICES: Mapping[Form, Callable[[str], Body]] = {
    "anthropic": lambda name: {"tool_choice": {"type": "tool", "name": name}},
    "bedrock": lambda name: {"toolChoice": {"tool": {"name": name}}},
    "chat": lambda name: {"tool_choice": {"type": "function", "function": {"name": name}}},
    "responses": lambda name: {"tool_choice": {"type": "function", "name": name}},
    "gemini": lambda name: {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}}},
}


def is_offered(tool: str, step: Step) -> bool:
    """Whether requests of the conversation have a tool: all of the host's, and the search tool if it was decided so."""
    return step.offers_search or tool != step.refusals.search


def loaded_tools(step: Step) -> set[str]:
    """The tools that are defined in front: those of the baseline, and core tools that have come since and come back."""
    told = {*step.brought, *(each.tool for each in step.found)}
    return {*step.base_tools, *(name for name in step.initial_tools if name not in told)}


def tool_name(tool: Message) -> str:
    """The name of a tool, in whichever form it is written."""
    inner = tool.get("function") or tool.get("toolSpec") or tool.get("systemTool") or {}
    return str(tool.get("name") or inner.get("name") or tool.get("type", ""))


def _plain_tool(tool: Any) -> Any:
    if not issubclass(type(tool), Mapping):
        raise not_right("should be a mapping, not an object of an SDK", _PLAIN)
    made, wrongs = exact_object(tool)
    if wrongs:
        code = "value-too-large" if wrongs[-1].code == "value-too-large" else "wrong-argument"
        raise not_right("should be plain JSON in which every object is a dict", _PLAIN, code)
    return made


ToolBody: TypeAlias = Annotated[Mapping[str, Any], PlainValidator(_plain_tool)]
"""The definition of a tool in a provider's format: plain JSON."""

_PLAIN = "pass messages and tools as plain dicts; objects of an SDK have a method such as `model_dump()`"


class MessageProblem(NamedTuple):
    """A problem within a message: where, what is expected, and what was found."""

    at: str
    should: str
    value: Any


def body_rules(form: Form, messages: str = "messages") -> Rules:
    """What is wrong in the messages and tools of a request, each of which is a mapping.

    Args:
        form: their format.
        messages: the name of the argument with the messages.
    """

    def rules(given: Given) -> Iterator[Problem]:
        yield from _mistakes(given.get(messages, ()), messages, _FORMS[form])
        yield from _mistakes(given.get("tools", ()), "tools", _tool)

    return rules


def _mistakes(
    values: Iterable[Any], name: str, check: Callable[[Mapping[str, Any]], Iterator[MessageProblem]]
) -> Iterator[Problem]:
    for place, value in enumerate(values):
        try:
            found = list(check(value)) if value is not None else []
        except Exception as error:  # noqa: BLE001 - whatever an object of the host raises, it is the message that is wrong
            yield Problem("wrong-argument", f"`{name}[{place}]` {unread(error)}", _PLAIN, f"{name}[{place}]")
            continue
        for told in found:
            yield wrong(f"{name}[{place}]{told.at}", told.should, told.value, _PLAIN)


def admit_chat(messages: Any, tools: Any) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """A conversation and tools in Chat Completions format, before there is a step.

    Raises:
        InputError: with everything that is wrong in any of them.
    """
    plain = isinstance(messages, list) and _are_chat(messages)
    if plain and tools == []:
        return messages, tools
    problems: list[Problem] = []
    said = messages if plain else taken(Iterable[Message], messages, "messages", problems) or ()
    offered = taken(Iterable[ToolBody], tools, "tools", problems) or ()
    problems += [] if plain else _mistakes(said, "messages", _called_chat)
    refuse([*problems, *_mistakes(offered, "tools", _tool)])
    return list(said), list(offered)


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


def profile_of(model: str | ModelProfile, base_url: str) -> ModelProfile:
    """The profile of a named model, with the name for the body; the host's own profile is used as it is."""
    if isinstance(model, str):
        return _named(model, base_url)
    if base_url and model.endpoint != endpoint_name(base_url):
        there = read_models().find(model.name, endpoint=base_url)
        return replace(model, **{name: getattr(there, name) for name in _OF_ENDPOINTS})
    return model


_OF_ENDPOINTS = ("mid_conversation", "adds_tools", "definitions", "interfaces")


@lru_cache(maxsize=256, typed=True)
def _named(model: str, base_url: str) -> ModelProfile:
    """Found once: every request of a conversation names the same model."""
    return replace(read_models().find(model, endpoint=base_url), name=wire_name(model, base_url))


def _anthropic(message: Mapping[str, Any]) -> Iterator[MessageProblem]:
    yield from _text_at(message, "role")
    content = message.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, (list, tuple)):
        yield MessageProblem(".content", "a text or a list of blocks", content)
        return
    for place, block in enumerate(content):
        at = f".content[{place}]"
        if not isinstance(block, Mapping):
            yield MessageProblem(at, "a mapping", block)
        elif block.get("type") == "tool_result":
            yield from _text_at(block, "tool_use_id", at)
            yield from _blocks(block.get("content"), f"{at}.content")


def _blocks(content: Any, at: str) -> Iterator[MessageProblem]:
    if isinstance(content, (list, tuple)):
        yield from (
            MessageProblem(f"{at}[{place}]", "a mapping", block)
            for place, block in enumerate(content)
            if not isinstance(block, Mapping)
        )
    elif content is not None and not isinstance(content, str):
        yield MessageProblem(at, "a text or a list of blocks", content)


def _bedrock(message: Mapping[str, Any]) -> Iterator[MessageProblem]:
    yield from _text_at(message, "role")
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        yield MessageProblem(".content", "a list of blocks", content)
        return
    for place, block in enumerate(content):
        at = f".content[{place}]"
        if not isinstance(block, Mapping):
            yield MessageProblem(at, "a mapping", block)
        elif block.get("toolResult") is not None:
            result = block["toolResult"]
            if isinstance(result, Mapping):
                yield from _text_at(result, "toolUseId", f"{at}.toolResult")
            else:
                yield MessageProblem(f"{at}.toolResult", "a mapping", result)


def _chat(message: Mapping[str, Any]) -> Iterator[MessageProblem]:
    yield from _text_at(message, "role")
    if message.get("role") == "tool":
        yield from _text_at(message, "tool_call_id")


def _called_chat(message: Mapping[str, Any]) -> Iterator[MessageProblem]:
    yield from _chat(message)
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, (list, tuple)):
        yield MessageProblem(".tool_calls", "a list of calls", calls)
        return
    for place, call in enumerate(calls):
        if not isinstance(call, Mapping) or not isinstance(call.get("function") or {}, Mapping):
            yield MessageProblem(f".tool_calls[{place}]", "a call with a `function`", call)


def _responses(item: Mapping[str, Any]) -> Iterator[MessageProblem]:
    for key in ("role", "type", "call_id"):
        if item.get(key) is not None:
            yield from _text_at(item, key)


def _gemini(content: Mapping[str, Any]) -> Iterator[MessageProblem]:
    if "role" in content:
        yield from _text_at(content, "role")
    parts = content.get("parts", ())
    if not isinstance(parts, (list, tuple)):
        yield MessageProblem(".parts", "a list of parts", parts)
        return
    for place, part in enumerate(parts):
        if not isinstance(part, Mapping):
            yield MessageProblem(f".parts[{place}]", "a mapping", part)
            continue
        for key in ("functionResponse", "function_response"):
            response = part.get(key)
            if response is not None and not isinstance(response, Mapping):
                yield MessageProblem(f".parts[{place}].{key}", "a mapping", response)
            elif response and response.get("id") is not None:
                yield from _text_at(response, "id", f".parts[{place}].{key}")


def _tool(tool: Mapping[str, Any]) -> Iterator[MessageProblem]:
    for key in ("function", "toolSpec", "systemTool"):
        if not isinstance(tool.get(key, {}), Mapping):
            yield MessageProblem(f".{key}", "a mapping", tool[key])
    for key in ("name", "type"):
        if tool.get(key) is not None:
            yield from _text_at(tool, key)


def _text_at(value: Mapping[str, Any], key: str, at: str = "") -> tuple[MessageProblem, ...]:
    return () if isinstance(value.get(key), str) else (MessageProblem(f"{at}.{key}", "a text", value.get(key)),)


_FORMS: Mapping[Form, Callable[[Mapping[str, Any]], Iterator[MessageProblem]]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "chat": _chat,
    "responses": _responses,
    "gemini": _gemini,
}
