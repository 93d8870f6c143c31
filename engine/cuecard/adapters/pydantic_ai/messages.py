"""pydantic-ai's messages: results and blocks in them, and texts of one turn taken out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolReturnPart,
    UserPromptPart,
)

from cuecard.adapters.block_places import CallNames, MessageFacts, turn_places
from cuecard.adapters.bodies import reminder
from cuecard.adapters.function_tools import plain_value
from cuecard.adapters.host import content_text
from cuecard.adapters.one_turn import ended_turns, in_ended_turns
from cuecard.conversation import Conversation
from cuecard.errors import InputError
from cuecard.model import Appended, RenderedResult, Step, ToolResult


def user_words(messages: Sequence[ModelMessage]) -> str:
    """The text of the last message of the user."""
    for message in reversed(messages):
        said = [part for part in message.parts if isinstance(part, UserPromptPart)]
        if said:
            return "\n".join(content_text(part.content) for part in said)
    return ""


def tool_results(messages: Iterable[ModelMessage]) -> tuple[ToolResult, ...]:
    """The tool results of a conversation as the engine takes them, oldest first."""
    found: list[ToolResult] = []
    asked: dict[str, Any] = {}
    names = CallNames()
    for message in messages:
        if isinstance(message, ModelRequest):
            found += _results(_answers(message, names), asked)
        else:
            asked |= {part.tool_call_id: part.args for part in message.tool_calls}
            names.of_calls(part.tool_call_id for part in message.tool_calls)
    return tuple(found)


_Answer: TypeAlias = tuple[ToolReturnPart | RetryPromptPart, str]
"""A result, with the name of its call: a model may repeat ids."""


def _answers(request: ModelRequest, names: CallNames) -> list[_Answer]:
    parts = [part for part in request.parts if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name]
    return [(part, names.of_result(part.tool_call_id)) for part in parts]


def _results(answers: Sequence[_Answer], asked: Mapping[str, Any]) -> Iterator[ToolResult]:
    """The results in one message: those of the calls that the model made in one, with what it `asked`.

    A call that pydantic-ai wants to have made again has failed.
    """
    batch = answers[0][1] if len(answers) > 1 else None
    for part, call in answers:
        if isinstance(part, RetryPromptPart):
            said, failed = part.model_response(), True
        else:
            said, failed = _content(part), part.outcome != "success"
        arguments = asked.get(part.tool_call_id)
        yield ToolResult(str(part.tool_name), said, call, is_error=failed, batch=batch, arguments=arguments)


def called_together(messages: Sequence[ModelMessage]) -> tuple[str, ...]:
    """The tools that the model calls in its last message."""
    last = next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)
    return tuple(call.tool_name for call in last.tool_calls) if last else ()


def _content(part: ToolReturnPart) -> Any:
    """What a tool returned beside pictures and files, as JSON; None if it returned nothing else."""
    if not part.files:
        return plain_value(part.content)
    said = _beside_files(part)
    return plain_value(said[0] if len(said) == 1 else said or None)


def _beside_files(part: ToolReturnPart) -> list[Any]:
    held = part.content if isinstance(part.content, list) else [part.content]
    return [each for each in held if not any(each is file for file in part.files)]


def with_results(
    messages: Sequence[ModelMessage], render: Callable[[ToolResult], RenderedResult]
) -> list[ModelMessage]:
    """The messages of one request with results as texts, where the agent has templates for them.

    The history keeps what the tools have returned: the same result is the same text in each request, with its pictures
    and files behind it.
    """
    return [
        replace(message, parts=[_told(part, render) for part in message.parts])
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _told(part: ModelRequestPart, render: Callable[[ToolResult], RenderedResult]) -> ModelRequestPart:
    if not isinstance(part, ToolReturnPart) or part.tool_kind:
        return part
    said, files = _content(part), part.files
    if files and said is None:
        return part
    result = render(ToolResult(part.tool_name, said, part.tool_call_id, is_error=part.outcome != "success"))
    if not (result.rule or result.media) or (files and _beside_files(part) == [result.text]):
        return part
    kept: Any = part  # its type is a union of kinds of content
    told: ModelRequestPart = replace(kept, content=[result.text, *files] if files else result.text)
    return told


def holds_all(messages: Iterable[ModelMessage], blocks: Iterable[Appended]) -> bool:
    """Whether the history still holds every block: a host may have shortened it."""
    present = {part.content for part in _parts(messages) if isinstance(part, SystemPromptPart)}
    return all(block.text in present for block in blocks)


def last_blocks(chat: Conversation) -> tuple[Appended, ...]:
    """The blocks of the last request of a conversation, as far as they can still be known."""
    try:
        return copy(chat).step().appended
    except InputError:  # its turn has ended, or other files have made it
        return ()


def without_blocks(messages: Sequence[ModelMessage], texts: Collection[str]) -> list[ModelMessage]:
    """The messages without the blocks of these texts."""
    return _without(messages, lambda part: isinstance(part, SystemPromptPart) and part.content in texts)


def _without(messages: Sequence[ModelMessage], goes: Callable[[Any], bool]) -> list[ModelMessage]:
    return [
        replace(message, parts=[part for part in message.parts if not goes(part)])  # type: ignore[arg-type]  # of one kind
        if any(map(goes, message.parts))
        else message
        for message in messages
    ]


def place_appended(
    messages: Sequence[ModelMessage], appended: Sequence[Appended], agent: str | None = None
) -> list[ModelMessage]:
    """The messages with each block in its place, exactly once, however often this is asked for.

    A block comes after the last result of the batch that holds `after_call_id`, never between parallel results; when
    no message holds that result, and for what changed between two calls, at the end of the last request. One that is
    marked as the agent's and is not among them goes: a host that forgets a run gives the messages of an older prompt.
    """
    mark, texts = ({"cuecard": agent} if agent else None), {block.text for block in appended}
    placed = _without(
        messages,
        lambda p: isinstance(p, SystemPromptPart) and p.metadata == mark and bool(mark) and p.content not in texts,
    )
    present = Counter(part.content for part in _parts(placed) if isinstance(part, SystemPromptPart))
    for block in appended:
        present[block.text] -= 1  # the same notice may come twice
        if present[block.text] < 0:
            index, request = home_of(placed, block.after_call_id)
            part = SystemPromptPart(content=block.text, metadata=mark)
            placed[index] = replace(request, parts=with_block(request.parts, part))
    return placed


def place_reveals(messages: Sequence[ModelMessage], step: Step, deferred: Collection[str]) -> list[ModelMessage]:
    """The messages with a note for the provider, behind the search result, of each tool that was found there.

    What the model has answered stays as it is: the note of a tool that is active only now comes last.
    pydantic-ai notes each tool that came within a run, whether it was found or not: of `deferred` ones those notes go.
    """
    ours = {(found.tool, found.after_call_id) for found in (*step.found, *step.discovered)}
    placed = [_with_notes(message, ours, deferred) for message in messages]
    known = {
        name for part in _parts(placed) if isinstance(part, ToolAvailabilityDeltaPart) for name in part.tools_added
    }
    for found in step.discovered:
        if found.tool not in known and found.tool in step.active_tools:
            index, request = home_of(placed, found.after_call_id)
            if any(isinstance(message, ModelResponse) for message in placed[index:]):  # it was gone when it was found
                index, request = home_of(placed, None)
            note = ToolAvailabilityDeltaPart(tools_added=[found.tool], tool_call_id=found.after_call_id)
            placed[index] = replace(request, parts=with_block(request.parts, note))
    return placed


def _with_notes(
    message: ModelMessage, ours: Collection[tuple[str, str | None]], names: Collection[str]
) -> ModelMessage:
    """The message with the notes about tools of these names that are ours."""

    def told(part: ModelRequestPart) -> ModelRequestPart | None:
        if not isinstance(part, ToolAvailabilityDeltaPart):
            return part
        added = [name for name in part.tools_added if name not in names or (name, part.tool_call_id) in ours]
        return replace(part, tools_added=added) if added else None

    if not any(isinstance(part, ToolAvailabilityDeltaPart) for part in message.parts):
        return message
    return replace(message, parts=[part for part in map(told, message.parts) if part is not None])  # type: ignore[arg-type]  # only requests have notes


def without_reveals(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages without the notes about found tools, for a request that has all definitions in front."""
    return _without(
        messages, lambda part: isinstance(part, ToolAvailabilityDeltaPart) and part.tool_call_id is not None
    )


