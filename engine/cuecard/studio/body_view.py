"""The body of a request as a provider gets it, made by the adapter that hosts use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.adapters.bodies import Body, Form
from cuecard.adapters.function_tools import definitions, search_card
from cuecard.config.model_profile import ModelProfile
from cuecard.config.transcript_file import RecordedCall, TranscriptFile
from cuecard.config.turn_file import to_turn
from cuecard.engine import Engine
from cuecard.model import Json, Step, ToolCard, ToolResult
from cuecard.records import dataclass
from cuecard.studio.fill import turn_of
from cuecard.studio.screen import Question
from cuecard.studio.steps import StudioRequest
from cuecard.studio.tried import bare_turn, found_of, is_tried, tried_engine
from cuecard.workbench.played import past_results

FORMS: Mapping[Form, str] = {
    "anthropic": "Anthropic",
    "responses": "OpenAI Responses",
    "chat": "OpenAI Chat",
    "gemini": "Gemini",
    "bedrock": "Bedrock",
}
"""The bodies that can be shown, and what they are called."""

UNSAID = "(what the user writes)"
"""Stands for the message of a turn that has none."""

_MODELS: Mapping[Form, str] = {
    "anthropic": "claude-opus-5",
    "responses": "gpt-5.6",
    "chat": "gpt-5.6",
    "gemini": "gemini-3.8-flash",
    "bedrock": "claude-opus-5",
}
_PROVIDERS: Mapping[Form, str] = {"responses": "openai", "chat": "openai", "bedrock": "anthropic"}


@dataclass(frozen=True, slots=True)
class BodyView:
    """A body.

    Attributes:
        name: the provider.
        model: the model that it is for.
        text: the body as JSON.
        size: its bytes, as it is sent without the line breaks.
        told: what has to be known of it, a sentence each.
    """

    name: str
    model: str
    text: str
    size: int
    told: tuple[str, ...]


def body_view(asked: Question, sent: StudioRequest) -> BodyView | str:
    """The body of the request that is shown, or why there is none.

    Raises:
        CuecardError: when the adapter refuses it.
    """
    form, step = cast("Form", asked.address.form), sent.held().step
    if step is None:
        return "Records hold what was in a prompt, but not the messages and definitions that a body is made of."
    assert asked.engine is not None  # noqa: S101 - without a good state, a screen shows the problems instead
    engine = tried_engine(asked)
    transcript = asked.run.transcript if asked.run and not is_tried(asked.address) else None
    spoken = _of_recording(engine, transcript, sent) if transcript else _of_turn(engine, asked)
    cards = _cards(engine, asked.run.transcript if asked.run else None)
    model = asked.model if asked.model.provider == _PROVIDERS.get(form, form) else engine.models.find(_MODELS[form])
    body = _BODIES[form](step, _WRITERS[form](spoken), definitions(cards, form), model)
    plain = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    text = json.dumps(body, ensure_ascii=False, indent=2)
    return BodyView(FORMS[form], model.name, text, len(plain.encode("utf-8", "replace")), tuple(_told(spoken, cards)))


def _told(spoken: Sequence[Utterance], cards: Sequence[ToolCard]) -> Iterator[str]:
    if any(each.user == UNSAID for each in spoken):
        yield "The turn has no message: a placeholder stands for it."
    if without := sum(not card.input_schema for card in cards):
        yield f"{without:,} of {len(cards):,} tools have no schema here: your program passes it."
    yield "Add max_tokens and whatever else your program sets."


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """A call of a tool, and its result as the model reads it."""

    id: str
    tool: str
    arguments: Mapping[str, Json]
    result: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the user says or, if that is None, what the model says and calls."""

    user: str | None = None
    text: str = ""
    calls: tuple[ToolExchange, ...] = ()


