"""LangChain's messages: the tool results in them, and the place of appended blocks among them."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.tool import invalid_tool_call, tool_call

from cuecard.adapters.block_places import CallNames, MessageFacts, homes, results_behind, turn_places
from cuecard.adapters.bodies import reminder
from cuecard.adapters.content_places import NO_ANSWER, NO_RESULT, is_empty
from cuecard.adapters.host import content_text, said_beside_files, told_beside_files
from cuecard.adapters.one_turn import ended_turns, in_ended_turns
from cuecard.model import Authority, Json, RenderedResult, Step, ToolResult
from cuecard.pipeline.fingerprints import sha256

_REFUSED = "cuecard_refused"
"""Under this key, a message whose refused calls are no longer among its calls has the ids of all, in their order."""

_INSISTS = 3
"""So many messages of a model in a row that bring nothing but errors are answered before anybody is asked."""

_THINKING = ("thinking", "redacted_thinking", "reasoning")
"""The kinds of content with the model's thinking, as providers and LangChain write it."""


def tool_results(messages: Sequence[BaseMessage], known: Collection[str] = ()) -> tuple[ToolResult, ...]:
    """The tool results of a conversation as the engine takes them, oldest first.

    A result without a name has that of the call it answers; where neither is there, it tells nothing.

    Args:
        messages: the conversation.
        known: call ids of results that need not be told again, unless they follow the model's last message.
    """
    found: list[ToolResult] = []
    names: dict[str, str] = {}
    asked: dict[str, Any] = {}
    batch: str | None = None
    newest = last_of(messages, AIMessage)
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage):
            batch = _batch(message)
            names |= {call["id"]: call["name"] for call in message.tool_calls if call["id"]}
            asked |= {call["id"]: call["args"] for call in message.tool_calls if call["id"]}
        elif isinstance(message, ToolMessage):
            call = message.tool_call_id
            tool, marked = names.get(call) or message.name, call or message.id or f"result-{place}"
            if not tool or (place < newest and marked in known):
                continue
            failed = message.status == "error"
            found.append(ToolResult(tool, _body(message), marked, failed, batch=batch, arguments=asked.get(call)))
    return tuple(found)


def with_results(messages: Iterable[BaseMessage], render: Callable[[ToolResult], RenderedResult]) -> list[BaseMessage]:
    """The messages of one request with results as texts, where the agent has templates for them.

    The state keeps what the tools have returned: the same result is the same text in each request, with its pictures
    and files behind it.
    """
    told: list[BaseMessage] = []
    names: dict[str, str] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            names |= {call["id"]: call["name"] for call in message.tool_calls if call["id"]}
        told.append(_told(message, names, render) if isinstance(message, ToolMessage) else message)
    return told


def _told(
    message: ToolMessage, names: Mapping[str, str], render: Callable[[ToolResult], RenderedResult]
) -> ToolMessage:
    tool, said = names.get(message.tool_call_id) or message.name, _body(message)
    if not tool or said is None:
        return message
    result = render(ToolResult(tool, said, is_error=message.status == "error"))
    if not (result.rule or result.media):
        return message
    return message.model_copy(update={"content": told_beside_files(message.content, result.text)})


def _body(message: ToolMessage) -> Json:
    """What a tool returned beside pictures and files; a tool of an MCP server has its values in the artifact, and in
    the content a text for each, with LangChain's own ids.
    """
    structured = message.artifact.get("structured_content") if isinstance(message.artifact, dict) else None
    if structured is not None:
        body: Json = structured
        return body
    said: Json = said_beside_files(message.content if isinstance(message.content, str) else list(message.content))
    return said


def refusing(
    messages: Sequence[BaseMessage], refusal: Callable[[str], str | None]
) -> tuple[list[BaseMessage], bool] | None:
    """What is to be added to the messages where the model has called tools that are refused, and whether other calls
    are left; None where nothing is.

    Where others are left, a refused call stands among the message's invalid ones: who asks a person about calls asks
    about those that may run. `with_refused` puts it back. A model that insists is left to the agent, whose limits count
    its requests.
    """
    message = next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)
    if message is None:
        return None
    place = last_of(messages, AIMessage)
    answered = {each.tool_call_id for each in messages[place:] if isinstance(each, ToolMessage)}
    calls = [call for call in message.tool_calls if call["id"] not in answered]
    told: dict[str | None, str] = {}
    told |= {call["id"]: text for call in calls if call["id"] and (text := refusal(call["name"])) is not None}
    left = any(call["id"] not in told for call in calls)
    if not told or not (left or _refused_before(messages[:place]) < _INSISTS):
        return None
    answers = [
        ToolMessage(told[call["id"]], name=call["name"], tool_call_id=call["id"], status="error")
        for call in calls
        if call["id"] in told
    ]
    return [*([_without(message, told)] if left else []), *answers], left


