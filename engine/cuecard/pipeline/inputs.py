"""The host's values: a turn against what its agent declares, and everything that must not contain control characters.

Types were checked before, by annotation (`model/boundary.py`); here is what no annotation can say.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import reduce

from pydantic import AwareDatetime
from pydantic_core import from_json, to_json

from cuecard.agent import CURRENT_DATE, SUMMARY, WORKING_MEMORY, Agent
from cuecard.config.agent_file import InputSpec
from cuecard.config.values import is_of_type
from cuecard.errors import Problem, did_you_mean, inside, visible
from cuecard.model import (
    Clock,
    ConversationState,
    Cut,
    Diagnostic,
    Entity,
    FileText,
    History,
    Json,
    Memory,
    ResultRecord,
    ToolResult,
    Turn,
)
from cuecard.model.argument_problems import refuse
from cuecard.model.boundary import AnyJson, Given, admit, taken
from cuecard.model.json_values import exact_body, texts_in
from cuecard.model.messages import Message, Summary, ToolCall
from cuecard.model.signed_text import plain_text, too_deep, unseal
from cuecard.model.storage import from_json as read_json
from cuecard.model.storage import read_text
from cuecard.model.turn import Gates
from cuecard.pipeline.discovery import record_of
from cuecard.pipeline.request import CallRequest, check_previous, check_texts
from cuecard.records import dataclass, replace
from cuecard.sources.clock import date_text
from cuecard.sources.gates import unknown_in_gates
from cuecard.sources.memory import memory_text, remember
from cuecard.template import clean, refuse_controls
from cuecard.template.guards.characters import has_controls, without_controls

_SHOWN = 60


def problems_of(agent: Agent, given: Given, *, with_inputs: bool = True) -> list[Problem]:
    """What is wrong in the arguments of a call, a step or an answer, beyond their types.

    Args:
        agent: the agent.
        given: the arguments by name; those of the wrong type are missing, as are their wrong parts.
        with_inputs: whether the turn's values matter, as they do where a prompt is made.
    """
    found: list[Problem] = []
    if "turn" in given:
        turn = given["turn"] or Turn()
        found += [*agent.unknown_selection(turn.profile, turn.variant, turn.access), *_gate_problems(agent, turn)]
        found += _turn_problems(agent, turn) if with_inputs else ()
    for name in ("history", "results"):
        if results := given.get(name):
            found += _result_problems(results, name)
    if given.get("templates") and agent.results:
        found += _told_problems(given.get("results") or ())
    if calls := given.get("calls"):
        found += refuse_controls(dict(calls), "calls")
    if inputs := given.get("inputs"):
        found += _step_input_problems(inputs, agent.spec.inputs)
    return found


def call_rules(given: Given) -> list[Problem]:
    """What is wrong in the arguments of an engine's calls and steps."""
    return problems_of(given["self"].agent, given)


def answer_rules(given: Given) -> list[Problem]:
    """What is wrong in the arguments of what an engine answers without making a prompt."""
    return problems_of(given["self"].agent, given, with_inputs=False)


def search_rules(given: Given) -> Iterator[Problem]:
    """What is wrong in the arguments of an engine's searches."""
    yield from answer_rules(given)
    if given.get("call", given) is None and given.get("history"):
        told = "`history` has no meaning without its `call`"
        yield Problem("wrong-argument", told, "pass `call` as well", "history")


def summary_rules(given: Given) -> Iterator[Problem]:
    """What is wrong in the arguments of an engine's summaries."""
    yield from answer_rules(given)
    if inspect.iscoroutinefunction(given.get("summarizer")):
        told = "`summarizer` should be a plain function, not an asynchronous one"
        yield Problem("wrong-argument", told, "await `Engine.asummarize` instead", "summarizer")


def state_rules(given: Given) -> Iterator[Problem]:
    """What is wrong in the stored state of a conversation."""
    if state := given.get("state"):
        yield from memory_problems(state.memory, "state.memory")


def read_state(text: str, key: str) -> ConversationState:
    """The state in what `Engine.dump` wrote with this key.

    Raises:
        InputError: when the text was cut off or changed, is too long, too deep or of a later format, or not signed
            with this key.
    """
    plain = "" if key else plain_text(text)
    if plain and (state := read_text(ConversationState, plain)) and _is_bounded(plain):
        return state
    name = "conversation"
    return read_json(ConversationState, unseal(text, key, name), name, code="bad-conversation")


