"""Bodies for Responses and Chat Completions.

In both, appended blocks are messages of their own after the last tool output of their batch: with the role that the
profile names (`developer`, or `system` for hosts that know only that), or, where no role has authority in
mid-conversation, as a user message with a `<system-reminder>`. Messages come last in the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, dropwhile
from typing import Any

from typing_extensions import override

from cuecard.adapters.block_places import MessageFacts, MessageReader
from cuecard.adapters.blocks import place_after
from cuecard.adapters.bodies import (
    Body,
    Message,
    ToolBody,
    body_rules,
    order_tools,
    passing_system,
    profile_of,
    reminder,
    system_pieces,
    tool_choice,
)
from cuecard.adapters.host import said_beside_files, told_beside_files
from cuecard.adapters.one_turn import behind_prompt
from cuecard.adapters.openai_tools import DEFINITIONS, late_definitions
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Authority, RenderedResult, Step, ToolResult
from cuecard.model.boundary import FilledText, checked

_BREAKPOINT: Body = {"prompt_cache_breakpoint": {"mode": "explicit"}}


@checked(also=body_rules("responses", "items"))
def responses_request(
    step: Step,
    items: Iterable[Message],
    *,
    model: FilledText | ModelProfile,
    tools: Iterable[ToolBody] = (),
    cache_key: str | None = None,
    base_url: str = "",
    compare_with: str | None = None,
) -> Body:
    """The body of one request to the Responses API, `input` last.

    The system prompt goes into `instructions`. If the model accepts explicit breakpoints and its minimum is reached, it
    goes into a first item instead, where the parts that conversations share can be marked. Models that take definitions
    late (GPT-5.6 and later) get each tool defined where it was found, as `additional_tools` does it; what the host has
    placed itself stays. The body holds the whole conversation: do not combine it with `previous_response_id`.

    Args:
        step: the step from `prepare_step`.
        items: the conversation so far as input items, without the system prompt; blocks placed earlier are recognised.
        model: the name of the model, with or without its provider in front; or a profile of your own.
        tools: every tool of the conversation, not only the active ones; otherwise the first discovery breaks the
            prompt cache.
        cache_key: requests with equal keys and beginnings reach the same cache; by default one key per configuration,
            that of the system prompt where the conversation has heard of a later one.
        base_url: where the request goes, if not to the provider itself. Blocks get a role of their own only where the
            models file says that this endpoint leaves messages in their places.
        compare_with: the id of the response before: the answer then says why the cache missed (GPT-5.6 and later).

    Raises:
        InputError: with everything that is wrong in an argument, or when a block has no item of the user or of a tool
            to go with.
        RunLimitError: when a limit of the run allows no further request.
    """
    model = profile_of(model, base_url)
    if late := model.defers("responses"):
        tools, items = late_definitions(tools, items, step)
    ordered = order_tools(tools, step)
    pieces = system_pieces(step, model, ordered, model.breakpoints)
    marked = any(mark for _, mark in pieces)
    first = [{"role": _first_role(model), "content": _parts(pieces, "input_text")}] if marked else []
    bare = _with_definitions(_without_prompts(items, first, step))
    rest = [*chain.from_iterable(map(_apart, _placed(bare, step, model.mid_conversation, _RESPONSES)))]
    given = [tool for item in rest if late and item.get("type") == DEFINITIONS for tool in item["tools"]]
    return {
        **_head(step, model, ordered, cache_key),
        **tool_choice(step, "responses", [*ordered, *given], model),
        **({} if first else {"instructions": _whole(step)}),
        **({"prompt_cache_options": {"comparison_response_id": compare_with}} if compare_with else {}),
        "input": [*first, *rest],
    }


@checked(also=body_rules("chat"))
def chat_request(
    step: Step,
    messages: Iterable[Message],
    *,
    model: FilledText | ModelProfile,
    tools: Iterable[ToolBody] = (),
    cache_key: str | None = None,
    base_url: str = "",
) -> Body:
    """The body of one request to the Chat Completions API, `messages` last and the system prompt first among them.

    Arguments and errors are those of `responses_request`, with messages and tools in the form of this API.
    """
    model = profile_of(model, base_url)
    ordered = order_tools(tools, step)
    pieces = system_pieces(step, model, ordered, model.breakpoints)
    content = _parts(pieces, "text") if any(mark for _, mark in pieces) else _whole(step)
    first: list[Body] = [{"role": _first_role(model), "content": content}]
    bare = _without_prompts(messages, first, step)
    rest = _placed(bare, step, model.mid_conversation, _CHAT)
    choice = tool_choice(step, "chat", ordered, model)
    return {**_head(step, model, ordered, cache_key), **choice, "messages": [*first, *rest]}


def _without_prompts(messages: Iterable[Message], first: Sequence[Body], step: Step) -> Iterator[Message]:
    """The messages without prompts that were stored as they were sent, this one or earlier ones."""

    def is_prompt(message: Message) -> bool:
        behind = behind_prompt(message, step)
        return behind is not None and not any(behind)

    return dropwhile(is_prompt, (message for message in messages if message not in first))


def _whole(step: Step) -> str:
    return "\n\n".join((step.system, *passing_system(step)))


_HELD = "cuecard_definitions"


def _with_definitions(items: Iterable[Message]) -> list[Body]:
    """The items, each with the definitions behind it: nothing comes between a result and those it has found."""
    held: list[Body] = []
    for item in items:
        if held and item.get("type") == DEFINITIONS:
            held[-1] = {**held[-1], _HELD: [*held[-1].get(_HELD, ()), dict(item)]}
        else:
            held.append(dict(item))
    return held


def _apart(item: Body) -> Iterator[Body]:
    yield {key: value for key, value in item.items() if key != _HELD}
    yield from item.get(_HELD, ())


def _head(step: Step, model: ModelProfile, tools: list[Body], cache_key: str | None) -> Body:
    key = f"cuecard-{(step.origin or step.manifest.configuration.sha256)[:32]}" if cache_key is None else cache_key
    return {"model": model.name, "prompt_cache_key": key, **({"tools": tools} if tools else {})}


def _first_role(model: ModelProfile) -> str:
    return "system" if model.mid_conversation == "user" else model.mid_conversation


def _parts(pieces: Iterable[tuple[str, bool]], kind: str) -> list[Body]:
    return [{"type": kind, "text": text, **(_BREAKPOINT if marked else {})} for text, marked in pieces]


def place_in_chat(messages: Iterable[Message], step: Step, role: Authority) -> list[Body]:
    """Messages of Chat Completions with each block in its place, as a message of this role."""
    return _placed(messages, step, role, _CHAT)


def _placed(messages: Iterable[Message], step: Step, role: Authority, reader: MessageReader) -> list[Body]:
    def block(text: str) -> Body:
        return {"role": role, "content": reminder(text, step.reminder) if role == "user" else text}

    return place_after(messages, step, block, reader)


def _says(message: Message) -> int:
    if message.get("role") != "user":
        return 0
    content = message.get("content")
    return sum("text" in part for part in content) or 1 if isinstance(content, (list, tuple)) else 1


def _tool_ids(message: Message) -> tuple[str, ...]:
    return (message["tool_call_id"],) if message.get("role") == "tool" else ()


class _ChatReader(MessageReader):
    """Reads many messages at a time: hosts of Chat Completions have no more than these, and send them all each time."""

    __slots__ = ()

    @override
    def read(self, messages: Iterable[Message]) -> MessageFacts:
        known = list(messages)
        ids = [(message["tool_call_id"],) if message.get("role") == "tool" else () for message in known]
        return MessageFacts(ids, list(map(_says, known)))


_CHAT = _ChatReader(_tool_ids, _says)


def _output_ids(item: Message) -> tuple[str, ...]:
    # Outputs of functions, custom tools, shells and tool searches all end so. A search run by the server has no id.
    return (item.get("call_id") or "",) if str(item.get("type", "")).endswith("_output") else ()


_RESPONSES = MessageReader(_output_ids, _says)


def with_results(
    messages: Iterable[Mapping[str, Any]], render: Callable[[ToolResult], RenderedResult]
) -> list[Mapping[str, Any]]:
    """The messages of one request with results as texts, where the agent has templates for them.

    The host keeps what the tools returned. Pictures and files stay, behind the text; a result whose call nobody knows
    stays as it is. These messages do not say that a call has failed.
    """
    names: dict[str, str] = {}
    told: list[Mapping[str, Any]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            names[str(call.get("id"))] = str((call.get("function") or {}).get("name") or "")
        told.append(_told(message, names, render) if message.get("role") in {"tool", "function"} else message)
    return told


def _told(
    message: Mapping[str, Any], names: Mapping[str, str], render: Callable[[ToolResult], RenderedResult]
) -> Mapping[str, Any]:
    call, said = str(message.get("tool_call_id") or ""), message.get("content")
    tool = names.get(call) or str(message.get("name") or "")
    beside = said_beside_files(said)
    if not tool or (beside is None and said is not None):
        return message
    result = render(ToolResult(tool, beside, call or None))
    told = {**message, "content": told_beside_files(said, result.text)}
    return told if result.rule or result.media else message