def last_of(messages: Sequence[BaseMessage], kind: type[BaseMessage]) -> int:
    """Where the last message of a kind stands; -1 if there is none."""
    return next((at for at in reversed(range(len(messages))) if isinstance(messages[at], kind)), -1)


def called_together(messages: Sequence[BaseMessage]) -> tuple[str, ...]:
    """The tools that the model calls in its last message, those that were refused among them."""
    last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    calls = [*last.tool_calls, *last.invalid_tool_calls] if last else []
    return tuple(name for call in calls if (name := call["name"]))


def _refused_before(messages: Sequence[BaseMessage]) -> int:
    """How many messages of the model before these ends were followed by nothing but errors."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            count += 1
        elif not isinstance(message, ToolMessage) or message.status != "error":
            break
    return count


def _without(message: AIMessage, told: Mapping[str | None, str]) -> AIMessage:
    refused = [
        invalid_tool_call(name=call["name"], args=json.dumps(call["args"]), id=call["id"], error=told[call["id"]])
        for call in message.tool_calls
        if call["id"] in told
    ]
    return message.model_copy(
        update={
            "tool_calls": [call for call in message.tool_calls if call["id"] not in told],
            "invalid_tool_calls": [*message.invalid_tool_calls, *refused],
            "additional_kwargs": {**message.additional_kwargs, _REFUSED: [call["id"] for call in message.tool_calls]},
        }
    )


def with_refused(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages of a request with refused calls, and their answers, where the model made them."""
    whole = list(messages)
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage) and (order := message.additional_kwargs.get(_REFUSED)):
            rank = {call: at for at, call in enumerate(order)}
            results = _results_behind(messages, place)
            results.sort(key=lambda result: rank.get(result.tool_call_id, len(rank)))
            whole[place : place + 1 + len(results)] = [_whole(message, rank), *results]
    return whole


def told_apart(messages: Sequence[BaseMessage], gone: Iterable[str] = ()) -> list[BaseMessage]:
    """The messages, in which calls that share an id have one of their own: each block then has one place.

    Args:
        messages: the conversation.
        gone: names of calls that the messages no longer hold.
    """
    names, told = CallNames(gone), list[BaseMessage]()
    for each in messages:
        if isinstance(each, AIMessage) and (ids := _ids(each)):
            own = names.of_calls(ids)
            told.append(each if own == ids else _called(each, ids, own))
        elif isinstance(each, ToolMessage) and (name := names.of_result(each.tool_call_id)) != each.tool_call_id:
            told.append(each.model_copy(update={"tool_call_id": name}))
        else:
            told.append(each)
    return told


def calls_held(messages: Sequence[BaseMessage], answered: str) -> tuple[list[str], list[str]]:
    """The ids of the calls that the request before has held, too, and of those that are new.

    Args:
        messages: the conversation.
        answered: what `last_answer` said of the request before. Where that answer is left out, the last one is new.
    """
    answers = _answers(messages)
    known = (at + 1 for at in reversed(range(len(answers))) if _mark(answers[at]) == answered)
    first = next(known, len(answers) - 1)
    held, new = ([call for each in some for call in _ids(each)] for some in (answers[:first], answers[first:]))
    return held, new


def last_answer(messages: Sequence[BaseMessage]) -> str:
    """What the last answer with calls is known by; empty if there is none."""
    return next((_mark(each) for each in reversed(_answers(messages))), "")


def _answers(messages: Sequence[BaseMessage]) -> list[AIMessage]:
    return [each for each in messages if isinstance(each, AIMessage) and _ids(each)]


def _mark(message: AIMessage) -> str:
    """What a message is known by: models and graphs give theirs ids; without one, what it holds has to do."""
    return message.id or _digest((message.content, [(c["name"], c["args"], c["id"]) for c in _all_calls(message)]))


def _digest(told: Any) -> str:
    return sha256(repr(told))


def _ids(message: AIMessage) -> list[str]:
    return [call["id"] or "" for call in _all_calls(message)]