def _of_recording(engine: Engine, transcript: TranscriptFile, sent: StudioRequest) -> list[Utterance]:
    """What was said up to a request of a recording."""
    spoken: list[Utterance] = []
    for number, turn in enumerate(transcript.turns[: sent.turn], 1):
        spoken.append(Utterance(turn.user))
        requests = turn.requests[: sent.number - 1] if number == sent.turn else turn.requests
        for place, request in enumerate(requests, 1):
            made = (_recorded(engine, each, f"{number}.{place}.{at}") for at, each in enumerate(request.calls, 1))
            spoken.append(Utterance(None, request.text, tuple(made)))
    return spoken


def _recorded(engine: Engine, call: RecordedCall, place: str) -> ToolExchange:
    arguments = call.args if isinstance(call.args, dict) else {}
    result = ToolResult(call.tool, call.result, call.id or place, call.is_error, arguments=call.args)
    return ToolExchange(call.id or place, call.tool, arguments, engine.render_result(result).text, call.is_error)


def _of_turn(engine: Engine, asked: Question) -> list[Utterance]:
    """What a turn says, with a search that has found the tools of the address."""
    file = turn_of(asked)[0].read()
    if asked.run or asked.address.by:
        file = bare_turn(file, engine.search_tool)
    spoken: list[Utterance] = []
    for each in file.messages:
        role, text = each.get("role"), each.get("content")
        if isinstance(text, str) and role in {"user", "assistant"}:
            spoken.append(Utterance(text) if role == "user" else Utterance(None, text))
    said = file.message.get("content") if isinstance(file.message, dict) else file.message
    spoken.append(Utterance(said if said and isinstance(said, str) else UNSAID))
    turn = to_turn(file, file.inputs)
    past = past_results(engine, file, engine.prepare_call(turn)).results if file.history else ()
    batches: dict[str, list[ToolResult]] = {}
    for at, one in enumerate(past):
        batches.setdefault(one.batch or f"result {at}", []).append(one)
    spoken += [Utterance(None, "", tuple(_result(engine, each) for each in batch)) for batch in batches.values()]
    if found := found_of(asked):
        spoken.append(
            Utterance(None, "", (_result(engine, ToolResult(engine.search_tool, {"tools": [*found]}, "search-1")),))
        )
    return spoken


def _result(engine: Engine, result: ToolResult) -> ToolExchange:
    arguments = result.arguments if isinstance(result.arguments, dict) else {}
    text = engine.render_result(result).text
    return ToolExchange(result.call_id or result.tool, result.tool, arguments, text, result.is_error)


def _cards(engine: Engine, transcript: TranscriptFile | None) -> list[ToolCard]:
    """Every tool, with the schemas that a recording has."""
    told = [ToolCard(each.name, each.description, each.input_schema) for each in transcript.tools] if transcript else []
    known = engine.with_tools(each for each in told if each.name in engine.tools).tools
    search = [] if engine.search_tool in known or not engine.core_tools else [search_card(engine)]
    return [search_card(engine) if name == engine.search_tool else card for name, card in known.items()] + search


Write: TypeAlias = Callable[[Sequence[Utterance]], list[Body]]
"""Writes what was said in the form of a provider."""


def _anthropic(spoken: Iterable[Utterance]) -> list[Body]:
    def calls(each: Utterance) -> Iterator[Body]:
        yield from [{"type": "text", "text": each.text}] if each.text else []
        yield from ({"type": "tool_use", "id": c.id, "name": c.tool, "input": {**c.arguments}} for c in each.calls)

    def result(call: ToolExchange) -> Body:
        failed = {"is_error": True} if call.failed else {}
        return {"type": "tool_result", "tool_use_id": call.id, "content": call.result, **failed}

    return _pairs(spoken, lambda text: text, calls, result)