def _is_bounded(text: str) -> bool:
    """Whether all that is free in the text of a state is finite and not too deep: of its results, nothing is."""
    free = {**from_json(text), "results": ()}
    # These words stand where JSON has no number; or in a text, which is then read with care all the same.
    told = to_json(free)
    return b"NaN" not in told and b"Infinity" not in told and not too_deep({"conversation": free})


def check_state(agent: Agent, state: ConversationState) -> None:
    """Reject a stored state that an agent cannot continue from.

    Raises:
        InputError: when it is another agent's, or was edited.
    """
    refuse([*state_rules({"state": state})])
    check_texts(state.call, "state.call")
    check_previous(state.call, agent)


def time_of(turn: Turn, clock: Clock) -> datetime:
    """The time of a turn: its own, or else the clock's.

    Raises:
        InputError: when the clock returns something else than a time with its zone.
    """
    now: datetime = turn.now or admit(AwareDatetime, clock(), "clock()")
    return now


def with_exact_body(result: ToolResult) -> ToolResult:
    """A result whose body is JSON.

    Raises:
        InputError: with everything that is wrong in it.
    """
    return replace(result, result=admit(AnyJson, result.result, "result.result"))


def with_exact_bodies(results: History, name: str, reads: Callable[[ToolResult], bool]) -> History:
    """Results with bodies of exact values, as far as they are read.

    Args:
        results: the results.
        name: what errors call them.
        reads: whether anything is read of a result but its name and its ids.

    Raises:
        InputError: for each body that cannot be read, or holds too many values.
    """
    problems: list[Problem] = []
    made = list(results)
    for place, each in enumerate(made):
        for part in ("result", "arguments") if reads(each) else ():
            held = getattr(each, part)
            if held is None or type(held) is str:
                continue
            body, found = exact_body(held)
            if body is not held:
                made[place] = replace(made[place], **{part: body})
            for wrong in found:
                at = wrong.place(f"{name}[{place}].{part}")
                problems.append(Problem(wrong.code, f"`{at}` {wrong.told}", wrong.hint, at))
    refuse(problems)
    return made


def read_results(
    history: History, searches: Collection[str], pending: str = "", *, every: bool = True
) -> tuple[ResultRecord, ...]:
    """What is kept of results.

    Args:
        history: the results.
        searches: the search tools, whose results contain names.
        pending: the key with which another result asks for confirmation; empty if not used.
        every: whether results of other tools are kept, too; those that share the call id of a search always are.

    Raises:
        InputError: for each body that cannot be read, or holds too many values.
    """
    exact = with_exact_bodies(history, "history", lambda result: bool(pending) or result.tool in searches)
    shared = () if every else {each.call_id for each in exact if each.tool in searches and each.call_id}
    kept = exact if every else [each for each in exact if each.tool in searches or each.call_id in shared]
    return tuple([record_of(result, result.tool if result.tool in searches else "", pending) for result in kept])


def remembered(agent: Agent, memory: Memory, results: History) -> Memory:
    """The memory after these results.

    Raises:
        InputError: for each body that cannot be read, or holds too many values.
    """
    spec = agent.spec
    exact = with_exact_bodies(results, "results", lambda result: not result.is_error)
    return remember(memory, exact, spec.memory, spec.words.memory, spec.tools.cues.pending)


def memory_problems(memory: Memory, name: str) -> Iterator[Problem]:
    """The control characters in a memory."""
    held: Sequence[Entity | None] = memory.entities  # None where one has the wrong type
    if has_controls("".join(f"{each.type}{each.id}{each.name}{each.key}" for each in held if each)):
        yield from refuse_controls([each and asdict(each) for each in held], name)


def _result_problems(results: Sequence[ToolResult | None], name: str) -> Iterator[Problem]:
    """The control characters in what is stored of results: bodies are not."""
    texts = [text for each in results if each for text in (each.tool, each.call_id, each.batch) if text]
    if "".join(texts).isprintable():
        return
    for place, each in enumerate(results):
        for key in ("tool", "call_id", "batch") if each else ():
            yield from refuse_controls(getattr(each, key), f"{name}[{place}].{key}")


def _told_problems(results: Sequence[ToolResult | None]) -> Iterator[Problem]:
    """What is no JSON in results that templates tell; a body too deep for values is told as one text."""
    found: list[Problem] = []
    for place, each in enumerate(results):
        taken(AnyJson, each and each.result, f"results[{place}].result", found)
    return (problem for problem in found if problem.code != "value-too-deep")