def _all_calls(message: AIMessage) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def _called(message: AIMessage, ids: Sequence[str], names: Sequence[str]) -> AIMessage:
    """The message with these names in place of the ids of its calls, also where its content and its extras hold them:
    Gemini has the signature of a thought beside the id of its call.
    """
    calls = [{**call, "id": name or call["id"]} for call, name in zip(_all_calls(message), names, strict=True)]
    made, renamed = len(message.tool_calls), dict(zip(ids, names, strict=True))
    extras = {
        key: {renamed.get(call, call): value for call, value in held.items()} if isinstance(held, dict) else held
        for key, held in message.additional_kwargs.items()
    }
    changed = {"tool_calls": calls[:made], "invalid_tool_calls": calls[made:], "additional_kwargs": extras}
    return message.model_copy(update={**changed, "content": _renamed(message.content, ids, names)})


def _renamed(content: Any, ids: Sequence[str], names: Sequence[str]) -> Any:
    """The content with the ids of calls under their names, as Claude's and OpenAI's messages hold them."""
    if not isinstance(content, list):
        return content
    left = defaultdict[Any, deque[str]](deque)
    for call, name in zip(ids, names, strict=True):
        left[call].append(name)
    return [
        {**part, key: left[part[key]].popleft()}
        if isinstance(part, dict) and (key := _CALL_IDS.get(part.get("type"))) and left.get(part.get(key))
        else part
        for part in content
    ]


_CALL_IDS: dict[Any, str] = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}
"""Where parts of content have the id of a call, by their type."""


def _results_behind(messages: Sequence[BaseMessage], place: int) -> list[ToolMessage]:
    """The results that follow a message of the model."""
    found: list[ToolMessage] = []
    for message in messages[place + 1 :]:
        if not isinstance(message, ToolMessage):
            break
        found.append(message)
    return found


def _whole(message: AIMessage, rank: Mapping[str | None, int]) -> AIMessage:
    back = [call for call in message.invalid_tool_calls if call["id"] in rank and _is_json(call["args"])]
    made = (tool_call(name=str(call["name"]), args=json.loads(str(call["args"])), id=call["id"]) for call in back)
    return message.model_copy(
        update={
            "tool_calls": sorted([*message.tool_calls, *made], key=lambda call: rank.get(call["id"], len(rank))),
            "invalid_tool_calls": [call for call in message.invalid_tool_calls if call not in back],
            "additional_kwargs": {key: held for key, held in message.additional_kwargs.items() if key != _REFUSED},
        }
    )


def _is_json(arguments: str | None) -> bool:
    """Whether a call was refused; otherwise the model itself has got it wrong, maybe under the id of another one."""
    try:
        json.loads(str(arguments))
    except ValueError:
        return False
    return True


def _batch(message: AIMessage) -> str | None:
    """What the results of calls have in common that the model made in one message."""
    return message.tool_calls[0]["id"] if len(message.tool_calls) > 1 else None


def last_user(messages: Sequence[BaseMessage]) -> tuple[int, str]:
    """How many messages of the user stand before the last one, and what that one is known by; empty if there is none.

    Graphs give their messages ids; without one, its text and its number have to do.
    """
    said = [message for message in messages if isinstance(message, HumanMessage)]
    if not said:
        return 0, ""
    last, before = said[-1], len(said) - 1
    return before, last.id or f"{before}:{_digest(last.content)}"


def user_words(messages: Sequence[BaseMessage]) -> str:
    """The text of the last message of the user."""
    return next((content_text(each.content) for each in reversed(messages) if isinstance(each, HumanMessage)), "")


def holds_all(messages: Sequence[BaseMessage], step: Step) -> bool:
    """Whether the messages still hold what each block of the conversation stands behind; a host may shorten them."""
    read = _read(messages)
    ids = {call_id for held in read.ids for call_id in held}
    turns = turn_places(read, step.turns)
    return all(
        block.after_call_id in ids if block.after_call_id is not None else block.turn is None or block.turn in turns
        for block in step.appended
        if block.stays
    )


def revealed_by_results(messages: Sequence[BaseMessage], step: Step) -> dict[str, str]:
    """Of each tool that a message of the user brought, the call id of the first result behind it that is no error."""
    good = [
        (message.tool_call_id,) if isinstance(message, ToolMessage) and message.status != "error" else ()
        for message in messages
    ]
    return results_behind(_read(messages), good, step) if step.brought else {}


def place_appended(messages: Sequence[BaseMessage], step: Step, role: Authority) -> list[BaseMessage]:
    """The messages with each block in its place.

    Blocks are placed anew for each request, always at the same places, and never stored: so the graph's own messages
    stay as they are. One that is a message of the system stands in front of the model's next answer, since providers
    that take it mid-conversation take it nowhere else.

    Raises:
        InputError: when there is no message of the user or of a tool that a block could follow.
    """
    in_front: dict[int, list[BaseMessage]] = defaultdict(list)
    for home, blocks in sorted(homes(_read(messages), step.appended, step.turns).items()):
        place = home + 1 if role == "user" else _next_answer(messages, home)
        in_front[place] += [_block(block.text, step, role) for block in blocks]
    placed: list[BaseMessage] = []
    for place, message in enumerate(messages):
        placed += [*in_front[place], message]
    return [*placed, *in_front[len(messages)]]


