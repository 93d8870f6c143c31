"""Contents of an ADK request: the tool results in them, and the place of appended blocks among them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from google.adk.events.event import Event
from google.genai import types

from cuecard.adapters.block_places import MessageFacts, homes
from cuecard.adapters.bodies import reminder
from cuecard.adapters.function_tools import plain_value
from cuecard.adapters.one_turn import in_ended_turns
from cuecard.model import RenderedResult, Step, ToolResult

Held: TypeAlias = list[tuple[str, types.FunctionResponse]]
"""The results of a content, each with its call id."""

_OTHERS = "For context:"
"""How ADK begins a content that retells what another agent said."""

_WRAPS = ("result", "output")
"""Where ADK and the provider put a result that is no object."""


class CallIds:
    """The call ids of the results in contents: ADK takes those that it has made itself out for some models.

    Each is given once: a model that repeats an id, or a response that no event has, gets one by its number among the
    events, of which contents may hold the last ones only.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._left: dict[str, deque[types.FunctionResponse]] = defaultdict(deque)
        self._known = Counter[str]()
        for event in events:
            for response in event.get_function_responses():
                self._left[response.name or ""].append(response)
                self._known[response.id or ""] += 1

    def of(self, responses: Sequence[types.FunctionResponse]) -> Iterator[str]:
        """The id of each response: its own, else that of the event with the same response, or the same tool, next in
        turn.
        """
        found = [response.id or self._of_event(response) for response in responses]
        counted = Counter(found)
        before = Counter({call: self._known[call] - counted[call] for call in found if call})
        for call in found:
            before[call] = max(before[call], 0) + 1
            yield call if call and before[call] == 1 else f"{call}#{before[call]}"

    def _of_event(self, response: types.FunctionResponse) -> str:
        left = self._left[response.name or ""]
        same = next((each for each in left if each.response == response.response), left[0] if left else None)
        if same is None:
            return ""
        left.remove(same)
        return same.id or ""


def named(contents: Sequence[types.Content], ids: CallIds) -> list[list[tuple[str, types.FunctionResponse]]]:
    """The results of each content, with their call ids."""
    held = [_responses(content) for content in contents]
    names = ids.of([response for each in held for response in each])
    return [[(next(names), response) for response in each] for each in held]


def tool_results(
    held: Iterable[Sequence[tuple[str, types.FunctionResponse]]], contents: Sequence[types.Content]
) -> tuple[ToolResult, ...]:
    """Results as the engine takes them, oldest first, with the arguments of their calls in the `contents`."""
    results = [result for batch in held for result in _batch(batch)]
    asked = _arguments(contents)
    return tuple(replace(result, arguments=each) for result, each in zip(results, asked, strict=True))


def _arguments(contents: Sequence[types.Content]) -> Iterator[Any]:
    """What was asked of each response: by its id or, where a request holds none, of the next call of the same tool."""
    calls: list[types.FunctionCall] = []
    for content in contents:
        calls += [part.function_call for part in content.parts or () if part.function_call]
        for response in _responses(content):
            same = [each for each in calls if each.name == response.name and (each.id or None) == (response.id or None)]
            if same:
                calls.remove(same[0])
            yield same[0].args if same else None


def _batch(held: Sequence[tuple[str, types.FunctionResponse]]) -> Iterator[ToolResult]:
    batch = held[0][0] if len(held) > 1 else None
    for call, response in held:
        said = response.response or {}
        failed = bool(said.get("error")) or said.get("status") == "error"
        yield ToolResult(response.name or "", plain_value(_said(said)), call, is_error=failed, batch=batch)


def called_together(events: Sequence[Event], agent: str) -> tuple[str, ...]:
    """The tools that the model of an agent has called last, in one answer."""
    made = (event.get_function_calls() for event in reversed(events) if event.author == agent)
    return tuple(call.name or "" for call in next(filter(None, made), ()))


def _said(response: Mapping[str, Any]) -> Any:
    wrap = next((key for key in _WRAPS if response.keys() == {key}), None)
    return response[wrap] if wrap else dict(response)


def with_results(
    contents: Iterable[types.Content],
    ids: Iterable[Sequence[tuple[str, types.FunctionResponse]]],
    render: Callable[[ToolResult], RenderedResult],
) -> list[types.Content]:
    """The contents of one request with results as texts, where the agent has templates for them.

    The session keeps what the tools returned. Pictures and files stay beside the text.

    Args:
        contents: of the request.
        ids: the results in each of them with their call ids, as `named` gives them.
        render: makes the text of a result.
    """

    def told(part: types.Part, result: ToolResult) -> types.Part:
        response = part.function_response
        if response is None or not result.tool or (response.parts and not response.response):
            return part
        made = render(result)
        if not (made.rule or made.media):
            return part
        shown = {"error" if result.is_error else "result": made.text}
        return part.model_copy(update={"function_response": response.model_copy(update={"response": shown})})

    def all_told(content: types.Content, results: Iterator[ToolResult]) -> types.Content:
        parts = [told(part, next(results)) if part.function_response else part for part in content.parts or ()]
        return content.model_copy(update={"parts": parts})

    return [all_told(content, _batch(held)) if held else content for content, held in zip(contents, ids, strict=True)]


def place_blocks(contents: Sequence[types.Content], ids: Sequence[Held], step: Step) -> list[types.Content]:
    """The contents with each block behind what it belongs to, as a reminder of the user: there is no other role.

    Args:
        contents: of the request, without blocks: ADK makes them anew for each.
        ids: the call ids of the results in each of them, as `named` gives them.
        step: what is to be placed.

    Raises:
        InputError: when there is no content of the user or of a tool that a block could follow.
    """
    found = homes(_read(contents, ids), step.appended, step.turns)
    placed: list[types.Content] = []
    for place, content in enumerate(contents):
        texts = (reminder(block.text, step.reminder) for block in found.get(place, ()))
        placed += [content, *(types.Content(role="user", parts=[types.Part(text=text)]) for text in texts)]
    return placed


def without_ended_thinking(
    contents: Sequence[types.Content], ids: Sequence[Held], step: Step
) -> tuple[list[types.Content], list[Held]]:
    """Contents and their results without the thoughts of ended turns, for models that check them."""
    places = {place for held in in_ended_turns(_read(contents, ids), step) for place in held}
    bare = [_unthinking(content) if at in places else content for at, content in enumerate(contents)]
    kept = [at for at, content in enumerate(bare) if content.parts or at not in places]
    return [bare[at] for at in kept], [ids[at] for at in kept]


def _unthinking(content: types.Content) -> types.Content:
    if not any(part.thought for part in content.parts or ()):
        return content
    return content.model_copy(update={"parts": [part for part in content.parts or () if not part.thought]})


def _read(contents: Sequence[types.Content], ids: Sequence[Held]) -> MessageFacts:
    return MessageFacts([tuple(call for call, _ in held) for held in ids], [_says(content) for content in contents])


def _responses(content: types.Content) -> list[types.FunctionResponse]:
    return [part.function_response for part in content.parts or () if part.function_response]


def _says(content: types.Content) -> bool:
    parts = [part for part in content.parts or () if not part.function_response]
    return content.role == "user" and bool(parts) and parts[0].text != _OTHERS