def announced(messages: Iterable[ModelMessage]) -> set[str]:
    """The tools that pydantic-ai itself has told the model of, because they came within a run."""
    notes = (part for part in _parts(messages) if isinstance(part, ToolAvailabilityDeltaPart))
    return {name for note in notes if note.tool_call_id is None for name in note.tools_added}


def as_reminders(messages: Sequence[ModelMessage], form: str) -> list[ModelMessage]:
    """The messages with reminders of the user in place of the system prompts mid-conversation.

    Those that open the first request are the system prompt itself, and stay.
    """
    first = next((message for message in messages if isinstance(message, ModelRequest)), None)
    return [
        replace(message, parts=_reminding(message.parts, form, opening=message is first))
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]


def _reminding(parts: Sequence[ModelRequestPart], form: str, *, opening: bool) -> list[ModelRequestPart]:
    made: list[ModelRequestPart] = []
    for part in parts:
        opening = opening and isinstance(part, SystemPromptPart)
        if isinstance(part, SystemPromptPart) and not opening:
            made.append(UserPromptPart(content=reminder(part.content, form)))
        else:
            made.append(part)
    return made


def home_of(messages: Sequence[ModelMessage], call_id: str | None) -> tuple[int, ModelRequest]:
    """The request that holds the result, or the last one, with its position."""
    requests = [(index, message) for index, message in enumerate(messages) if isinstance(message, ModelRequest)]
    held = _held(messages)
    return next((each for each in requests if call_id in held[each[0]]), requests[-1])