def without_ended_thinking(messages: Sequence[BaseMessage], step: Step) -> list[BaseMessage]:
    """The messages without the thinking of ended turns, for models that check it against what stands before it."""
    places = {place for held in in_ended_turns(_read(messages), step) for place in held}
    bare = [_unthinking(message) if at in places else message for at, message in enumerate(messages)]
    return [message for message in bare if message is not None]


def _unthinking(message: BaseMessage) -> BaseMessage | None:
    if not isinstance(message, AIMessage) or not isinstance(message.content, list):
        return message
    kept = [part for part in message.content if not (isinstance(part, dict) and part.get("type") in _THINKING)]
    if len(kept) == len(message.content):
        return message
    return message.model_copy(update={"content": kept}) if kept or message.tool_calls else None


def legible(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages for Claude, which refuses texts of nothing or of spaces: LangChain leaves out a part of them."""
    return [*map(_legible, messages)]


def _legible(message: BaseMessage) -> BaseMessage:
    said = message.content
    blocks = [{"text": said}] if isinstance(said, str) else said
    blank = all(isinstance(each, dict) and is_empty(each) for each in blocks)
    if not blank or not isinstance(message, (AIMessage, ToolMessage)):
        return message
    calls = isinstance(message, AIMessage) and message.tool_calls
    told = "" if calls else NO_ANSWER if isinstance(message, AIMessage) else NO_RESULT
    return message.model_copy(update={"content": told})


def _block(text: str, step: Step, role: Authority) -> BaseMessage:
    """A block of instructions as a message, in the role that the model heeds."""
    if role == "user":
        return ours(HumanMessage(reminder(text, step.reminder)))
    return ours(SystemMessage(text, additional_kwargs={"__openai_role__": role} if role == "developer" else {}))


_OURS = {"cuecard": "sent"}
_Message = TypeVar("_Message", bound=BaseMessage)


def ours(message: _Message) -> _Message:
    """A message that is made anew for each request; it says so in its metadata, which no provider is sent."""
    return message.model_copy(update={"response_metadata": dict(_OURS)})


def without_ours(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages without prompts and blocks, which a host may have stored as they were sent."""
    return [message for message in messages if message.response_metadata.get("cuecard") != _OURS["cuecard"]]


def ends_that_stay(messages: Sequence[BaseMessage], step: Step) -> list[int]:
    """The messages of the user behind which the first request of a turn has texts that do not stay, and those of the
    turn before: a breakpoint there is found again by the first request of the next turn.
    """
    places, now = turn_places(_read(messages), step.turns), len(step.turns) - 1
    mine = places.get(now)
    if mine is None or any(isinstance(message, AIMessage) for message in messages[mine:]):
        return []
    texts = any(block.lifetime == "turn" and block.turn == now for block in step.appended)
    before = places.get(now - 1) if now - 1 in ended_turns(step) else None
    return [place for place in (before, mine if texts else None) if place is not None]


def marked(messages: Sequence[BaseMessage], places: Collection[int], control: Mapping[str, str]) -> list[BaseMessage]:
    """The messages with a cache breakpoint at the end of each of these."""
    return [_marked(message, control) if at in places else message for at, message in enumerate(messages)]


def _marked(message: BaseMessage, control: Mapping[str, str]) -> BaseMessage:
    said = message.content
    parts = [{"type": "text", "text": said}] if isinstance(said, str) else list(said)
    last = parts[-1] if parts else None
    if not isinstance(last, dict) or (last.get("type") == "text" and not last.get("text")):
        return message
    return message.model_copy(update={"content": [*parts[:-1], {**last, "cache_control": dict(control)}]})


def _next_answer(messages: Sequence[BaseMessage], start: int) -> int:
    """Where the model's next answer stands, from `start` on; the end where there is none yet."""
    return next((at for at in range(start, len(messages)) if isinstance(messages[at], AIMessage)), len(messages))


def _read(messages: Iterable[BaseMessage]) -> MessageFacts:
    known = list(messages)
    ids = [(message.tool_call_id,) if isinstance(message, ToolMessage) else () for message in known]
    return MessageFacts(ids, [isinstance(message, HumanMessage) for message in known])