def _bedrock(spoken: Iterable[Utterance]) -> list[Body]:
    def calls(each: Utterance) -> Iterator[Body]:
        yield from [{"text": each.text}] if each.text else []
        yield from ({"toolUse": {"toolUseId": c.id, "name": c.tool, "input": {**c.arguments}}} for c in each.calls)

    def result(call: ToolExchange) -> Body:
        failed = {"status": "error"} if call.failed else {}
        return {"toolResult": {"toolUseId": call.id, "content": [{"text": call.result}], **failed}}

    return _pairs(spoken, lambda text: [{"text": text}], calls, result)


def _pairs(
    spoken: Iterable[Utterance],
    user: Callable[[str], Any],
    calls: Callable[[Utterance], Iterator[Body]],
    result: Callable[[ToolExchange], Body],
) -> list[Body]:
    """Messages of the two roles, with results in one of the user's."""
    made: list[Body] = []
    for each in spoken:
        if each.user is not None:
            made.append({"role": "user", "content": user(each.user)})
            continue
        made.append({"role": "assistant", "content": [*calls(each)]})
        made += [{"role": "user", "content": [result(call) for call in each.calls]}] if each.calls else []
    return made


def _chat(spoken: Iterable[Utterance]) -> list[Body]:
    made: list[Body] = []
    for each in spoken:
        if each.user is not None:
            made.append({"role": "user", "content": each.user})
            continue
        functions = [({"name": c.tool, "arguments": json.dumps(c.arguments)}, c.id) for c in each.calls]
        calls = [{"id": call_id, "type": "function", "function": function} for function, call_id in functions]
        made.append({"role": "assistant", "content": each.text or None, **({"tool_calls": calls} if calls else {})})
        made += [{"role": "tool", "tool_call_id": c.id, "content": c.result} for c in each.calls]
    return made


def _responses(spoken: Iterable[Utterance]) -> list[Body]:
    made: list[Body] = []
    for each in spoken:
        if each.user is not None:
            made.append({"role": "user", "content": each.user})
            continue
        made += [{"role": "assistant", "content": each.text}] if each.text else []
        made += [
            {"type": "function_call", "call_id": c.id, "name": c.tool, "arguments": json.dumps(c.arguments)}
            for c in each.calls
        ]
        made += [{"type": "function_call_output", "call_id": c.id, "output": c.result} for c in each.calls]
    return made


def _gemini(spoken: Iterable[Utterance]) -> list[Body]:
    made: list[Body] = []
    for each in spoken:
        if each.user is not None:
            made.append({"role": "user", "parts": [{"text": each.user}]})
            continue
        calls = [{"functionCall": {"id": c.id, "name": c.tool, "args": {**c.arguments}}} for c in each.calls]
        made.append({"role": "model", "parts": [*([{"text": each.text}] if each.text else []), *calls]})
        answers = [{"functionResponse": {"id": c.id, "name": c.tool, "response": _answer(c)}} for c in each.calls]
        made += [{"role": "user", "parts": answers}] if answers else []
    return made


def _answer(call: ToolExchange) -> Body:
    return {"error" if call.failed else "output": call.result}


_WRITERS: Mapping[Form, Write] = {
    "anthropic": _anthropic,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
    "bedrock": _bedrock,
}


def _to_anthropic(step: Step, messages: list[Body], tools: list[Body], model: ModelProfile) -> Body:
    return anthropic.request(step, messages, model=model, tools=tools, defer=model.definitions == "deferred")


def _to_gemini(step: Step, messages: list[Body], tools: list[Body], model: ModelProfile) -> Body:
    del model  # it stands in the address
    return gemini.request(step, messages, tools=tools)


_BODIES: Mapping[Form, Callable[[Step, list[Body], list[Body], ModelProfile], Body]] = {
    "anthropic": _to_anthropic,
    "responses": lambda step, said, tools, model: openai.responses_request(step, said, model=model, tools=tools),
    "chat": lambda step, said, tools, model: openai.chat_request(step, said, model=model, tools=tools),
    "gemini": _to_gemini,
    "bedrock": lambda step, said, tools, model: bedrock.request(step, said, model=model, tools=tools),
}