def _held(messages: Iterable[ModelMessage]) -> list[tuple[str, ...]]:
    """Of each message, the names of the calls that it has results of."""
    names, held = CallNames(), list[tuple[str, ...]]()
    for message in messages:
        if isinstance(message, ModelRequest):
            held.append(tuple([n for part, n in _answers(message, names) if isinstance(part, ToolReturnPart)]))
        else:
            names.of_calls(part.tool_call_id for part in message.tool_calls)
            held.append(())
    return held


def with_block(parts: Sequence[ModelRequestPart], block: ModelRequestPart) -> list[ModelRequestPart]:
    """The parts of a request with a block behind the results, and behind the blocks that stand there."""
    after = max((place + 1 for place, part in enumerate(parts) if isinstance(part, ToolReturnPart)), default=len(parts))
    while after < len(parts) and isinstance(parts[after], (SystemPromptPart, ToolAvailabilityDeltaPart)):
        after += 1
    return [*parts[:after], block, *parts[after:]]


def _parts(messages: Iterable[ModelMessage]) -> Iterator[ModelRequestPart]:
    return (part for message in messages if isinstance(message, ModelRequest) for part in message.parts)


def place_passing(messages: Sequence[ModelMessage], step: Step, run: str | None) -> list[ModelMessage]:
    """The messages of one request with the texts that do not stay: with the run's first message, behind a result, or at
    the end.
    """
    placed = list(messages)
    for block in step.appended:
        if not block.stays:
            index, request = _home(placed, block, run)
            placed[index] = replace(request, parts=with_block(request.parts, SystemPromptPart(content=block.text)))
    return placed


def _home(messages: Sequence[ModelMessage], block: Appended, run: str | None) -> tuple[int, ModelRequest]:
    requests = [(index, message) for index, message in enumerate(messages) if isinstance(message, ModelRequest)]
    if block.after_call_id is None and block.turn is not None:
        return next(((index, each) for index, each in requests if run and each.run_id == run), requests[-1])
    return home_of(messages, block.after_call_id)


def without_ended_thinking(messages: Sequence[ModelMessage], step: Step) -> list[ModelMessage]:
    """The messages without the thinking of ended turns, for models that check it against what stands before it."""
    places = {place for held in in_ended_turns(_read(messages), step) for place in held}
    bare = [_without_thinking(message) if at in places else message for at, message in enumerate(messages)]
    return [message for message in bare if message.parts]


def _without_thinking(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelResponse):
        return message
    return replace(message, parts=[part for part in message.parts if not isinstance(part, ThinkingPart)])


def joined_alike(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages, in which pydantic-ai joins requests that follow each other.

    It does not where their instructions differ, and notes those of the newest one only as it is sent: without this, a
    message of the user behind results would leave theirs with the second request after a new baseline.
    """
    return [
        replace(each, instructions=None)
        if isinstance(each, ModelRequest) and isinstance(behind, ModelRequest)
        else each
        for each, behind in zip(messages, (*messages[1:], None), strict=True)
    ]


def with_cache_points(messages: Sequence[ModelMessage], step: Step, ttl: Literal["5m", "1h"]) -> list[ModelMessage]:
    """The messages of a turn's first request with cache points where what stays ends, in this turn and in the last.

    pydantic-ai itself marks the end of the request, which holds the turn's text. Models without caching ignore them.
    """
    places, now = turn_places(_read(messages), step.turns), len(step.turns) - 1
    marked = {places.get(now)} if any(block.turn == now and not block.stays for block in step.appended) else set()
    marked |= {places.get(now - 1)} if now - 1 in ended_turns(step) else set()
    return [_marked(message, ttl) if at in marked else message for at, message in enumerate(messages)]


def _marked(message: ModelMessage, ttl: Literal["5m", "1h"]) -> ModelMessage:
    words = [part for part in message.parts if isinstance(part, UserPromptPart)]
    if not words or not words[-1].content:
        return message
    said = words[-1].content
    content = [*([said] if isinstance(said, str) else said), CachePoint(ttl=ttl)]
    parts = [replace(words[-1], content=content) if part is words[-1] else part for part in message.parts]
    return replace(message, parts=parts)  # type: ignore[arg-type]  # only requests have words of the user


def _read(messages: Sequence[ModelMessage]) -> MessageFacts:
    said = [any(isinstance(part, UserPromptPart) for part in each.parts) for each in messages]
    return MessageFacts(_held(messages), said)