def _turn_problems(agent: Agent, turn: Turn) -> Iterator[Problem]:
    declared = agent.spec.inputs
    yield from wrong_inputs(turn.inputs, declared, "turn.inputs")
    yield from _missing(turn.inputs, declared)
    yield from refuse_controls(turn.inputs, "turn.inputs") if turn.inputs else ()
    yield from memory_problems(turn.memory, "turn.memory")
    yield from _message_problems(turn.message) if turn.message else ()
    for name in ("metadata", "ephemeral", "query"):
        if value := getattr(turn, name):
            yield from refuse_controls(value, f"turn.{name}")


def _gate_problems(agent: Agent, turn: Turn) -> Iterator[Problem]:
    """The names in gates that belong to nothing: a misspelt one would leave a tool to everybody."""
    rules, catalogue = agent.spec.tools.visibility, agent.catalogue
    if turn.gates != Gates():
        known = {*catalogue, agent.search_tool, *(turn.tools or ())}
        for path, code, message, hint in unknown_in_gates(turn.gates, rules, known):
            yield Problem(code, visible(message), hint, reduce(inside, path, "turn.gates"))


def _message_problems(message: Message) -> Iterator[Problem]:
    for name in ("content", "speaker", "id", "timestamp", "tool_call_id"):
        yield from refuse_controls(getattr(message, name), f"turn.message.{name}")
    for number, call in enumerate(message.tool_calls):
        for name in ("id", "name", "arguments"):
            yield from refuse_controls(getattr(call, name), f"turn.message.tool_calls[{number}].{name}")


def _step_input_problems(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> Iterator[Problem]:
    """What is wrong in inputs that come with a request: only those that are declared for that may."""
    yield from _unknown(supplied, declared, "inputs")
    for name in supplied:
        if name in declared and declared[name].tier != "step":
            message = f"`{name}` cannot change between the requests of a turn"
            hint = "pass it with the user message; or declare it with `tier: step` in the agent file"
            yield Problem("not-a-step-input", message, hint, "inputs")
    yield from _mistyped(supplied, declared, "inputs")
    yield from refuse_controls(supplied, "inputs")


def wrong_inputs(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec], at: str) -> Iterator[Problem]:
    """The problems of values that no input may have; errors call them `at`."""
    yield from _unknown(supplied, declared, at)
    yield from _mistyped(supplied, declared, at)


def _unknown(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec], at: str) -> Iterator[Problem]:
    for name in supplied:
        if name not in declared:
            message = f"`{visible(name)}` is not an input of this agent"
            yield Problem("unknown-input", message, did_you_mean(name, declared), at)


def _missing(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec]) -> Iterator[Problem]:
    for name, spec in declared.items():
        if spec.required and name not in supplied:
            yield Problem("missing-input", f"`{name}` has no value and no default", _way_out(name, spec), "turn.inputs")


def _mistyped(supplied: Mapping[str, Json], declared: Mapping[str, InputSpec], at: str) -> Iterator[Problem]:
    for name, value in supplied.items():
        spec = declared.get(name)
        if spec and value is None and (not spec.required or None in (spec.values or ())):
            continue
        if spec and not is_of_type(value, spec.type):
            message = f"`{name}` should be of type {spec.type}, not {type(value).__name__}"
            yield Problem("wrong-input", message, _way_out(name, spec), at)
        elif spec and spec.values is not None and value not in spec.values:
            shown = visible(value) if isinstance(value, str) and len(value) <= _SHOWN else "this"
            hint = did_you_mean(str(value)[:_SHOWN], map(str, spec.values))
            yield Problem("wrong-input", f"`{name}` can never be `{shown}`", hint, at)


def _way_out(name: str, spec: InputSpec) -> str:
    about = f" - {spec.description}" if spec.description else ""
    return f"supply `{name}` ({spec.type}){about}"


def cleaned_history(turn: Turn | None) -> Turn:
    """The turn without control characters in its stored messages and summary; a diagnostic says how many were removed.

    In the current message and in inputs, they are an error instead.
    """
    turn = turn or Turn()
    if not (turn.messages or turn.summary):
        return turn
    if not any(map(_is_dirty, turn.messages)) and not has_controls(_summary_text(turn.summary)):
        return turn
    messages = tuple(_cleaned_message(message) if _is_dirty(message) else message for message in turn.messages)
    text = without_controls(_summary_text(turn.summary))
    summary = replace(turn.summary, text=text) if isinstance(turn.summary, Summary) else text
    removed = sum(len(text) - len(without_controls(text)) for text in _everything(turn))
    told = Diagnostic("control_characters", f"{removed:,} control characters were removed from the stored conversation")
    return replace(turn, messages=messages, summary=summary, diagnostics=(*turn.diagnostics, told))


