"""What the working memory learned and forgot in recorded conversations, by which rule, and what no rule touched."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, pictures, visible
from cuecard.model import Entity, Json, Memory, ToolResult
from cuecard.recording.records import RequestRecord, read_records
from cuecard.sources.memory import asks_first, entities_in, gone_by, read_call
from cuecard.workbench.field.command import record_texts
from cuecard.workbench.output import json_text
from cuecard.workbench.step import open_engine


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What one call did to the memory.

    Attributes:
        conversation: the conversation of the call.
        tool: the tool.
        learned: entities that rules found in the call, each with its rule.
        forgotten: entities of the memory that rules removed, each with its rule.
        why: why no rule was asked, such as a failed call; empty otherwise.
    """

    conversation: str
    tool: str
    learned: tuple[tuple[str, Entity], ...] = ()
    forgotten: tuple[tuple[str, Entity], ...] = ()
    why: str = ""


def show_memory(agent: Path, recordings: Sequence[Path], *, as_json: bool, allow_code: bool) -> None:
    """Play recorded results through the rules of `memory`, and print what they did.

    Raises:
        CuecardError: with every problem of the agent, or when no record of it has results.
    """
    engine = open_engine(agent, allow_code=allow_code)
    requests, problems = read_records(record_texts(recordings), engine.name)
    if problems:
        sys.stderr.write(f"{pictures(problems)}\n\n")
    changes, memories = played(engine, requests)
    if not changes:
        hint = (
            "record with texts: `Recorder(path, texts=True)`, `cuecard serve --texts` or `cuecard run --manifests DIR`"
        )
        told = f"no record of the agent `{engine.name}` has the results of calls"
        raise InputError(Problem("no-records", told, hint, ", ".join(map(str, recordings))))
    if as_json:
        left = {name: [asdict(entity) for entity in memory.entities] for name, memory in memories.items()}
        print(json_text({"changes": [_as_json(each) for each in changes], "memory": left}))
        return
    for line in _lines(changes, memories):
        print(visible(line))


def played(engine: Engine, requests: Sequence[RequestRecord]) -> tuple[list[MemoryChange], dict[str, Memory]]:
    """What each call changed, and the memory of each conversation at the end."""
    changes: list[MemoryChange] = []
    memories: dict[str, Memory] = defaultdict(Memory)
    for request in requests:
        for result in (call.result for call in request.calls if call.result):
            memory = memories[request.conversation]
            changes.append(_change(engine, request.conversation, memory, result))
            memories[request.conversation] = engine.remember(memory, [result])
    return changes, dict(memories)


def _change(engine: Engine, conversation: str, memory: Memory, result: ToolResult) -> MemoryChange:
    spec, tool = engine.agent.spec, result.tool
    if result.is_error:
        return MemoryChange(conversation, tool, why="the call failed")
    call = read_call(result, spec.memory)
    learned = entities_in(call, spec.memory, spec.words.memory)
    if asks_first(result, call, spec.tools.cues.pending):
        return MemoryChange(conversation, tool, tuple(learned), why="it asks for confirmation, so nothing is forgotten")
    known = [*(entity for _, entity in learned), *memory.entities]
    return MemoryChange(conversation, tool, tuple(learned), tuple(gone_by(call, known, spec.memory)))


def _as_json(change: MemoryChange) -> dict[str, Json]:
    def told(pairs: Sequence[tuple[str, Entity]]) -> list[Json]:
        return [{"rule": rule, **asdict(entity)} for rule, entity in pairs]

    return {**asdict(change), "learned": told(change.learned), "forgotten": told(change.forgotten)}


def _lines(changes: Sequence[MemoryChange], memories: dict[str, Memory]) -> Iterator[str]:
    conversation = ""
    for change in changes:
        if change.conversation != conversation:
            conversation = change.conversation
            yield f"conversation {conversation}"
        touched = bool(change.learned or change.forgotten)
        yield f"  {change.tool}: {change.why or ('' if touched else 'no rule touched it')}".rstrip(": ")
        for sign, pairs in (("+", change.learned), ("-", change.forgotten)):
            yield from (f'    {sign} {each.type} "{each.name}" ({each.id}) by memory.{rule}' for rule, each in pairs)
    for name, memory in memories.items():
        left = ", ".join(f'{each.type} "{each.name}" ({each.id})' for each in memory.entities) or "nothing"
        yield f"at the end of {name}: {left}"