def _everything(turn: Turn) -> Iterator[str]:
    yield _summary_text(turn.summary)
    for message in turn.messages:
        yield from _texts_of(message)


def _summary_text(summary: str | Summary) -> str:
    return summary if isinstance(summary, str) else summary.text


def _is_dirty(message: Message) -> bool:
    return any(map(has_controls, _texts_of(message)))


def _texts_of(message: Message) -> Iterator[str]:
    yield from (message.speaker, message.id, message.tool_call_id or "")
    yield message.timestamp if isinstance(message.timestamp, str) else ""
    yield from (message.content,) if isinstance(message.content, str) else texts_in(message.content)
    for call in message.tool_calls:
        yield from (call.id, call.name)
        yield from texts_in(call.arguments)


def _cleaned_message(message: Message) -> Message:
    time = message.timestamp
    content = message.content
    return replace(
        message,
        content=without_controls(content) if isinstance(content, str) else tuple(map(_plain, content)),
        tool_calls=tuple(ToolCall(_plain(c.id), _plain(c.name), _plain(c.arguments)) for c in message.tool_calls),
        tool_call_id=_plain(message.tool_call_id),
        timestamp=without_controls(time) if isinstance(time, str) else time,
        speaker=without_controls(message.speaker),
        id=without_controls(message.id),
    )


def _plain(value: Json) -> Json:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True, slots=True)
class Values:
    """Plain values by placeholder, what was left out or removed, and cleaned files and metadata."""

    values: Mapping[str, Json]
    cuts: tuple[Cut, ...]
    removed: int
    files: Mapping[str, FileText]
    metadata: Mapping[str, Json]


def clean_inputs(request: CallRequest, summary: str = "") -> Values:
    """The values for one call; `summary` is that of the conversation, if it must be shown.

    Imitations of structure are left to the gate, which sees the values side by side.

    Raises:
        InputError: when two keys of a value are equal after removing invisible characters.
    """
    agent, turn = request.agent, request.turn
    memory, cuts = memory_text(turn.memory, agent.spec.memory, agent.spec.words.memory)
    supplied = {name: _supplied(spec, turn.inputs, name) for name, spec in agent.spec.inputs.items()}
    cleaned, removed = clean({**supplied, WORKING_MEMORY: memory, SUMMARY: without_controls(summary)})
    files, in_files = _clean_files(turn.files)
    metadata, in_metadata = clean(turn.metadata, line_ends=False) if turn.metadata else ({}, 0)
    values = {**cleaned, CURRENT_DATE: date_text(request.now)}
    return Values(values, cuts, removed + in_files + in_metadata, files, metadata)


def clean_again(agent: Agent, given: Mapping[str, Json]) -> tuple[dict[str, Json], int]:
    """The values of inputs that came with a request, and how many characters were removed.

    Raises:
        InputError: when two keys of a value are equal after removing invisible characters.
    """
    return clean({name: _supplied(agent.spec.inputs[name], given, name) for name in given})


def is_given(spec: InputSpec, value: Json) -> bool:
    """Whether a host gives a value: null for an optional input is none, as hosts that speak JSON send it, unless it is
    one of the declared values.
    """
    return value is not None or spec.required or None in (spec.values or ())


def _supplied(spec: InputSpec, given: Mapping[str, Json], name: str) -> Json:
    value = given.get(name)
    if name not in given or not is_given(spec, value):
        value = spec.default
    elif spec.merge:
        value = laid_over(spec.default, value)
    for path in spec.optional:
        value = with_key(value, path.split("."))
    return value


def with_key(value: Json, path: Sequence[str]) -> Json:
    """The value with null for an optional key that it lacks, in each item where it is a list."""
    if isinstance(value, (list, tuple)):
        return [with_key(each, path) for each in value]
    if not isinstance(value, Mapping):
        return value
    key, *further = path
    if not further:
        return value if key in value else {**value, key: None}
    return {**value, key: with_key(value[key], further)} if key in value else value


def laid_over(below: Json, above: Json) -> Json:
    """A value over another: an object key by key at every depth, anything else in its place."""
    if not isinstance(below, Mapping) or not isinstance(above, Mapping):
        return above
    return {**below, **{key: laid_over(below.get(key), value) for key, value in above.items()}}


def _clean_files(files: Mapping[str, FileText]) -> tuple[Mapping[str, FileText], int]:
    """The files without invisible and control characters, and how many were removed."""
    cleaned, total = {}, 0
    for path, file in files.items():
        (text, name), removed = clean([file.text, file.path])
        cleaned[path] = file if (text, name) == (file.text, file.path) else replace(file, text=text, path=name)
        total += removed
    return cleaned, total
